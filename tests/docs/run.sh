#!/bin/sh
# The pages and the manual: sessions at the prompt print what docs/repl.md and the manual show, the
# C in README.md is the C emitted, examples run, and every option, field and tensor is in the
# manual. The C of generated/README.md works as C11, C++11 and C++20, that of docs/embedding.md as
# C11 and C++17. Links, files and make targets that a page names exist. Python programs import only
# what exists (imports.py).
# usage: run.sh XFORMC
set -u
. tests/lib.sh
. tests/docs/pages.sh
quick_compilers

# Typed lines, and the output. Times, which vary and change the width of their columns, become N.
typed() { sed -n 's/^> //p'; }
seen() { grep -v '^> '; }
settle() { sed -E 's/compiled in [0-9.]+ ms/compiled in N ms/; /^ *[a-z_]+ +parameters /s/ +/ /g; /^ +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$/s/ +[0-9.]+ +[0-9.]+ +[0-9.]+$/ N N N/'; }
for page in docs/repl.md man/xformc-repl.1.scd; do
    # All blocks of a page form one session.
    awk '/^```/ { if (inside && block ~ /^> /) printf "%s", block; inside = !inside; block = ""; next } inside { block = block $0 "\n" }' "$page" >"$scratch/session"
    typed <"$scratch/session" >"$scratch/typed"
    "$xformc" repl <"$scratch/typed" >"$scratch/out" 2>"$scratch/err"
    seen <"$scratch/session" | settle >"$scratch/expected"
    settle <"$scratch/out" >"$scratch/found"
    [ "$(wc -l <"$scratch/session")" -ge 10 ] && [ ! -s "$scratch/err" ] && diff "$scratch/expected" "$scratch/found" >"$scratch/diff"
    verdict $? "$page: the session is what the prompt says"
    cat "$scratch/diff" "$scratch/err"
done

# The emitted C in README.md is in generated/dates, apart from white space.
flat() { tr -s ' \n' '  '; }
awk '/^```/ { c = $0 == "```c"; next } c' README.md | flat >"$scratch/excerpt"
excerpt=$(sed 's/^ *//; s/ *$//' "$scratch/excerpt")
[ ${#excerpt} -ge 200 ] && flat <generated/dates/dates.c | grep -qF -e "$excerpt"
verdict $? 'README.md: the C it shows is what is emitted'

# Rows of README.md match the committed results: `| NAME | UNIT | OURS | FASTEST RIVAL...`, then the
# ratio.
while IFS='|' read -r _ name ours rival ratio _; do
    case $name in
    *'Zen 4'*) results=zen4 ;;
    *'Emerald Rapids'*) results=emerald-rapids ;;
    ' `'*'-t'?'` ')
        set -- $(echo "$name" | tr -d '`') $ours $ratio
        rows=$((${rows:-0} + 1)) row=$(grep -F "| $1 | $3 | $2 |${rival% }" tests/bench/results/$results.md)
        case $row in *"| $4 ("*) ;; *) echo "$results, $1: $ours,$rival, $ratio" >>"$scratch/rows" ;; esac
        # The first of several rivals is the fastest.
        case $row in "| $1 | $3 | $2 |${rival% }"[,\ ]*) ;; *) echo "$results, $1:$rival" >>"$scratch/rows" ;; esac ;;
    esac
done <README.md
[ "${rows:-0}" -ge 10 ] && [ ! -e "$scratch/rows" ]
verdict $? 'README.md: the rows of its tables are those of the committed results'
[ ! -e "$scratch/rows" ] || cat "$scratch/rows"
sh tests/bench/tables.sh | diff docs/performance.md - >"$scratch/diff" && [ "$(grep -c '^| `' docs/performance.md)" -ge 60 ]
verdict $? 'docs/performance.md: its tables are those of the committed results'
cat "$scratch/diff"
[ "$(wc -l <README.md)" -le 150 ] && ! grep -n '.\{101,\}' README.md
verdict $? 'README.md has at most 150 lines of at most 100 columns'
"$xformc" attention specs/dates.lua '3rd of May 2019' --kind cross --layer 1 --isa portable -q -o "$scratch/attention.svg" 2>"$scratch/err" &&
    cmp docs/pictures/attention.svg "$scratch/attention.svg"
