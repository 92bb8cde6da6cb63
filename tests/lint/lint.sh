#!/bin/sh
# Check the tree in the current folder, rule by rule. Prints findings as `FILE:LINE: what`, and
# exits with 1 if there are any.
# usage: lint.sh [RULE…]
# rules: includes folders calls libraries names text words sizes generated compilers
export LC_ALL=C
rules=${*:-includes folders calls libraries names text words sizes generated compilers}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT || exit 74

# The project's own files: no build results, no runtime that `build` copies next to emitted text, no
# folders of .gitignore.
ignored=$(sed -n "s#^/\(.*\)/\$# -o -path './\1'#p" .gitignore 2>/dev/null | tr -d '\n')
apart="-name .git -o -path ./build -o -path './generated/*/runtime' -o -name __pycache__ -o -path './tests/*/build' $ignored"
eval "find . \( $apart \) -prune -o -type f -print" | sed 's#^\./##' | sort >"$scratch/files" || exit 74
[ -s "$scratch/files" ] || exit 74
files() { grep -E "$1" "$scratch/files"; }
# each AWK-PROGRAM: run it once over all files named on stdin.
each() { tr '\n' '\0' | xargs -0 -r awk "$@"; }

# The source folders in the order in which they may include each other, from the lists of the
# Makefile.
floors() {
    awk '/^(RUNTIME|COMPILER)_FOLDERS *=/ { on = 1; sub(/^[A-Z_]+ *=/, "") }
        on { on = sub(/\\$/, ""); for (i = 1; i <= NF; i++) print $i }' Makefile
}

