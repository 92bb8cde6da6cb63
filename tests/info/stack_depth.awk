# stack_depth.awk: the deepest stack of a program, from what compilers write with -fstack-usage and
# from their assembly.
# usage: awk -f stack_depth.awk *.su *.s
# A function that another one names, in a call, in a jump or as an address, counts as called by it.
# One named as an address is called through rt_team_share, whose frame is added. Each call takes 16
# bytes more: the return address and alignment. Prints the bytes, then the functions from the
# outermost on. A cycle is an error.

FILENAME ~ /\.su$/ {
    split($0, part, "\t")
    name = part[1]
    sub(/.*:/, "", name)
    sub(/[.][0-9]+$/, "", name)
    if (part[3] ~ /dynamic/ && part[3] !~ /bounded/) { print "the frame of " name " has no bound"; failed = 1 }
    if (part[2] > frame[name]) frame[name] = part[2]
    next
}

/^[A-Za-z_][A-Za-z_0-9.]*:/ {
    now = $1
    sub(/:.*/, "", now)
    sub(/[.][0-9]+$/, "", now)
    next
}

/^[ \t]+[a-z]/ && now in frame {
    line = $0
    sub(/[#@].*/, "", line)
    called = line ~ /^[ \t]+(call|jmp|j[a-z]+|bl?x?|b[.a-z]+|jal|tail|cbn?z|tbn?z)[ \t]/
    sub(/^[ \t]+[a-z.0-9]+[ \t]*/, "", line)
    gsub(/[^A-Za-z_0-9.]+/, " ", line)
    n = split(line, word, " ")
    for (i = 1; i <= n; i++) {
        sub(/[.][0-9]+$/, "", word[i])
        if (word[i] in frame && word[i] != now) {
            edge = now SUBSEP word[i]
            if (!(edge in seen)) to[now, ++count[now]] = word[i]
            seen[edge] = 1
            if (!called) as_address[edge] = 1
        }
    }
}

function depth(f, i, g, most, d, via) {
    if (f in known) return known[f]
    if (f in open) { print "a cycle through " f; failed = 1; return 0 }
    open[f] = 1
    most = 0
    for (i = 1; i <= count[f]; i++) {
        g = to[f, i]
        d = depth(g) + ((f SUBSEP g) in as_address ? frame["rt_team_share"] + 16 : 0)
        if (d > most) { most = d; via = g }
    }
    delete open[f]
    below[f] = via
    return known[f] = most + frame[f] + 16
}

END {
    if (root) best = root
    else for (f in frame) if (depth(f) > depth(best)) best = f
    printf "%d", depth(best)
    for (f = best; f; f = below[f]) printf " %s:%d", f, frame[f]
    print ""
    exit failed
}