verdict $? 'docs/pictures/attention.svg is what the tool draws'
"$xformc" info specs/dates.lua --isa portable -q --memory "$scratch/memory.svg" >"$scratch/out" 2>&1 &&
    cmp docs/pictures/memory.svg "$scratch/memory.svg"
verdict $? 'docs/pictures/memory.svg is what the tool draws'

"$(dirname "$xformc")/tests/report/report_roofline" docs/pictures/roofline.json >"$scratch/roofline.svg" 2>"$scratch/err" &&
    cmp docs/pictures/roofline.svg "$scratch/roofline.svg"
verdict $? 'docs/pictures/roofline.svg is what the tool draws of the committed results'

"$xformc" help 2>&1 | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)$/| `\1` | \2 |/p' >"$scratch/commands"
sed -n '/^| command | |$/,/^$/p' docs/cli.md | sed '1,2d;/^$/d' | diff "$scratch/commands" - && [ "$(wc -l <"$scratch/commands")" -ge 15 ]
verdict $? 'docs/cli.md: its table of commands is what help prints'

# A program is named after its model, and the model after the folder that is built.
mkdir "$scratch/named"
# shellcheck disable=SC2086
missing=$(cat $pages | sed -n 's/^\(\$ \)*xformc build \([^ ]*\) .*-o \([a-z]*\)$/\2 \3/p' | while read -r spec folder; do
    cp -r tests/families/llama "$scratch/named/$(basename "$spec")"
    name=$("$xformc" info "$scratch/named/$(basename "$spec")" 2>"$scratch/err" | sed -n '1s/:.*//p')
    echo "$folder/$name" >>"$scratch/programs"
    grep -qh "^\(\$ \)*$folder/$name " $pages || echo "$folder/$name"
done)
[ "$(wc -l <"$scratch/programs")" -ge 3 ] && [ -z "$missing" ]
verdict $? 'the pages: programs have the names that build gives them'
echo "$missing"

# The page on emitted folders: its program and its loop over rows give the model's answers.
block() { awk -v word="$1" '/^```/ { if (inside && index(block, word)) printf "%s", block; inside = $0 == "```c"; block = ""; next } inside { block = block $0 "\n" }' generated/README.md; }
if "$xformc" build specs/dates.lua -q --slots 4 --weights file -o "$scratch/dates" >"$scratch/err" 2>&1; then
    block 'int main(void)' >"$scratch/dates/you.c"
    block dates_decode_greedy >"$scratch/dates/excerpt.h"
    block 'rows(void *self' >"$scratch/dates/functions.h"
    block rt_beam_search >"$scratch/dates/search.h"
    cp tests/docs/programs/greedy_batch.c tests/docs/programs/beam_search.c tests/beam/programs/library_beam.c "$scratch/dates"
    # says EXPECTED WHAT FILE ARGUMENT...: the program built there prints EXPECTED, with blanks for
    # line ends.
    says() (
        expected=$1 name=$2 file=$3
        shift 3
        (cd "$scratch/dates" && $compiler -std=$std -Wall -Wextra -pedantic -Werror -I. -Iruntime -x $language $file.c -x none libdates.a \
            -lm -pthread -o $file && ./$file "$@") >"$scratch/out" 2>"$scratch/err"
        [ "$(tr '\n' ' ' <"$scratch/out")" = "$expected" ]
        verdict $? "generated/README.md, $std: $name"
        cat "$scratch/out" "$scratch/err"
    )
    best='2034-01-02 2034-01-20 2044-01-02 '
    scored='2034-01-02 -0.0000 2034-01-20 -1.4631 2044-01-02 -1.4758 '
    for std in c11 c++11 c++20; do
        case $std in c11) language=c compiler=${CC:-cc} ;; *) language=c++ compiler=${CXX:-c++} ;; esac
        if ! command -v $compiler >/dev/null; then echo "skip generated/README.md, $std: its snippets (no $compiler)"; continue; fi
        says '2019-05-03 ' 'the program' you
        says '2019-05-03 2034-01-02 2018-09-03 2093-10-06 ' 'sentences together, by NAME_decode_greedy' greedy_batch dates.safetensors
        says "$best" 'a search with beams' beam_search dates.safetensors
        says "$scored" 'the whole search' library_beam dates.safetensors '1/2/34'
    done
