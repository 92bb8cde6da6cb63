#!/bin/sh
# Fill the places of a page with what the program itself says. usage: fill.sh XFORMC PAGE.scd
xformc=$1
escape() { sed 's/[*_\\#-]/\\&/g'; }

# "  -o, --output=DIR   words" -> *-o*, *--output*=_DIR_ and below it the words, and the sentences of
# the indented lines that follow. Options of a group stand below its title.
options() {
    "$xformc" help -v | sed '1,/^Commands:/d' | grep -E '^ +(-[a-z], |    )--|^[A-Z][a-z ]*:$|^ {29}' |
        sed -E 's/^ *((-[a-z]), )?(--[a-z-]+)(=([^ ]+))? +(.*)$/\2|\3|\5|\6/; s/^ {29}/|/' | escape |
        awk -F '|' 'NF == 1 { sub(/:$/, ""); printf "%s## %s\n\n", end, $0; end = ""; next }
            NF == 2 { printf "%s %s", (more++ ? "" : "."), $2; next }
            { printf "%s%s*%s*%s\n\t%s", end, ($1 == "" ? "" : "*" $1 "*, "), $2, ($3 == "" ? "" : "=_" $3 "_"), $4; end = "\n\n"; more = 0 }
            END { printf "%s", end }'
}
commands() {
    "$xformc" --help | sed -n '/^Commands:/,/^$/p' | grep '^  ' | awk '{ print $1 }' | while read -r command; do
        "$xformc" help "$command" -v | awk -v name="$command" '
            /^Usage:/ { usage = $0; sub(/^Usage: xformc [a-z]+ ?/, "", usage); sub(/ ?\[OPTION...\]$/, "", usage); exit }
            NF && !/^( |Examples)/ { doc = doc (doc == "" ? "" : " ") $0 }
            END { gsub(/[*_\\]/, "\\\\&", usage); gsub(/[*_\\]/, "\\\\&", doc); printf "*%s* %s\n\t%s\n\n", name, usage, doc }'
    done
}
# A line of a field, and the lines below it that say what it means.
fields() {
    "$xformc" fields | sed 1d | escape | awk '
        /^[a-z]/ { printf "%s*%s* (%s of the %s%s)\n", (NR > 1 ? "\n" : ""), $1, $2, $3, ($4 == "\\-" ? "" : "; default " $4); next }
                 { sub(/^ +/, ""); sub(/^[][|`]/, "\\\\&"); print "\t" $0 }
        END      { print "" }'
}
# With xf gone, ?xf prints its topic alone.
topic() {
    if [ "$1" = commands ]; then echo :help | "$xformc" repl | grep '^ '; else printf 'xf = nil\n?%s\n' "$1" | "$xformc" repl; fi | sed 's/^  :/:/'
}

while IFS= read -r line; do
    case $line in
    @COMMANDS@) commands ;;
    @OPTIONS@)  options ;;
    @FIELDS@)   fields ;;
    @OPS@)      "$xformc" ops | sed -n '/^  g\./,/^$/{ /^ \{6\}/d; /^$/d; p; }' ;;
    "@HELP "*)  echo '```'; topic "$(echo "$line" | sed 's/@HELP \(.*\)@/\1/')"; echo '```' ;;
    *)          printf '%s\n' "$line" ;;
    esac
done <"$2"
