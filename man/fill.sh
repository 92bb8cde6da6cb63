#!/bin/sh
# Fill the places of a page with what the program itself says. usage: fill.sh XFORMC PAGE.scd
xformc=$1
escape() { sed 's/[*_\\#-]/\\&/g'; }

# "  -o, --output=DIR   words" -> *-o*, *--output*=_DIR_ and the words below it.
# Those of a group stand below its title.
options() {
    "$xformc" --help | sed '1,/^Commands:/d' | grep -E '^ +(-[a-z], |    )--|^[A-Z][a-z ]*:$' | grep -v '^Exit codes' |
        sed -E 's/^ *((-[a-z]), )?(--[a-z-]+)(=([^ ]+))? +(.*)$/\2|\3|\5|\6/' | escape |
        awk -F '|' 'NF < 4 { sub(/:$/, ""); printf "## %s\n\n", $0; next }
            { printf "%s*%s*%s\n\t%s\n\n", ($1 == "" ? "" : "*" $1 "*, "), $2, ($3 == "" ? "" : "=_" $3 "_"), $4 }'
}
commands() {
    "$xformc" --help | sed -n '/^Commands:/,/^$/p' | grep '^  ' | awk '{ print $1 }' | while read -r command; do
        # Words of usage are those before the last run of two spaces.
        "$xformc" "$command" --help | awk -v name="$command" '
            /^Usage:/ { usage = $0; sub(/^Usage: xformc [a-z]+ ?/, "", usage); sub(/ ?\[OPTION...\]$/, "", usage) }
            NF && !/^( |Examples|Usage|Options|Exit codes|missing)/ && doc == "" { doc = $0 }
            END { gsub(/[*_\\]/, "\\\\&", usage); gsub(/[*_\\]/, "\\\\&", doc); printf "*%s* %s\n\t%s\n\n", name, usage, doc }'
    done
}
# A line of a field, and the lines below it that say what it means.
fields() {
    "$xformc" fields | sed 1d | escape | awk '
        /^[a-z]/ { printf "%s*%s* (%s of the %s%s)\n", (NR > 1 ? "\n" : ""), $1, $2, $3, ($4 == "\\-" ? "" : "; default " $4); next }
                 { sub(/^ +/, ""); sub(/^[][|]/, "\\\\&"); print "\t" $0 }
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
    @OPS@)      "$xformc" ops | grep '^ *g\.' ;;
    "@HELP "*)  echo '```'; topic "$(echo "$line" | sed 's/@HELP \(.*\)@/\1/')"; echo '```' ;;
    *)          printf '%s\n' "$line" ;;
    esac
done <"$2"