else verdict 1 'generated/README.md: the program'
fi

# The page on embedding: its program answers in C11 and C++17. Options and scores are as the page
# says.
part() { awk -v word="$1" '/^```/ { if (inside && index(block, word)) printf "%s", block; inside = $0 == "```c"; block = ""; next } inside { block = block $0 "\n" }' docs/embedding.md; }
if "$xformc" build specs/dates.lua -q -o "$scratch/embedded" >"$scratch/err" 2>&1; then
    part 'int main(void)' >"$scratch/embedded/you.c"
    part rt_generate_options >"$scratch/embedded/options.h"
    part 'double score(' >"$scratch/embedded/score.h"
    part rt_weights_open >"$scratch/embedded/weights.h"
    cp tests/docs/programs/embedded.c "$scratch/embedded"
    # answers EXPECTED WHAT FILE: the program built there prints EXPECTED.
    answers() (
        cd "$scratch/embedded" && $compiler -std=$std -Wall -Wextra -pedantic -Werror -I. -Iruntime -x $language $3.c -x none \
            dates_weights.o libdates.a -lm -pthread -o $3 >"$scratch/err" 2>&1 && ./$3 >"$scratch/out" 2>>"$scratch/err"
        same "$1" "$(cat "$scratch/out")"
        verdict $? "docs/embedding.md, $std: $2"
        cat "$scratch/err"
    )
    [ "$(awk '/^int main/ { on = 1; next } on && /;$/' "$scratch/embedded/you.c" | wc -l)" -le 5 ]
    verdict $? 'docs/embedding.md: a text is answered in five lines'
    for std in c11 c++17; do
        case $std in c11) language=c compiler=${CC:-cc} ;; *) language=c++ compiler=${CXX:-c++} ;; esac
        if ! command -v $compiler >/dev/null; then echo "skip docs/embedding.md, $std: its programs (no $compiler)"; continue; fi
        answers '2019-05-03' 'the program' you
        answers '2019 good bad' 'options, and scores of two candidates' embedded
    done
    version=$("$xformc" --version | sed -n '1s/^xformc //p')
    number=$(echo "$version" | awk -F. '{ print 10000 * $1 + 100 * $2 + $3 }')
    grep -q "^#define DATES_VERSION \"$version\"" "$scratch/embedded/dates.h" &&
        grep -q "^#define XF_API_VERSION $number$" "$scratch/embedded/runtime/rt.h" && grep -q "^## $version$" CHANGELOG.md
    verdict $? "the header, rt.h and CHANGELOG.md are of version $version"
    sed -i 's/^#define XF_API_VERSION .*/#define XF_API_VERSION 1/' "$scratch/embedded/runtime/rt.h"
    ! ${CC:-cc} -fsyntax-only -I"$scratch/embedded" -I"$scratch/embedded/runtime" "$scratch/embedded/you.c" 2>"$scratch/err" &&
        grep -q 'dates.h and rt.h come from different versions of xformc' "$scratch/err"
    verdict $? 'a header and a runtime of different versions do not compile'
else verdict 1 'docs/embedding.md: the program'
fi

