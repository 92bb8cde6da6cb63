#!/bin/sh
# Print the cases of an older list that are in none of the newer lists, one per line; exit 1 if
# there are any. A run leaves its list, `SUITE: CASE`, in BUILD/cases.MODE. Names of scratch folders
# may differ, and so may numbers of three or more digits, which are sizes and counts.
# usage: tests/cases.sh OLD NEW...
[ $# -ge 2 ] || { echo "usage: $0 OLD NEW..." >&2; exit 2; }
for list; do [ -r "$list" ] || { echo "$0: cannot read $list" >&2; exit 66; }; done
awk '
    function plain(name) {
        gsub(/tmp[.][A-Za-z0-9]+/, "TMP", name)
        gsub(/[0-9][0-9][0-9]+/, "N", name)
        return name
    }
    BEGIN { while ((getline <ARGV[1]) > 0) order[++n] = $0; ARGV[1] = "" }
    { found[plain($0)] = 1 }
    END {
        for (i = 1; i <= n; i++) if (!(plain(order[i]) in found)) { print order[i]; lost++ }
        exit lost > 0
    }' "$@"
