#!/bin/sh
# Check the tree in the current folder, rule by rule; a finding is a line `FILE:LINE: what`, and exit 1.
# usage: lint.sh [RULE…]          rules: includes libraries names text words sizes generated compilers
export LC_ALL=C
rules=${*:-includes libraries names text words sizes generated compilers}
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74

# What is ours: not what is built, nor what `build` puts beside the emitted text, nor the folders of .gitignore.
ignored=$(sed -n "s#^/\(.*\)/\$# -o -path './\1'#p" .gitignore 2>/dev/null | tr -d '\n')
apart="-name .git -o -path ./build -o -path './generated/*/runtime' -o -name __pycache__ -o -path './tests/*/build' $ignored"
eval "find . \( $apart \) -prune -o -type f -print" | sed 's#^\./##' | sort >"$scratch/files"
files() { grep -E "$1" "$scratch/files"; }
# each AWK-PROGRAM, file names on stdin: run it over all of them at once.
each() { tr '\n' '\0' | xargs -0 -r awk "$@"; }

# Who includes whom. A floor is a folder of compiler/; each sees the floors to its left, by their one public header.
rule_includes() {
    files '^(compiler|runtime)/.*\.(c|h|def)$' >"$scratch/sources"
    each -v list="$scratch/sources" '
        function floor(path) {
            if (path ~ /^runtime\//) return "runtime"
            if (path ~ /^compiler\/(base|graph|plan)\//) { sub(/^compiler\//, "", path); sub(/\/.*/, "", path); return path }
            if (path ~ /^compiler\/(model|weights|tokenizer|front)\//) return "front"
            if (path ~ /^compiler\/(pack|emit|engine)\//) return "target"
            return path ~ /^compiler\/(session|verify\/)/ ? "session" : "main"
        }
        BEGIN {
            while ((getline path < list) > 0) { name = path; sub(/.*\//, "", name); where[name] = path }
            split("base front graph plan target session main", order)
            for (i in order) rank[order[i]] = i
            public["graph"] = "graph.h"
        }
        function refuse(why) { printf "%s:%d: %s may not include \"%s\"%s\n", FILENAME, FNR, from, name, why }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            name = $0; sub(/^[^"]*"/, "", name); sub(/".*/, "", name); sub(/.*\//, "", name)
            from = floor(FILENAME)
            if (!(name in where)) { refuse(": there is no such file in compiler/ or runtime/"); next }
            to = floor(where[name])
            if (to == from) next
            if (from == "runtime") { refuse(": the runtime includes only itself"); next }
            if (to == "runtime") {
                blob = from == "front" && name ~ /^rt_tokenizer(_format)?\.h$/            # what front writes a tokenizer as
                if (name !~ /^(rt\.h|.*\.def)$/ && !blob && rank[from] < rank["target"]) refuse(": of the runtime, rt.h and the tables")
                next
            }
            if (rank[to] > rank[from]) { refuse(": " to " stands to the right of " from); next }
            if (to in public && name != public[to] && from != "session" && from != "main") refuse(": of " to ", only " public[to])
        }' <"$scratch/sources"
    files '^runtime/.*\.(c|h)$' | each '
        BEGIN {
            n = split("assert cpuid ctype dlfcn errno fcntl fenv float getopt immintrin arm_neon inttypes limits math poll pthread sched " \
                "signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib string strings time unistd", names)
            for (i = 1; i <= n; i++) libc[names[i] ".h"] = 1
        }
        /^[ \t]*#[ \t]*include[ \t]*</ {
            name = $0; sub(/^[^<]*</, "", name); sub(/>.*/, "", name)
            if (!(name in libc) && name !~ /^(sys|linux)\/[a-z]+\.h$/)
                printf "%s:%d: the runtime includes only libc, not <%s>\n", FILENAME, FNR, name
        }'
}

# A library enters in one place.
rule_libraries() {
    files '\.(c|h)$' | each '
        BEGIN {
            place["lua.h"] = place["lauxlib.h"] = place["lualib.h"] = "^compiler/(front/lua/spec_|plan/spec_|repl/repl)[a-z_]*\\.[ch]$"
            place["jansson.h"] = "^compiler/(base/config|tokenizer/tokenizer_json[a-z_]*|weights/safetensors)\\.[ch]$"
            place["cblas.h"] = place["openblas_config.h"] = "^compiler/engine/generic_blas\\.c$"
            place["libtcc.h"] = "^compiler/engine/c_memory\\.c$"
            place["utf8proc.h"] = "^compiler/base/unicode_tables\\.c$"
            place["histedit.h"] = "^compiler/repl/repl_edit\\.c$"
            place["cmocka.h"] = place["pcre2.h"] = "^tests/"
        }
        /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
            name = $0; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*/, "", name)
            if (name in place && FILENAME !~ place[name] && !(FILENAME ~ /^tests\// && name != "libtcc.h"))
                printf "%s:%d: <%s> enters only in %s\n", FILENAME, FNR, name, place[name]
        }'
}

# A file's name says which file it is, anywhere in the tree.
rule_names() {
    files '\.(c|h|def)$' | grep -v '^generated/' | awk -F/ '
        { if ($NF in seen) printf "%s:1: the name is taken by %s\n", $0, seen[$NF]; else seen[$NF] = $0 }'
}

inputs_left_out() { grep -v '^tests/.*\.lua$'; }       # what a test feeds may be as ugly as it likes
code() { files '(\.(c|h|def|lua|sh|py)|(^|/)Makefile|^\.ci/run)$'; }

rule_text() {
    code | inputs_left_out | each '
        function columns(s) { gsub(/[\200-\277]/, "", s); return length(s) }
        FNR == 1 { tabs = FILENAME !~ /Makefile$/; table = FILENAME ~ /(\.def|_kernels\.h|tests\/[a-z]+\/(run|slow)\.sh)$/ }
        tabs && /\t/    { printf "%s:%d: a tab\n", FILENAME, FNR }
        /\r/            { printf "%s:%d: a carriage return\n", FILENAME, FNR }
        /[ \t]$/        { printf "%s:%d: space at the end of the line\n", FILENAME, FNR }
        !table && length($0) > 150 && columns($0) > 150 { printf "%s:%d: %d columns, at most 150\n", FILENAME, FNR, columns($0) }'
    code | inputs_left_out | while IFS= read -r f; do
        if [ -s "$f" ] && [ -n "$(tail -c 1 "$f")" ]; then echo "$f:1: no newline at the end"; fi
    done
}

rule_words() {
    code | grep -v '^tests/lint/' | tr '\n' '\0' | xargs -0 -r grep -nwE 'TODO|FIXME|XXX' /dev/null | sed 's/$/   (a forbidden word)/'
    code | grep -v '^tests/lint/' | tr '\n' '\0' | xargs -0 -r grep -nE '^[[:space:]]*# *if +0([^-0-9x]|$)' /dev/null | sed 's/$/   (dead code)/'
}

rule_sizes() {
    code | grep -v '^generated/' | each '
        function judge() {
            if (lines > 700) printf "%s:%d: %d lines, at most 700\n", file, lines, lines
            else if (lines > 600) printf "note: %s has %d lines: look for the second idea\n", file, lines > "/dev/stderr"
        }
        FNR == 1 { judge(); file = FILENAME }
        { lines = FNR }
        END { judge() }'
}

# A generated program allocates nothing.
rule_generated() {
    files '^generated/[^/]+/.*\.(c|h)$' | tr '\n' '\0' | xargs -0 -r grep -nE '(malloc|calloc)\(' /dev/null | sed 's/$/   (allocation in emitted C)/'
}

# Warnings of gcc and clang, if they are here. Kernels for each instruction set too.
rule_compilers() {
    flags="-std=c11 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Werror -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes
        -ffp-contract=off $(find compiler runtime -type d | sed "s/^/-I/" | tr "\n" " ")
        $(pkg-config --cflags lua5.4 jansson openblas libedit libutf8proc cmocka 2>/dev/null | tr -d '\n')"
    for cc in gcc clang; do
        command -v $cc >/dev/null 2>&1 || continue
        files '^(compiler|runtime|tests)/.*\.c$' | grep -vE '^tests/(goldens|[a-z]+/programs)/' |
            xargs -r -n 4 -P 2 $cc $flags || echo "$cc finds fault"
        sed -n "s/^KERNEL_SET([^,]*, \($(uname -m)\|any\), \"\([^\"]*\)\")\$/\2/p" compiler/emit/kernel_sets.def | while read -r isa; do
            files '^runtime/kernels/.*\.c$' | xargs -r -n 4 -P 2 $cc $flags $isa || echo "$cc $isa finds fault"
        done
    done >"$scratch/compilers" 2>&1
    cat "$scratch/compilers"
}

bad=0
for rule in $rules; do
    "rule_$rule" >"$scratch/found" || true
    if [ -s "$scratch/found" ]; then
        echo "lint: $rule"
        sed 's/^/  /' "$scratch/found"
        bad=1
    fi
done
[ "$bad" = 0 ] && echo "lint: clean"
exit "$bad"