# Lua in the manual page on specs is a valid spec.
awk '/^```/ { if (inside && block ~ /^(return|xf\.op)/) { file = sprintf("%s/spec%d.lua", folder, ++n); printf "%s", block >file; close(file) } inside = !inside; block = ""; next }
    inside { block = block $0 "\n" }' folder="$scratch" man/xformc-spec.5.scd
for spec in "$scratch"/spec1.lua "$scratch"/spec2.lua "$scratch"/spec3.lua "$scratch"/spec4.lua; do
    "$xformc" info "$spec" --allow-c >/dev/null 2>"$scratch/err"
    verdict $? "man/xformc-spec.5.scd: $(head -n 1 "$spec")"
    cat "$scratch/err"
done

# The tables of tensors name the tensors of the models here: weights in the first, computed ones in
# the second.
awk '/^# /{ tensors = $0 == "# TENSORS" } tensors && /^```/ { n += inside; inside = !inside; next } tensors && inside { print n + 0, $1 }' \
    man/xformc-spec.5.scd >"$scratch/tensors"
cat >"$scratch/tensors.lua" <<'END'
local known, used, missing = { {}, {} }, 0, {}
for line in io.lines(arg[1]) do
  local which, name = line:match("^(%d) (.*)$")
  known[which + 1][name] = true
