#!/bin/sh
# Print the table of suites in tests/README.md: a row for each suite, made from its first
# comment. usage: tests/suites.sh            print it
#                 tests/suites.sh --write    put it between the two marker lines of tests/README.md
#
# The first comment of a shell suite follows `#!/bin/sh` and the tags, and ends before `usage:` or
# an empty `#` line. That of a program begins with the file's name and ends at an empty ` *` line.
set -u
export LC_ALL=C
page=tests/README.md
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74

first_comment() {
    case $1 in
    *.sh)
        awk 'NR == 1 && /^#!/ || /^# tags:/ { next }
            !/^#/ || /^#[ ]*$/ { exit }
            { last = sub(/ *usage:.*/, ""); sub(/^# */, ""); print }
            last { exit }' "$1" ;;
    *.c)
        awk '/^\/\* tags:/ { next }
            !/^(\/\*| \*)/ || /^ \*[ ]*$/ { exit }
            { last = sub(/ *\*\/.*/, ""); sub(/^(\/| )\* */, ""); print }
            last { exit }' "$1" | sed "1s/^${1##*/}: //" ;;
    esac | tr '\n' ' ' | sed 's/ *$//; s/|/\\|/g'
}

for suite in tests/first.c tests/*/run.sh tests/*/slow.sh tests/*/test_*.c; do
    if [ -e "$suite" ]; then echo "$suite"; fi
done | sort >"$scratch/suites"
status=0
{
    printf '| suite | what it tests |\n|---|---|\n'
    while read -r suite; do
        text=$(first_comment "$suite")
        [ -n "$text" ] || { echo "$suite:1: no first comment" >&2; status=1; }
        printf '| `%s` | %s |\n' "${suite#tests/}" "$text"
    done <"$scratch/suites"
} >"$scratch/table"
[ $status = 0 ] || exit 1

case ${1-} in
'') cat "$scratch/table" ;;
--write)
    awk -v table="$scratch/table" '
        $0 == "<!-- end of suites -->" { inside = 0; ends++ }
        !inside
        $0 == "<!-- suites -->" {
            inside = 1
            begins++
            while ((getline line <table) > 0) print line
        }
        END { exit begins != 1 || ends != 1 || inside }' $page >"$scratch/page" || {
        echo "$page:1: expected the lines <!-- suites --> and <!-- end of suites -->, once each" >&2
        exit 1
    }
    cat "$scratch/page" >$page ;;
*)
    echo "usage: $0 [--write]" >&2
    exit 2 ;;
esac