# Who includes whom: files of the same folder or an earlier one. Below the emitter only parts of the
# runtime are allowed.
rule_includes() {
    files '^(compiler|runtime)/.*\.(c|h|def)$' >"$scratch/sources"
    floors >"$scratch/floors"
    each -v list="$scratch/sources" -v floors="$scratch/floors" '
        function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
        BEGIN {
            while ((getline path < list) > 0) { name = path; sub(/.*\//, "", name); where[name] = path }
            while ((getline path < floors) > 0) rank[path] = ++count
        }
        function refuse(why) { printf "%s:%d: %s may not include \"%s\"%s\n", FILENAME, FNR, from, name, why }
        FNR == 1 && !(folder(FILENAME) in rank) { printf "%s:1: the Makefile does not list the folder of this file\n", FILENAME }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            name = $0; sub(/^[^"]*"/, "", name); sub(/".*/, "", name)
            from = folder(FILENAME)
            if (name ~ /\//) { refuse(": leave out the folder"); next }
            if (!(name in where)) { refuse(": there is no such file in compiler/ or runtime/"); next }
            to = folder(where[name])
            if (rank[to] > rank[from]) refuse(": " to " comes after it in the Makefile")
            else if (from ~ /^compiler/ && to ~ /^runtime/ && rank[from] < rank["compiler/emit"]) {
                blob = from ~ /^compiler\/(tokenizer|chat|front)/ && name ~ /^rt_(tokenizer(_format)?|chat)\.h$/ # the formats they write
                head = from == "compiler/pack" && name ~ /^rt_(packed|weights)\.h$/                      # and packed weights
                if (name !~ /^(rt\.h|.*\.def)$/ && !blob && !head) refuse(", only rt.h and the tables of the runtime")
            }
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

# A folder must not have too many files.
rule_folders() {
    files '^(compiler|runtime)/.*\.(c|h)$' | awk '
        { file = $0; sub(/\/[^\/]*$/, ""); n[$0]++; last[$0] = file }
        END { for (d in n) if (n[d] > 34) printf "%s:1: the last of %d files in %s; at most 34 are allowed\n", last[d], n[d], d }'
}

# Who calls whom, by the symbols that objects define and need: objects of build/ if they are newer,
# else compiled here.
rule_calls() {
    mkdir -p "$scratch/objects"
    files '^(compiler|runtime)/.*\.c$' >"$scratch/sources"
    flags="-std=c11 -D_GNU_SOURCE -O0 -w -DRT_PORTABLE -DKERNEL_SET_NAME=portable $(floors | sed 's/^/-I/' | tr '\n' ' ')
        $(pkg-config --cflags lua5.4 jansson openblas libedit libutf8proc 2>/dev/null | tr -d '\n')"
    while read -r f; do
        case $f in */kernel_set_one.c) o=build/${f%one.c}portable.o ;; *) o=build/${f%.c}.o ;; esac
        if [ -e "$o" ] && [ "$o" -nt "$f" ]; then echo "$f $o"; else echo "$f"; fi
    done <"$scratch/sources" >"$scratch/found.objects"
    awk 'NF == 1' "$scratch/found.objects" | xargs -r -P 2 -I {} sh -c \
        "${CC:-cc} $(echo $flags) -c -o '$scratch/objects/'\$(basename {} .c).o {} || echo '{}:1: cannot be compiled'"
    {
        floors | sed 's/^/floor /'
        files '^(compiler|runtime)/.*\.(c|h|def)$' | each -v list="$scratch/files" '
            BEGIN { while ((getline path < list) > 0) if (path ~ /^(compiler|runtime)\//) { name = path; sub(/.*\//, "", name); where[name] = path } }
            /^[ \t]*#[ \t]*include[ \t]*"/ {
                name = $0; sub(/^[^"]*"/, "", name); sub(/".*/, "", name)
                if (name in where) print "include", FILENAME, FNR, where[name]
            }'
        files '^(compiler|runtime)/.*\.(h|def)$' | each '
            FNR == 1 { inside = 0; folder = FILENAME; sub(/\/[^\/]*$/, "", folder) }
            {
                line = $0
                for (text = ""; line != "";) {
                    if (inside && !(n = index(line, "*/"))) break
                    if (inside) { line = substr(line, n + 2); inside = 0 }
                    else if (!(n = index(line, "/*"))) { text = text " " line; break }
                    else { text = text " " substr(line, 1, n - 1); line = substr(line, n + 2); inside = 1 }
                }
                n = split(text, word, /[^A-Za-z0-9_]+/)
                for (i = 1; i <= n; i++) if (word[i] != "") print "declared", folder, word[i]
            }' | sort -u
        # A row of commands.def declares the function of its command, in command.h.
        sed -n 's/^COMMAND(\([a-z]*\),.*/declared compiler\/cli command_\1/p' compiler/cli/commands.def 2>/dev/null
        # A row of formats.def declares four kernels, in kernels.h.
        sed -n 's/.*RT_[A-Z_]*LINEARS([A-Z0-9]*, \([a-z0-9]*\),.*/\1/p' runtime/kernels/formats.def 2>/dev/null | while read -r suffix; do
            for kernel in linear linear_gate linear_add embed; do echo "declared runtime/kernels rt_${kernel}_$suffix"; done
        done
        # rt_alone.c replaces rt_team.c, so the same functions would be defined twice.
        grep -v '/rt_alone\.c' "$scratch/found.objects" | while read -r f o; do
            nm -g -P "${o:-$scratch/objects/$(basename "$f" .c).o}" | awk -v f="$f" '
                $2 == "U" { print "used", f, $1 } $2 == "T" && $1 != "main" { print "defined", f, $1 }'
        done
    } | awk -f "$here/calls.awk"
}

# Each library is used only in the files listed here.
rule_libraries() {
    files '\.(c|h)$' | each '
        BEGIN {
            place["lua.h"] = place["lauxlib.h"] = place["lualib.h"] = "^compiler/(front/lua/spec_|plan/tune_file|repl/repl)[a-z_]*\\.[ch]$"
            place["jansson.h"] = "^compiler/base/json_read\\.h$"
            place["cblas.h"] = place["openblas_config.h"] = "^compiler/engine/generic_blas\\.c$"
            place["libtcc.h"] = "^compiler/machine/tcc\\.c$"
            place["utf8proc.h"] = "^compiler/base/unicode_tables\\.c$"
            place["histedit.h"] = "^compiler/repl/repl_edit\\.c$"
            place["cmocka.h"] = place["pcre2.h"] = "^tests/"
        }
        /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
            name = $0; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*/, "", name)
            if (name in place && FILENAME !~ place[name] && !(FILENAME ~ /^tests\// && name != "libtcc.h"))
                printf "%s:%d: <%s> may be included only in %s\n", FILENAME, FNR, name, place[name]
        }'
}

# Names of C files are unique in the tree, and the top folder has few files.
rule_names() {
    files '^[^/]*$' | grep -vxE 'LICENSE|Makefile|(README|CHANGELOG)\.md|\.gitignore' | sed 's/$/:1: this file does not belong in the top folder/'
    files '\.(c|h|def)$' | grep -v '^generated/' | awk -F/ '
        { if ($NF in seen) printf "%s:1: the name is taken by %s\n", $0, seen[$NF]; else seen[$NF] = $0 }'
}

inputs_left_out() { grep -v '^tests/.*\.lua$'; }       # test inputs may be ugly
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
            else if (lines > 600) printf "note: %s has %d lines: consider splitting it\n", file, lines > "/dev/stderr"
        }
        FNR == 1 { judge(); file = FILENAME }
        { lines = FNR }
        END { judge() }'
}

# The emitted C allocates nothing.
rule_generated() {
    files '^generated/[^/]+/.*\.(c|h)$' | tr '\n' '\0' | xargs -0 -r grep -nE '(malloc|calloc)\(' /dev/null | sed 's/$/   (allocation in emitted C)/'
}

# Warnings of gcc and clang, if they are installed. Kernels are compiled for each instruction set.
rule_compilers() {
    flags="-std=c11 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Werror -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes
        -ffp-contract=off -DPACKER_VERSION=0u $(floors | sed "s/^/-I/" | tr "\n" " ")
        $(pkg-config --cflags lua5.4 jansson openblas libedit libutf8proc cmocka 2>/dev/null | tr -d '\n')"
    for cc in gcc clang; do
        command -v $cc >/dev/null 2>&1 || continue
        files '^(compiler|runtime|tests)/.*\.c$' | grep -vE '^tests/(goldens|[a-z]+/programs)/' |
            xargs -r -n 4 -P 2 $cc $flags || echo "$cc reports errors or warnings"
        sed -n "s/^KERNEL_SET([^,]*, \($(uname -m)\|any\), \"\([^\"]*\)\")\$/\2/p" runtime/kernels/simd/instruction_sets.def | while read -r isa; do
            files '^runtime/kernels/.*\.c$' | xargs -r -n 4 -P 2 $cc $flags $isa || echo "$cc $isa reports errors or warnings"
        done
    done >"$scratch/compilers" 2>&1
    cat "$scratch/compilers"
}

bad=0
for rule in $rules; do
    case $rule in
    includes|folders|calls|libraries|names|text|words|sizes|generated|compilers) ;;
    *) echo "lint.sh: there is no rule $rule" >&2; exit 2 ;;
    esac
    # On a full disk there would be no findings.
    "rule_$rule" >"$scratch/found" || true
    echo end >"$scratch/end" || exit 74
    if [ -s "$scratch/found" ]; then
        echo "lint: $rule"
        sed 's/^/  /' "$scratch/found"
        bad=1
    fi
done
[ "$bad" = 0 ] && echo "lint: clean"
exit "$bad"
