# Includes and calls between files. Input, a line each:
#   floor FOLDER                the folders, in the order in which they see one another
#   include FILE LINE HEADER    an include, HEADER with its folder
#   declared FOLDER NAME        a word of a header in that folder
#   defined FILE NAME           a function that others can call
#   used FILE NAME              what the file's object needs of others
# Findings: a call to a later folder; files in a cycle; a function that no header of its folder
# declares.
function folder(file) { sub(/\/[^\/]*$/, "", file); return file }
function edge(from, to, why) {
    if (from == to) return
    if (!((from, to) in edges)) { out[from]++; into[to]++; froms[++count] = from; tos[count] = to }
    if (!((from, to) in edges) || why ~ /^[a-z]/) edges[from, to] = why
}
$1 == "floor"    { rank[$2] = ++floors }
$1 == "include"  { edge($2, $4, "includes it") }
$1 == "declared" { declared[$2, $3] = 1 }
$1 == "defined"  { definer[$3] = $2 }
$1 == "used"     { users[++uses] = $2; names[uses] = $3 }
END {
    for (name in definer) {
        file = definer[name]
        home = folder(file)
        # Functions that programs call may be declared in runtime/rt.h, wherever they are defined.
        if (!((home, name) in declared) && !(home ~ /^runtime\// && ("runtime", name) in declared))
            printf "%s:1: no header of %s/ declares %s\n", file, home, name
    }
    for (i = 1; i <= uses; i++) {
        if (!(names[i] in definer)) continue
        from = users[i]; to = definer[names[i]]
        edge(from, to, "calls " names[i])
        if (rank[folder(to)] > rank[folder(from)])
            printf "%s:1: %s may not call %s, which is in %s/\n", from, folder(from), names[i], folder(to)
    }
    # An edge from a file without callers, or to a file without callees, is in no cycle. Those left
    # are in cycles or between cycles.
    do {
        gone = 0
        for (i = 1; i <= count; i++) {
            if (done[i] || (out[tos[i]] && into[froms[i]])) continue
            done[i] = gone = 1
            out[froms[i]]--
            into[tos[i]]--
        }
    } while (gone)
    for (i = 1; i <= count; i++)
        if (!done[i]) printf "%s:1: in a cycle with %s: %s\n", froms[i], tos[i], edges[froms[i], tos[i]]
}