end
for i = 2, #arg do
  local good, m = pcall(xf.compile, arg[i], { tier = "jit", notes = false })
  for which = 1, good and 2 or 0 do
    for _, name in ipairs(which == 1 and m:weights() or m:names()) do
      local stack, rest = name:match("^(%a+)(%..*)$")
      local of_stack = stack == "encoder" or stack == "decoder"
      local kept = not of_stack and name:gsub("^head%.%d+", "head.I") or
                   rest:gsub("^%.%d+", ".N"):gsub("(norm[_a-z]*)%.%d+", "%1.K"):gsub("residual%.%d+", "residual.K")
      local found = not of_stack and known[which][kept] or of_stack and (known[which]["S" .. kept] or known[which][stack .. kept])
      local computed = kept:match("rotary[_%d]*%.table$") or name == "head.normalize.gain"
      if not found and not computed then missing[#missing + 1] = name end
      used = used + 1
    end
  end
  if good then m:close() end
end
print(#missing .. " " .. tostring(used > 5000))
print(table.concat(missing, "\n"))
END
"$xformc" lua "$scratch/tensors.lua" "$scratch/tensors" $(grep -L 'xf.graph' specs/*.lua tests/goldens/*.lua) >"$scratch/out" 2>&1
[ "$(head -n 1 "$scratch/out")" = "0 true" ]
verdict $? 'man/xformc-spec.5.scd: every tensor of the models here is in its tables'
head -n 5 "$scratch/out"

# Commands of the manual page on the command line.
awk '/^# /{ examples = $0 == "# EXAMPLES" } /^```/ { inside = !inside; next } examples && inside' man/xformc.1.scd >"$scratch/commands"
[ "$(wc -l <"$scratch/commands")" -ge 5 ]
verdict $? 'man/xformc.1.scd has examples'
while IFS= read -r command; do
    case $command in "xformc build "*|"build/dates/"*) continue ;; esac        # as in README.md, which tests/docs/slow.sh runs
    sh -c "$(printf '%s\n' "$command" | sed "s#^xformc#$xformc#")" >"$scratch/out" 2>&1 </dev/null
    verdict $? "man/xformc.1.scd: $command"
done <"$scratch/commands"

# The manual pages have every option and field of the program, and no placeholder is left.
for page in xformc.1 xformc-spec.5 xformc-repl.1; do sh man/fill.sh "$xformc" "man/$page.scd" >"$scratch/$page.scd"; done
"$xformc" help -v | sed -n 's/^ *\(-., \)\{0,1\}--\([a-z-]*\).*/\2/p' >"$scratch/options"
missing=$(while read -r option; do
    grep -q "^\*.*\\\\-\\\\-$(echo "$option" | sed 's/-/\\\\-/g')\*" "$scratch/xformc.1.scd" || echo "$option"
done <"$scratch/options")
! grep -n '^@' "$scratch"/*.scd && [ "$(wc -l <"$scratch/options")" -ge 30 ] && [ -z "$missing" ]
verdict $? 'every option is in the manual'
echo "$missing"
[ "$(grep -c '^\*.*of the \(model\|stack\|layer\)' "$scratch/xformc-spec.5.scd")" = "$("$xformc" fields | sed 1d | grep -c '^[a-z]')" ] &&
    ! grep -F 'default \-)' "$scratch/xformc-spec.5.scd" && grep -q "^$(printf '\t')width of the residual stream" "$scratch/xformc-spec.5.scd"
verdict $? 'every field is in the manual'
for page in xformc.1 xformc-spec.5 xformc-repl.1; do
    what="man/$page is what make man writes"
    if ! command -v scdoc >/dev/null 2>&1; then echo "skip $what (no scdoc)"; continue; fi
    sh man/page.sh "$xformc" "man/$page.scd" >"$scratch/$page" 2>"$scratch/err" && [ ! -s "$scratch/err" ] &&
        [ "$(wc -l <"$scratch/$page")" -ge 40 ] && diff "man/$page" "$scratch/$page" >"$scratch/diff"
    verdict $? "$what"
    cat "$scratch/err" "$scratch/diff"
done

# Links, files of tests/ and make targets that the pages name exist.
find . -name '*.md' -not -path './build/*' -not -path './tests/bench/results/*' |
    sort >"$scratch/pages"
while read -r page; do
    grep -o '](\([^)#]*\)' "$page" | sed 's/^](//' | grep -v '^http' | while read -r link; do
        [ -e "${page%/*}/$link" ] || echo "$page: $link"
    done
done <"$scratch/pages" >"$scratch/missing"
[ "$(wc -l <"$scratch/pages")" -ge 10 ] && [ ! -s "$scratch/missing" ]
verdict $? 'links of the pages lead to files'
cat "$scratch/missing"

grep -o '`[a-z_]*/[A-Za-z0-9_*./-]*`' tests/README.md | tr -d '`' | sort -u >"$scratch/words"
while read -r name; do
    case $name in build/*) continue ;; esac
    for file in tests/$name tests/$name.c tests/$name.lua $name; do
        [ ! -e "$file" ] || continue 2
    done
    echo "$name"
done <"$scratch/words" >"$scratch/missing"
[ "$(wc -l <"$scratch/words")" -ge 80 ] && [ ! -s "$scratch/missing" ]
verdict $? 'tests/README.md: the files it names are there'
cat "$scratch/missing"

sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile generated/dates/Makefile >"$scratch/targets"
{
    xargs grep -ho '`\([A-Z_]*=[^ `]* \)*make [a-z-][a-z-]*' <"$scratch/pages"
    xargs grep -h '^ *make [a-z-][a-z-]*' <"$scratch/pages"
} | sed 's/.*make \([a-z-]*\).*/\1/' | sort -u >"$scratch/words"
grep -vxFf "$scratch/targets" "$scratch/words" | grep -vx lib >"$scratch/missing"  # libNAME.so
[ "$(wc -l <"$scratch/words")" -ge 15 ] && [ ! -s "$scratch/missing" ]
verdict $? 'the pages name targets of make that are there'
cat "$scratch/missing"

# Python programs that need packages or train for long are not run.
if python3 -c 'import sys; sys.stdlib_module_names' 2>"$scratch/err"; then
    find specs tests -name '*.py' | sort >"$scratch/python"
    xargs python3 -B tests/docs/imports.py <"$scratch/python" >"$scratch/out" 2>&1 &&
        [ "$(wc -l <"$scratch/python")" -ge 40 ]
    verdict $? 'Python programs: what they import is there'
    cat "$scratch/out"
else echo 'skip Python programs: what they import is there (no Python 3.10)'; fi
