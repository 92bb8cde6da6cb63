#!/bin/sh
# tags: early
# The command line of xformc: help and usage, options given to commands that do not take them,
# missing files and tools, temporary folders, signals, a closed or full standard output, `run` in
# every engine with the numbers of the worked example, and `verify`.
# usage: run.sh XFORMC
. tests/lib.sh
tools=$(dirname "$xformc")/tests/cli
export XFORMC_CACHE=off
# A compiler with little optimisation: nothing here is timed.
quick_compilers

# fails NAME CODE PATTERN COMMAND...: exits with CODE and prints nothing on stdout; PATTERN, as for
# `case`, matches all of stderr.
fails() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    found=$?
    message=$(cat "$scratch/err")
    case $message in $pattern) fits=1 ;; *) fits=0 ;; esac
    [ $found = "$code" ] && [ $fits = 1 ] && [ ! -s "$scratch/out" ]
    verdict $? "$name"
    echo "exit $found: $message"
}

# ---- notes about a spec --------------------------------------------------------------------------

cat >"$scratch/noted.lua" <<'END'
return xf.model { name = "noted", kind = "decoder", layers = 1, heads = 1, d_model = 16, max_len = 8, vocab = 9,
                  position = "learned", rope_theta = 5, weights = "random" }
END
for words in 'run noted.lua -n 1 3' 'verify noted.lua --engine jit' 'compile noted.lua' 'info noted.lua'; do
    (cd "$scratch" && "$xformc" $words) >"$scratch/out" 2>&1
    [ "$(sed -n '1s/.*note: \(rope_theta has no effect\).*/\1/p' "$scratch/out")" = 'rope_theta has no effect' ] &&
        [ "$(grep -c 'rope_theta has' "$scratch/out")" = 1 ] && [ "$(wc -l <"$scratch/out")" -gt 3 ]
    verdict $? "a note comes before the work of ${words%% *}, once"
    head -n 3 "$scratch/out"
done

# ---- help and usage ------------------------------------------------------------------------------

"$xformc" --help >"$scratch/out" 2>"$scratch/err" && [ "$(head -n 1 "$scratch/out")" = Examples: ] && [ ! -s "$scratch/err" ] && "$xformc" -h | cmp - "$scratch/out"
verdict $? '--help begins with examples, on stdout'
missing=$(for word in compile build pack run verify ops fields --output --engine --cc --isa --threads --slots --weights --taps --input --against --from --json --dump --quiet --verbose --beam --length-penalty --early-stopping; do
    "$xformc" help -v | grep -q -e "$word" || echo "$word"; done)
[ -z "$missing" ]
verdict $? 'help -v has every command and option'
echo "missing: $missing"
commands=$("$xformc" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in help $commands; do
    "$xformc" $command --help | awk -v command=$command 'length > 80; END { if (NR > 60) print command ": " NR " lines" }'
done >"$scratch/out"
[ "$(echo "$commands" | grep -c .)" -ge 17 ] && [ ! -s "$scratch/out" ]
verdict $? '--help of a command is at most 80 columns wide and 60 lines long'
cat "$scratch/out"
# --help names every option that `help -v` explains.
for command in $commands; do
    "$xformc" $command --help | grep -oE -e ' --[a-z][a-z-]*' | sort -u >"$scratch/short"
    "$xformc" help $command -v | grep -oE -e '^ +(-., )?--[a-z-]+' | sed 's/.* / /' | sort -u >"$scratch/full"
    comm -13 "$scratch/short" "$scratch/full" | sed "s/^/$command: not named:/"
    [ "$(wc -l <"$scratch/full")" -ge 2 ] || echo "$command: no options"
done >"$scratch/out"
[ ! -s "$scratch/out" ]
verdict $? '--help of a command names every option that it takes'
cat "$scratch/out"
for command in compile build pack run verify ops fields; do
    "$xformc" $command --help >"$scratch/out" 2>"$scratch/err" && [ "$(head -n 1 "$scratch/out")" = Examples: ] && grep -q "^Usage: xformc $command" "$scratch/out" && [ ! -s "$scratch/err" ]
    verdict $? "$command --help"
done
"$xformc" --help >"$scratch/out" && "$xformc" help 2>&1 | cmp - "$scratch/out"
verdict $? 'help is --help'
"$xformc" run --help >"$scratch/out" && "$xformc" help run 2>&1 | cmp - "$scratch/out"
verdict $? 'help of a command'
fails 'help of no command' 2 "*unknown command 'biuld'; did you mean 'build'??*" "$xformc" help biuld
[ "$("$xformc" --version | head -n 1)" = 'xformc 0.9.0' ]
verdict $? '--version'
fails 'no command' 2 'xformc turns a Transformer into C*xformc help*' "$xformc"
"$xformc" 2>&1 | awk 'END { exit NR != 10 }'
verdict $? 'no command: ten lines of usage'
(cd "$scratch" && "$xformc" compile "$top/specs/dates.lua" --name birthday -q && grep -q 'rt_status birthday_bind(birthday \*m' birthday/birthday.h) >"$scratch/out" 2>&1
verdict $? '--name: the prefix of all that is emitted'
for name in 2x printf a-b; do fails "--name $name" 2 'error: --name*' "$xformc" compile specs/dates.lua --name "$name" -o "$scratch/named"; done
[ ! -e "$scratch/named" ]
verdict $? '--name: nothing is written'
fails 'options without a command' 2 'xformc: a command is missing before --engine*' "$xformc" --engine jit
fails 'an option that may be many' 2 'xformc: --t may be --target-language, --turns, *, --threads or --tune*' "$xformc" run specs/dates.lua --t 1
fails 'an option that may be two' 2 'xformc: --st may be --stop or --stream*' "$xformc" run specs/dates.lua --st 1
fails 'completion of one command' 2 "*--completion covers all commands; unexpected argument 'build'*" "$xformc" help build --completion bash
"$xformc" help help >"$scratch/out" && "$xformc" help --help | cmp - "$scratch/out" && ! "$xformc" help | cmp -s - "$scratch/out"
verdict $? 'help of help'
"$xformc" version >"$scratch/out" && "$xformc" --version | cmp - "$scratch/out"
verdict $? 'version is --version'
fails 'an unknown command' 2 "xformc: unknown command 'frobnicate'
xformc: try 'xformc --help'" "$xformc" frobnicate
fails 'a misspelt command' 2 "*unknown command 'biuld'; did you mean 'build'??*" "$xformc" biuld x
fails 'a misspelt option' 2 "*unknown option --slost; did you mean '--slots'?
xformc: try 'xformc compile --help'" "$xformc" compile x --slost=3
fails 'a misspelt option before the command' 2 "*unknown option --slost; did you mean '--slots'?
xformc: try 'xformc --help'" "$xformc" --slost=3 compile x
fails 'an unknown letter' 2 '*unknown option -z*' "$xformc" -z
fails 'a letter of two bytes' 2 '*unknown option -é
*' "$xformc" -é
fails 'a letter of two bytes behind another' 2 '*unknown option -é
*' "$xformc" -qé
fails 'an option without its argument' 2 '*-o needs a DIR
*' "$xformc" compile x -o
fails 'a long option without its argument' 2 '*--output needs a DIR
*' "$xformc" compile x --output
fails 'an option without its number' 2 '*-t needs an N
*' "$xformc" run x -t
fails 'an option with a value too many' 2 '*--json takes no value
*' "$xformc" run x --json=1
fails 'a control character is escaped' 2 '*unknown command ?a?x1b?2J?u0085?
*' "$xformc" "$(printf 'a\033[2J\302\205')"
fails 'bytes that are not text are escaped' 2 "*unexpected argument '?xff'
*" "$xformc" compile a "$(printf '\377')"
fails 'an empty spec name' 2 '*SPEC is empty
*' "$xformc" compile ''
for option in --output --cc; do fails "an empty $option" 2 "xformc: $option is empty" "$xformc" build x $option ''; done
# A command rejects the options that its help does not list.
for command in compile build pack run verify ops fields; do
    "$xformc" help $command -v | sed -n 's/^ .*--\([a-z]*\).*/\1/p' >"$scratch/own"
    for option in output=x engine=native cc=cc isa=native threads=1 slots=1 weights=file kernels=library taps input=X=f against=f from=f json dump=m quiet verbose beam=2; do
        if grep -qx "${option%%=*}" "$scratch/own"; then continue; fi
        "$xformc" $command "$scratch/none.lua" --$option 2>&1 | grep -q "^xformc: $command does not take --${option%%=*}; [a-z, ]* do\(es\)\{0,1\}$" || echo "$option"
    done >"$scratch/dropped"
    [ "$(wc -l <"$scratch/own")" -ge 2 ] && [ ! -s "$scratch/dropped" ]
    verdict $? "$command refuses the options that it does not read"
    cat "$scratch/dropped"
done
fails 'compile does not compare' 2 "xformc: compile does not take --against; verify does
xformc: try 'xformc compile --help'" "$xformc" compile specs/dates.lua --against x
fails 'build does not run' 2 '*build does not take --threads; run, verify, bench and tune do*' "$xformc" build specs/dates.lua -t 2
fails 'info runs nothing' 2 '*info does not take --engine; run, verify, attention and bench do*' "$xformc" info specs/dates.lua --engine generic
fails 'the jit takes no compiler' 2 '*--cc, --kernels and --unroll need native code*' "$xformc" run specs/dates.lua --engine jit --cc gcc x
fails 'the generic engine takes no compiler' 2 '*--cc, --kernels and --unroll need native code: the generic engine compiles nothing*' "$xformc" run specs/dates.lua --engine generic --cc gcc x
fails 'the jit takes no form of kernels' 2 '*--cc, --kernels and --unroll need native code*' "$xformc" verify specs/dates.lua --engine jit --kernels unrolled
fails 'ops takes no word' 2 "*unexpected argument 'extra'*" "$xformc" ops extra
fails 'a text for an xf.graph' 2 "error: 'hello': an xf.graph takes no text" "$xformc" run specs/self_attention.lua hello
fails 'an input for a model of texts' 2 '*only an xf.graph has named inputs*' "$xformc" run specs/dates.lua --input X=f x
fails 'a command without its spec' 2 '*run needs a SPEC*' "$xformc" run
fails 'a word too many' 2 "*unexpected argument 'b'*" "$xformc" compile a b
fails 'a misspelt engine' 2 '*expected native, jit or generic; did you mean *native*' "$xformc" run x --engine nativ
fails 'an unknown instruction set' 2 '*--isa sse: expected native, *portable*' "$xformc" build x --isa sse
# A row in the table of instruction sets adds a word to --help, to the message above, and to
# docs/cli.md.
sets=$(sed -n 's/^KERNEL_SET(\([^,]*\),.*/\1/p' runtime/kernels/simd/instruction_sets.def)
missing=
for set in $sets; do
    "$xformc" help build -v | grep -A 3 -e ' --isa=' | tr -s ' \n' ' ' | grep -q "native,.*[ ,]$set," && grep -q "^| .*\`$set\`" docs/cli.md || missing="$missing $set"
done
[ "$(echo $sets | wc -w)" -ge 4 ] && [ -z "$missing" ] || { echo "not named:$missing"; false; }
verdict $? 'every instruction set of the table is named by --help and docs/cli.md'
fails 'an unknown form of weights' 2 '*--weights embd: expected embed, file*' "$xformc" build x --weights embd
fails 'an unknown dump' 2 '*--dump z: expected letters*' "$xformc" compile x -d z
for bad in 0 17 -1 two 3x '' ' 2' +2; do fails "--threads '$bad'" 2 '*expected a whole number from 1 to 16' "$xformc" run x "--threads=$bad"; done
for bad in ,1 1,,2; do fails "--threads '$bad'" 2 "xformc: --threads $bad: a thread count is missing next to a comma" "$xformc" bench x "--threads=$bad"; done
for bad in 0 4097; do fails "--slots $bad" 2 '*expected a whole number from 1 to 4096' "$xformc" compile x --slots $bad; done
"$xformc" ops >"$scratch/out" && grep -qF 'g.input(name, {rows, columns}[, values]) -> x' "$scratch/out" && grep -qF 'g.matmul(x, w) -> y' "$scratch/out" &&
    tr -s ' \n' ' ' <"$scratch/out" | grep -q 'g.attention(.*{heads.*) -> out, weights, scores softmax' && ! grep -q '.\{81\}' "$scratch/out" && grep -q '^  attention(q' "$scratch/out" && ! grep -qF '(...)' "$scratch/out"
verdict $? 'ops lists the operations, each with its signature'
"$xformc" fields >"$scratch/out" && grep -q '^d_model  *integer  *model' "$scratch/out" && grep -A 2 '^norm_at  *word  *stack  *pre$' "$scratch/out" | grep -q '^    .*"pre" | "post"'
verdict $? 'fields lists the fields of a spec'
awk '{ gsub(/[\200-\277]/, "") } length($0) > 100 || (/^[a-z]/ && (NF != 4 || index($0, " " $2) != 34 || substr($0, 44) !~ /^ (model|stack|layer|scope)  [^ ]/)) { print; bad = 1 } END { exit bad || NR < 200 }' "$scratch/out"
verdict $? 'in columns, and 100 are enough'

# ---- files ---------------------------------------------------------------------------------------

fails 'a missing spec' 66 'error: cannot open *none.lua: No such file or directory' "$xformc" compile "$scratch/none.lua"
fails 'a model of the Hugging Face Hub' 66 'error: cannot open some/model: No such file or directory*note: xformc does not download models; get one with: hf download some/model --local-dir model' "$xformc" run some/model x
fails 'a folder as spec' 66 '*has no config.json*' "$xformc" run "$scratch"
: >"$scratch/empty.lua"
fails 'an empty spec' 65 '*error:*' "$xformc" compile "$scratch/empty.lua"
echo 'return xf.model { name = "x", d_model = 10, heads = 3, source_vocab = 5, target_vocab = 5, weights = "random" }' >"$scratch/bad.lua"
fails 'a spec that cannot be' 65 '*bad.lua:1:*: error: d_model (10) is not divisible by heads (3)
*^*' "$xformc" verify "$scratch/bad.lua"
: >"$scratch/file"
fails '-o is a file' 74 '*cannot create folder *File exists' "$xformc" compile specs/dates.lua -o "$scratch/file"
fails '-o below a file' 74 '*cannot create folder *' "$xformc" compile specs/dates.lua -o "$scratch/file/sub"
fails '-o in /proc' 74 '*cannot create folder /proc/nowhere*' "$xformc" compile specs/dates.lua -o /proc/nowhere
mkdir -p "$scratch/taken/dates.c"
fails 'a folder stands where a file goes' 74 '*error:*dates.c*' "$xformc" compile specs/dates.lua -q -o "$scratch/taken"
[ -z "$(find "$scratch/taken" -name '*.tmp*' -o -name '*XXXX*')" ] && ! ls "$scratch/taken" | grep -v '^runtime$' | grep -v '^dates'
verdict $? 'and nothing half written is left'

# A regular file that xformc did not write is never overwritten.
for file in Makefile dates.c dates.safetensors; do
    mkdir "$scratch/foreign.$file"
    echo 'all: of somebody else' >"$scratch/foreign.$file/$file"
    fails "a $file of somebody else stands there" 65 "error: *foreign.$file/$file was not written by xformc; choose another -o" "$xformc" compile specs/dates.lua -o "$scratch/foreign.$file"
    [ "$(cat "$scratch/foreign.$file/$file")" = 'all: of somebody else' ] && [ "$(ls "$scratch/foreign.$file")" = $file ]
    verdict $? 'and stays, alone'
done
mkdir "$scratch/weights" && cp specs/dates/dates.safetensors "$scratch/weights"
fails 'the weights of a spec stand there' 65 'error: *weights/dates.safetensors was not written by xformc; choose another -o' "$xformc" compile specs/dates.lua -o "$scratch/weights"
mkdir "$scratch/special" && mkfifo "$scratch/special/Makefile" "$scratch/special/dates.safetensors" && ln -s /dev/zero "$scratch/special/dates.c"
timeout "$patience" "$xformc" compile specs/dates.lua -q -o "$scratch/special" && for file in Makefile dates.c dates.safetensors; do
    [ -f "$scratch/special/$file" ] && [ ! -L "$scratch/special/$file" ] || exit 1; done
verdict $? 'pipes and devices in place of files are replaced'
mkfifo "$scratch/pipe.lua"
fails 'a pipe that nobody writes to as spec' 65 '*pipe.lua*error:*' timeout "$patience" "$xformc" compile "$scratch/pipe.lua"
# The pipe has a writer from the start. It writes once the reader is there and waits.
exec 3<>"$scratch/pipe.lua"
timeout "$patience" sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/id" \
    "$xformc" compile "$scratch/pipe.lua" -q -o "$scratch/piped" 3>&- &
reads_pipe() {
    [ -s "$scratch/id" ] && ls -l "/proc/$(cat "$scratch/id")/fd" 2>/dev/null | grep -q 'pipe\.lua$'
}
[ ! -e /proc/self/fd ] || await reads_pipe
cat specs/self_attention.lua >&3
exec 3>&-
wait $! && [ -e "$scratch/piped/self_attention.c" ]
verdict $? 'a spec from a pipe'
fails 'a pipe as numbers' 66 '*is not a regular file' timeout "$patience" "$xformc" run specs/self_attention.lua --input "X=$scratch/pipe.lua"
fails 'a device as spec' 65 '*too large*' timeout "$patience" "$xformc" compile /dev/zero
(ulimit -f 8; "$xformc" compile specs/dates.lua -o "$scratch/limited" 2>"$scratch/err")
[ $? = 74 ] && grep -q 'cannot write .*File too large' "$scratch/err" && [ -z "$(find "$scratch/limited" -name '.*' -type f)" ]
verdict $? 'a file size limit is a write error, and nothing half written is left'
cat "$scratch/err"

"$xformc" compile specs/dates.lua -o "$scratch/quiet" -q >"$scratch/out" 2>&1 && [ ! -s "$scratch/out" ]
verdict $? '-q says nothing'
(cd "$scratch" && "$xformc" compile "$top/specs/self_attention.lua" >"$scratch/out" 2>"$scratch/err") && [ -e "$scratch/self_attention/self_attention.c" ] &&
    [ ! -s "$scratch/out" ] && [ "$(cat "$scratch/err")" = 'self_attention: C for self_attention' ]
verdict $? 'without -o the folder has the name of the model'
"$xformc" compile specs/dates.lua -q -o "$scratch/quiet" -d c 2>"$scratch/err" && cmp "$scratch/err" "$scratch/quiet/dates.c"
verdict $? '-d c shows the C text'
"$xformc" compile specs/dates.lua -q -o "$scratch/quiet" -d m 2>"$scratch/err" && grep -q dates "$scratch/err"
verdict $? '-d m shows the model'

# Pictures and pages never replace a file of another kind, least of all the input.
cp specs/dates.lua "$scratch/mine.lua" && ln -s "$top/specs/dates" "$scratch/dates"
for command in 'bench -r 1 --seconds 0.01 -t 1 --engine jit -o' 'bench -r 1 --seconds 0.01 -t 1 --engine jit --report' 'attention 1/2/34 -o' 'info --memory' 'info --graph'; do
    set -- $command
    name=$1 && shift
    fails "$name writes over no spec" 65 '*mine.lua: error: not an *, so it was left unchanged' "$xformc" $name "$scratch/mine.lua" "$@" "$scratch/mine.lua"
    cmp -s specs/dates.lua "$scratch/mine.lua"
    verdict $? 'it is as before'
done
: >"$scratch/drawn.svg" && "$xformc" attention specs/dates.lua 1/2/34 -o "$scratch/drawn.svg" && cp "$scratch/drawn.svg" "$scratch/first.svg" &&
    "$xformc" attention specs/dates.lua 3/4/56 -o "$scratch/drawn.svg" && grep -q '^<svg' "$scratch/first.svg" && ! cmp -s "$scratch/first.svg" "$scratch/drawn.svg"
verdict $? 'an empty file and an older picture give way'
fails 'a chart and a page in one file' 2 '*--output and --report name the same file, *' "$xformc" bench specs/dates.lua -o "$scratch/one" --report "$scratch/one"

# C is never written into the model's own folder, however its name is spelt.
cp -r tests/families/gpt2 "$scratch/gpt"
before=$(ls "$scratch/gpt")
for output in '' '-o ./gpt/' "--output=$scratch/gpt"; do
    (cd "$scratch" && "$xformc" compile gpt $output) >"$scratch/out" 2>"$scratch/err"
    [ $? = 2 ] && grep -q "is the model's own folder; choose another with -o\$" "$scratch/err" && [ "$(ls "$scratch/gpt")" = "$before" ]
    verdict $? "compile into the model's own folder${output:+, ${output%"$scratch"*}}"
done

# ---- tools ---------------------------------------------------------------------------------------

one_line() { [ "$(wc -l <"$scratch/err")" = 1 ]; }
for command in build run verify; do
    fails "$command with a compiler that is not there" 69 "error: the C compiler 'nosuch' is not installed" "$xformc" $command specs/self_attention.lua $([ $command = build ] && echo "-q -o $scratch/b") --cc nosuch
    one_line
    verdict $? 'in one line'
    fails "$command with a compiler that fails" 69 '*error: false did not build *; see above' "$xformc" $command specs/self_attention.lua $([ $command = build ] && echo "-q -o $scratch/b") --cc false
done
fails 'a compiler with options' 69 "error: the C compiler 'cc -O2' is not installed
note: the whole value is used*" "$xformc" run specs/self_attention.lua --cc 'cc -O2'
printf '#!/bin/sh\nkill -KILL $$\n' >"$scratch/killed_cc" && chmod +x "$scratch/killed_cc"
fails 'a compiler that a signal ends' 69 "error: the C compiler '$scratch/killed_cc' was killed by signal 9" "$xformc" run specs/self_attention.lua --cc "$scratch/killed_cc"
printf '#!/bin/sh\nexit 0\n' >"$scratch/idle_cc" && chmod +x "$scratch/idle_cc"
fails 'a compiler that ends well and makes nothing' 69 "*error: $scratch/idle_cc did not build self_attention; see above" "$xformc" build specs/self_attention.lua -q -o "$scratch/idled" --cc "$scratch/idle_cc"
mkdir "$scratch/a b \$(c)#" && printf '#!/bin/sh\nexec cc "$@"\n' >"$scratch/a b \$(c)#/cc" && chmod +x "$scratch/a b \$(c)#/cc"
"$xformc" build specs/copy.lua -q -o "$scratch/blank" --cc "$scratch/a b \$(c)#/cc" >"$scratch/out" 2>&1 && [ -x "$scratch/blank/copy" ]
verdict $? 'a compiler in a folder with a blank, a dollar and brackets in its name'
# A compiler that works, but not on our text, means a bug of ours: 70. A make that does nothing: 69.
cat >"$scratch/picky" <<'END'
#!/bin/sh
for word; do case $word in *self_attention.c) echo 'picky: no' >&2; exit 1 ;; esac; done
exec cc "$@"
END
printf '#!/bin/sh\n' >"$scratch/nothing"
mkdir "$scratch/lazy"
cp "$scratch/nothing" "$scratch/lazy/make"
chmod +x "$scratch/picky" "$scratch/lazy/make"
fails 'a compiler that works, but not on our text' 70 '*picky: no*error: *picky works, but did not build *; see above' "$xformc" run specs/self_attention.lua --cc "$scratch/picky"
fails 'a make that does nothing' 69 'error: make succeeded but did not build *' env PATH="$scratch/lazy:$PATH" "$xformc" run specs/self_attention.lua --engine native
# A run is killed while make builds native code: the next run removes its folder, and no other.
mkdir "$scratch/deadly" "$scratch/tmp_left" && printf '#!/bin/sh\nkill -9 $PPID\n' >"$scratch/deadly/make" && chmod +x "$scratch/deadly/make"
(TMPDIR=$scratch/tmp_left PATH=$scratch/deadly:$PATH "$xformc" run specs/self_attention.lua --engine native >"$scratch/out" 2>&1) 2>"$scratch/err"
left=$(ls "$scratch/tmp_left") && space=${left#xformc-} && space=${space%%-*}
mkdir -m 700 "$scratch/tmp_left/xformc-mine" "$scratch/tmp_left/xformc-$space-$$-living" "$scratch/tmp_left/xformc-01234567-1-remote"
ls "$scratch/tmp_left" | grep -v "^$left\$" >"$scratch/wanted"
TMPDIR=$scratch/tmp_left PATH=$scratch/lazy:$PATH "$xformc" run specs/self_attention.lua --engine native >"$scratch/out" 2>&1
ls "$scratch/tmp_left" | diff - "$scratch/wanted" && [ -n "$left" ] && [ "$(wc -l <"$scratch/wanted")" = 3 ]
verdict $? 'a folder that a kill left is removed'
"$xformc" compile specs/self_attention.lua -q -o "$scratch/stale" && : >"$scratch/stale/self_attention" && touch -d '1 hour ago' "$scratch/stale/self_attention"
fails 'a make that leaves what is old' 69 'error: make succeeded but did not build self_attention' env PATH="$scratch/lazy:$PATH" "$xformc" build specs/self_attention.lua -o "$scratch/stale"
# A folder whose files are dated in the future, of a model that has changed since.
ahead() {
    printf 'return xf.model { name = "ahead", kind = "decoder", layers = 1, heads = 2, d_model = 16, d_ff = %s, vocab = 3000, max_target = 32, position = "none", weights = "random" }\n' "$1" >"$scratch/ahead.lua"
    "$xformc" build "$scratch/ahead.lua" -q -o "$scratch/ahead" && "$xformc" run "$scratch/ahead.lua" --ids -n 4 --temp 0 '7 8 9' >"$scratch/wanted_$1" &&
        "$scratch/ahead/ahead" --ids -n 4 --temp 0 '7 8 9' | diff "$scratch/wanted_$1" -
}
ahead 32 && find "$scratch/ahead" -type f -exec touch -d '2 days' {} + && ahead 48 && ! diff "$scratch/wanted_32" "$scratch/wanted_48" >/dev/null &&
    [ -z "$(find "$scratch/ahead" -newermt '1 day')" ]
verdict $? 'files dated in the future are built again'
printf 'all:;@echo not ours; exit 1\nself_attention:;@exit 1\n' >"$scratch/other.mk"
MAKEFILES=$scratch/other.mk MAKEFLAGS=n GNUMAKEFLAGS='CC=false' MFLAGS=-k MAKELEVEL=3 "$xformc" build specs/self_attention.lua -q -o "$scratch/flags" 2>"$scratch/err" &&
    "$scratch/flags/self_attention" >/dev/null && [ ! -s "$scratch/err" ] && ! ls -A "$scratch/flags" | grep '^\.'
verdict $? 'the settings of an outer make do not reach ours'
cat "$scratch/err"
cp "$scratch/flags/Makefile" "$scratch/Makefile" && sum=$(cksum <"$scratch/flags/self_attention.o") &&
    "$xformc" build specs/self_attention.lua -q -o "$scratch/flags" --isa portable && cmp "$scratch/flags/Makefile" "$scratch/Makefile" &&
    [ "$(cksum <"$scratch/flags/self_attention.o")" != "$sum" ]
verdict $? 'another --isa compiles anew, by the same Makefile'

# ---- signals -------------------------------------------------------------------------------------

# A compiler that sends a signal to xformc, whose process id is in a file, and would then run for a
# long time.
cat >"$scratch/slow" <<'END'
#!/bin/sh
here=$(dirname "$0")
case $1 in --version) exit ;; esac
echo $$ >>"$here/compilers"
: >half.o
kill -s "$(cat "$here/signal")" "$(cat "$here/id")"
sleep 1000
END
chmod +x "$scratch/slow"
# interrupted COMMAND SIGNAL STATUS: the command exits with STATUS and leaves nothing. Each call has
# a folder of its own, so that all can run at once.
interrupted() {
    own=$scratch/interrupted.$1.$2
    mkdir "$own" "$own/tmp" && cp "$scratch/slow" "$own" && echo "$2" >"$own/signal" && : >"$own/compilers"
    if [ "$1" = build ]; then set -- "$1" "$2" "$3" -q -o "$own/built"; fi
    TMPDIR=$own/tmp timeout "$patience" sh -c 'ulimit -c 0; echo $$ >"$1/id"; shift; exec "$@"' - "$own" \
        "$xformc" "$1" specs/self_attention.lua --cc "$own/slow" $(shift 3; echo "$@") >"$own/out" 2>"$own/err"
    found=$?
    alive=$(for id in $(cat "$own/compilers"); do if kill -0 "$id" 2>/dev/null; then echo "$id"; fi; done)
    [ $found = "$3" ] && [ -s "$own/compilers" ] && [ -z "$alive" ] && [ -z "$(ls -A "$own/tmp")" ] && [ ! -s "$own/out" ] &&
        [ -z "$(find "$own" -name '.xf-*')" ]
    verdict $? "SIG$2 during $1: the compiler is ended, nothing is left"
    echo "exit $found; alive: $alive; left: $(ls -A "$own/tmp")"
    cat "$own/err"
}
for signal in INT=130 TERM=143 HUP=129 QUIT=131; do
    for command in run verify build; do
        interrupted $command ${signal%=*} ${signal#*=} >"$scratch/interrupted.$command.$signal" &
    done
done
wait
cat "$scratch"/interrupted.*=*
mkdir "$scratch/idle"
# An idle run has no temporary files, and SIGTERM ends it.
mkfifo "$scratch/to" "$scratch/from"
TMPDIR=$scratch/idle timeout "$patience" sh -c 'echo $$ >"$1/id"; exec "$2" run specs/dates.lua' - "$scratch" "$xformc" <"$scratch/to" >"$scratch/from" 2>"$scratch/err" &
exec 3>"$scratch/to" 4<"$scratch/from"
echo '3rd of May 2019' >&3
read -r first <&4
left=$(ls -A "$scratch/idle")
echo '€' >&3
read -r second <&4
echo '2093-10-06' >&3
read -r third <&4
kill -s TERM "$(cat "$scratch/id")"
wait $!
[ $? = 143 ] && [ "$first,$second,$third" = '2019-05-03,,2093-10-06' ] && [ -z "$left" ] && [ -z "$(ls -A "$scratch/idle")" ] &&
    [ "$(cat "$scratch/err")" = "dates: line 2: '€' (U+20AC) at character 1 is not in the vocabulary" ]
verdict $? 'run answers each line as it comes, leaves no folder while it waits, and ends by SIGTERM'
echo "$first,$second,$third; left: $left"; cat "$scratch/err"
exec 3>&- 4<&-
{ "$xformc" run specs/dates.lua --engine generic <"$top/specs/dates/heldout.tsv" 2>"$scratch/err"; echo $? >"$scratch/code"; } | head -n 1 >/dev/null
[ "$(cat "$scratch/code")" = 141 ] && ! grep -q 'cannot write' "$scratch/err"
verdict $? 'a reader that goes away ends run'
# gone COMMAND...: SIGPIPE silently ends it if nobody reads its pipe. On a full device it reports an
# error.
mkfifo "$scratch/unread"
exec 4<>"$scratch/unread" 5>"$scratch/unread" 4<&-
gone() {
    "$@" >&5 2>"$scratch/err" </dev/null
    [ $? = 141 ] && [ ! -s "$scratch/err" ]
    verdict $? "nobody reads $(basename "$1") $2"
    cat "$scratch/err"
    [ -w /dev/full ] || return
    "$@" >/dev/full 2>"$scratch/err" </dev/null
    [ $? = 74 ] && grep -q 'cannot write to standard output: No space left on device' "$scratch/err"
    verdict $? "a full device for $(basename "$1") $2"
    cat "$scratch/err"
}
for words in fields ops --help --version 'info specs/dates.lua' 'info specs/dates.lua --lua' 'run specs/self_attention.lua' 'run --help' \
    'tokenize tests/tokenizer/llama2 text' 'verify specs/self_attention.lua --engine jit' 'bench specs/self_attention.lua --engine jit -r 1 -t 1 --seconds 0.01 --format csv' \
    'attention specs/self_attention.lua'; do
    gone "$xformc" $words
done
gone "$xformc" run specs/dates.lua --engine generic 3/5/19
"$xformc" fields 2>"$scratch/err" | head -n 1 | grep -q . && [ ! -s "$scratch/err" ]
verdict $? 'fields | head -1'

mkdir "$scratch/bin"
ln -s "$(command -v cc)" "$scratch/bin/cc"
fails 'no make on the PATH' 69 "error: the build tool 'make' is not installed" env PATH="$scratch/bin" "$xformc" run specs/self_attention.lua --engine native
PATH=/nowhere TMPDIR=/nowhere "$xformc" run specs/self_attention.lua >"$scratch/out" 2>"$scratch/err" && grep -q '^Z' "$scratch/out" && [ ! -s "$scratch/err" ]
verdict $? 'the jit needs no tool and no file'
fails 'TMPDIR is not there' 74 '*cannot create the temporary folder *' env TMPDIR="$scratch/none" "$xformc" run specs/self_attention.lua --engine native
mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp "$xformc" run specs/self_attention.lua --cc cc >/dev/null && TMPDIR=$scratch/tmp "$xformc" run specs/self_attention.lua --cc false >/dev/null 2>&1
[ -z "$(ls -A "$scratch/tmp")" ]
verdict $? 'no temporary folder is left'

# Every command that writes to standard output, in several forms. Commands that only write files
# are excepted by name.
printf 'print("a line")\n' >"$scratch/line.lua"
XFORMC_CACHE=on XDG_CACHE_HOME="$scratch/cache" "$xformc" run specs/self_attention.lua --engine native >/dev/null      # so that `cache` has an entry to list
cat >"$scratch/writers" <<END
--help
--version
ops
fields
cache
run specs/self_attention.lua --engine generic
run specs/dates.lua March --engine generic
run specs/dates.lua March --engine generic --json
run specs/dates.lua --ids 5 --engine generic
verify tests/goldens/one_head.lua --engine generic --json
verify tests/goldens/one_head.lua --engine jit
info specs/dates.lua
info specs/dates.lua --json
info specs/dates.lua --lua
info specs/dates.lua --code
info specs/dates.lua --graph -
info --families
attention specs/dates.lua March
attention specs/dates.lua March -o -
bench specs/dates.lua --engine generic -r 1 --seconds 0.01
bench specs/dates.lua --engine generic -r 1 --seconds 0.01 --json
tune specs/copy.lua -r 1 -t 1 --seconds 0.01 -o $scratch/full.tune.lua
repl
lua $scratch/line.lua
tokenize tests/tokenizer/gpt2 a
tokenize tests/tokenizer/gpt2 a --json
tokenize tests/tokenizer/gpt2 65 --decode
help
help run
version
END
while read -r line; do
    echo 'print(("a line"):rep(2000))' | XFORMC_CACHE=on XDG_CACHE_HOME="$scratch/cache" timeout "$patience" "$xformc" $line >/dev/full 2>"$scratch/err"
    code=$?
    [ "$code" = 74 ] && [ "$(grep -c 'No space left on device' "$scratch/err")" = 1 ]
    verdict $? "a full disk: $(echo "$line" | sed "s#$scratch/##")"
    echo "exit $code"; cat "$scratch/err"
done <"$scratch/writers"
missing=$("$xformc" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r word; do
    case $word in compile|build|pack) ;; *) grep -q "^$word" "$scratch/writers" || echo "$word" ;; esac; done)
[ -z "$missing" ]
verdict $? 'a full disk: no command is left out'

# A disk that fills while the compiler writes gives 74, even if the assembler or linker reports it
# or is killed.
if unshare -rm true 2>"$scratch/err"; then
    mkdir "$scratch/disk"
    quick_cc "$scratch/cc"
    for order in '1100 file' '1500 file' '1900 file' '6000 literal'; do
        size=${order% *}
        unshare -rm sh -c 'mount -t tmpfs -o size='$size'k none "$1" && mkdir "$1/tmp" &&
            TMPDIR=$1/tmp "$2" build specs/dates.lua -q --kernels unrolled --weights "$4" -o "$1/dates" --cc "$3"' \
            sh "$scratch/disk" "$xformc" "$scratch/cc" "${order#* }" >"$scratch/out" 2>"$scratch/err"
        [ $? = 74 ] && grep -q 'No space left on device' "$scratch/err"
        verdict $? "a disk of $size KB"
        tail -n 3 "$scratch/err"
    done
else
    skip 'a disk that fills' 'no file system can be mounted'
fi
echo "missing: $missing"

# ---- run: numbers --------------------------------------------------------------------------------

cat >"$scratch/numbers" <<'END'
W_Q [4, 3]
     1.00000    0.00000    1.00000
     1.00000    0.00000    0.00000
     0.00000    1.00000    0.00000
     0.00000    1.00000    1.00000
W_K [4, 3]
     0.00000    1.00000    1.00000
     1.00000    0.00000    1.00000
     0.00000    1.00000    0.00000
     1.00000    0.00000    0.00000
W_V [4, 3]
     0.00000    0.00000    1.00000
     1.00000    1.00000    0.00000
     0.00000    1.00000    0.00000
     1.00000    0.00000    1.00000
X [3, 4]
     1.00000    0.00000    1.00000    0.00000
     0.00000    2.00000    0.00000    2.00000
     1.00000    1.00000    1.00000    1.00000
Q [3, 3]
     1.00000    1.00000    1.00000
     2.00000    2.00000    2.00000
     2.00000    2.00000    2.00000
K [3, 3]
     0.00000    2.00000    1.00000
     4.00000    0.00000    2.00000
     2.00000    2.00000    2.00000
V [3, 3]
     0.00000    1.00000    1.00000
     4.00000    2.00000    2.00000
     2.00000    2.00000    2.00000
scores [1, 3, 3]
     3.00000    6.00000    6.00000
     6.00000   12.00000   12.00000
     6.00000   12.00000   12.00000
weights [1, 3, 3]
     0.08127    0.45936    0.45936
     0.01541    0.49230    0.49230
     0.01541    0.49230    0.49230
Z [3, 3]
     2.75619    1.91873    1.91873
     2.95377    1.98459    1.98459
     2.95377    1.98459    1.98459
END
tensors() { printf '%b' "\\$(printf %03o ${#1})\\0\\0\\0\\0\\0\\0\\0$1"; }      # the header of a safetensors file, of under 256 bytes
ones() { i=0; while [ $i -lt "$1" ]; do printf '\000\000\200\077'; i=$((i + 1)); done; }
{ tensors '{"X":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'; ones 12; } >"$scratch/ones"
{ tensors '{"X":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]}}'; ones 12; } >"$scratch/turned"
{ tensors '{"X":{"dtype":"I32","shape":[3,4],"data_offsets":[0,48]}}'; ones 12; } >"$scratch/integers"
{ tensors '{"Y":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'; ones 12; } >"$scratch/other"
{ tensors '{"X":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'; ones 11; } >"$scratch/cut"
for engine in native jit generic; do
    "$xformc" run specs/self_attention.lua --engine $engine | diff "$scratch/numbers" -
    verdict $? "run $engine prints the numbers of the worked example"
    # With rows of ones, all of Q, K and V are two, so Z equals V whatever the weights.
    "$xformc" run specs/self_attention.lua --engine $engine --input "X=$scratch/ones" >"$scratch/out" &&
        [ "$(grep -A 1 '^Q ' "$scratch/out" | tail -n 1 | tr -s ' ')" = ' 2.00000 2.00000 2.00000' ] &&
        [ "$(grep -A 1 '^Z ' "$scratch/out" | tail -n 1 | tr -s ' ')" = "$(grep -A 1 '^V ' "$scratch/out" | tail -n 1 | tr -s ' ')" ] &&
        [ "$(grep -A 1 '^weights ' "$scratch/out" | tail -n 1 | tr -s ' ')" = ' 0.33333 0.33333 0.33333' ]
    verdict $? "run $engine takes another X"
    [ "$("$xformc" run specs/dates.lua --engine $engine '3rd of May 2019' 2093-10-06)" = '2019-05-03
2093-10-06' ]
    verdict $? "run $engine answers texts"
    "$xformc" run specs/self_attention.lua --engine $engine --json >"$scratch/json" && "$tools/json_keys" run <"$scratch/json"
    verdict $? "run $engine --json"
done
fails '--input without a file' 2 '*--input X: expected NAME=FILE' "$xformc" run specs/self_attention.lua --input X
fails '--input of no input' 2 '*--input Q=f: the graph has no such input
*input X ?3, 4?' "$xformc" run specs/self_attention.lua --input Q=f
fails '--input from no file' 66 '*cannot open *' "$xformc" run specs/self_attention.lua --input "X=$scratch/none"
fails '--input of another shape' 65 '*turned: error: tensor ?X? must have shape ?3, 4? and dtype F32, F16, BF16 or F64' "$xformc" run specs/self_attention.lua --input "X=$scratch/turned"
fails '--input of integers' 65 '*integers: error: tensor ?X? must have shape ?3, 4? and dtype F32, F16, BF16 or F64' "$xformc" run specs/self_attention.lua --input "X=$scratch/integers"
fails '--input from a file without it' 65 '*other: error: no tensor is called ?X?' "$xformc" run specs/self_attention.lua --input "X=$scratch/other"
fails '--input from a cut file' 65 '*error:*' "$xformc" run specs/self_attention.lua --input "X=$scratch/cut"
fails '--input from a spec' 65 '*error:*' "$xformc" run specs/self_attention.lua --input X=specs/dates.lua

# Messages are those of the generated program; tests/program/run.sh has the same faults.
cat >"$scratch/messages" <<'END'
dates: line 2: empty; 1 to 80 characters fit
dates: line 4: '€' (U+20AC) at character 8 is not in the vocabulary
dates: line 5: U+001B at character 4 is not in the vocabulary
dates: line 6: not valid UTF-8 at byte 5
dates: line 7: 81 characters, but at most 80 fit
dates: line 8: a NUL at byte 4
END
{ printf '3rd of May 2019\n\n2093-10-06\r\n3rd of \342\202\254 2019\n3rd\033[2J\n3rd \342\202\n'; printf '%081d\n' 0; printf '3rd\000of May\n9/9/99'; } >"$scratch/lines"
"$xformc" run specs/dates.lua --engine generic <"$scratch/lines" >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && printf '2019-05-03\n\n2093-10-06\n\n\n\n\n\n1999-09-09\n' | cmp - "$scratch/out" && diff "$scratch/messages" "$scratch/err"
verdict $? 'run answers the lines of stdin, an empty line for each that is refused'
"$xformc" run specs/dates.lua --engine generic --json <"$scratch/lines" >"$scratch/json" 2>"$scratch/err"
[ $? = 65 ] && "$tools/json_keys" answers <"$scratch/json" && [ "$(grep -c '"answer":' "$scratch/json")" = 3 ] && [ ! -s "$scratch/err" ] &&
    sed -n 's/.*"error":"\(.*\)"}$/\1/p' "$scratch/json" >"$scratch/errors" && sed 's/^dates: line [0-9]: //' "$scratch/messages" | cmp - "$scratch/errors" &&
    grep -q '{"input":"9/9/99","input_ids":\[[0-9,]*\],"ids":\[[0-9,]*\],"answer":"1999-09-09","score":-[0-9.e-]*,"finished":true}' "$scratch/json" && grep -qF '"input":"3rd\u0000of May"' "$scratch/json"
verdict $? 'run --json answers each by an object, with the error of one that is refused'
cat "$scratch/json"
echo 2093-10-06 | "$xformc" run specs/dates.lua --engine generic "3rd of May 2019" "x€" - >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && printf '2019-05-03\n\n2093-10-06\n' | cmp - "$scratch/out" && [ "$(cat "$scratch/err")" = "dates: argument 2: '€' (U+20AC) at character 2 is not in the vocabulary" ]
verdict $? 'run answers arguments, and - is stdin among them'
"$xformc" run specs/dates.lua --engine generic <. >"$scratch/out" 2>"$scratch/err"
[ $? = 74 ] && grep -q '^dates: cannot read standard input: Is a directory$' "$scratch/err" && [ ! -s "$scratch/out" ]
verdict $? 'a folder as stdin'
"$xformc" run specs/dates.lua --engine generic <&- >"$scratch/out" 2>"$scratch/err"
[ $? = 74 ] && grep -q '^dates: cannot read standard input: ' "$scratch/err"
verdict $? 'no stdin'
"$xformc" run specs/dates.lua --engine generic 2093-10-06 >&- 2>"$scratch/err"
[ $? = 74 ] && [ "$(wc -l <"$scratch/err")" = 1 ]
verdict $? 'no stdout'
{ tensors '{"X":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'; ones 11; printf '\000\000\300\177'; } >"$scratch/nan"
"$xformc" run specs/self_attention.lua --engine generic --json --input "X=$scratch/nan" >"$scratch/json" && "$tools/json_keys" run <"$scratch/json" && grep -q null "$scratch/json"
verdict $? 'run --json says null for what is not a number'
"$xformc" run tests/goldens/awkward.lua --engine generic '3 x' '3 999' '' '3 4 5 6 7 8 9 10 11 12 3 4' >"$scratch/out" 2>"$scratch/err"
[ $? = 65 ] && printf '\n\n\n\n' | cmp - "$scratch/out" && diff - "$scratch/err" <<'END'
awkward: argument 1: the model has no tokenizer: pass token ids, such as 1 2 3; expected one at byte 3
awkward: argument 2: id 999 at position 2 is not in the vocabulary, 0 to 12
awkward: argument 3: empty; 1 to 11 ids fit
awkward: argument 4: 12 ids, but at most 11 fit
END
verdict $? 'run takes ids where there is no tokenizer'
"$xformc" run specs/dates.lua --engine generic -v '3rd of May 2019' 2>&1 >/dev/null | grep -q '^2019-05-03: sum of log-probabilities -0\.'
verdict $? 'run -v prints the sum of log-probabilities'

# ---- verify --------------------------------------------------------------------------------------

golden=tests/goldens/pre_layer
"$xformc" verify $golden.lua --cc cc --against $golden.ref.safetensors >"$scratch/out" 2>"$scratch/err" && grep -q 'all within tolerance' "$scratch/out" && [ ! -s "$scratch/err" ]
verdict $? 'verify --against agrees with the reference'
tail -n 3 "$scratch/out"
[ -z "$(tail -n +2 "$scratch/out" | grep -v '^verify:' | cut -d ' ' -f 1 | sort | uniq -d)" ] && [ "$(grep -c ' ok$' "$scratch/out")" -ge 20 ]
verdict $? 'verify has one row for each tensor'
"$xformc" verify specs/self_attention.lua --cc cc -v >"$scratch/out" && [ "$(grep -c '^Z ' "$scratch/out")" -ge 3 ]
verdict $? 'verify -v has them all'
"$xformc" verify $golden.lua --cc cc --json >"$scratch/json" 2>"$scratch/err" && "$tools/json_keys" verify <"$scratch/json" && grep -q '"generic"' "$scratch/json"
verdict $? 'verify --json has the keys'

# A copy of the model with one weight 1 % off.
mkdir "$scratch/off"
cp $golden.lua "$scratch/off"
for where in encoder.layers.1.feed_forward.w_2.weight=encoder.1.ffn decoder.layers.0.self_attn.linears.0.weight=decoder.0.self_attn.q; do
    "$tools/perturb" $golden.safetensors "$scratch/off/pre_layer.safetensors" "${where%=*}" 1.01 &&
        "$xformc" verify "$scratch/off/pre_layer.lua" --against $golden.ref.safetensors --engine jit >"$scratch/out" 2>"$scratch/err"
    [ $? = 1 ] && grep -q "^verify: first difference: ${where#*=} (jit against pre_layer.ref.safetensors): " "$scratch/out"
    verdict $? "verify finds 1 % in ${where%=*}"
    tail -n 2 "$scratch/out"
done
"$xformc" verify "$scratch/off/pre_layer.lua" --engine jit --against $golden.ref.safetensors --json >"$scratch/json" 2>"$scratch/err"
[ $? = 1 ] && "$tools/json_keys" verify <"$scratch/json" && grep -q 'first difference: decoder.0.self_attn.q' "$scratch/err"
verdict $? 'verify --json names it on stderr'
# Reported before anything is compiled: this compiler cannot compile.
fails 'verify against no file' 66 '*cannot open *' "$xformc" verify $golden.lua --cc nosuch --against "$scratch/none"
fails 'verify against a file of weights' 65 '*the file has no tensor "source"*' "$xformc" verify $golden.lua --cc nosuch --against $golden.safetensors
{ tensors '{"X":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]},"weihgts":{"dtype":"F32","shape":[1],"data_offsets":[48,52]},"W_Q":{"dtype":"F32","shape":[1],"data_offsets":[52,56]}}'; ones 14; } >"$scratch/misspelt"
"$xformc" verify specs/self_attention.lua --cc cc --against "$scratch/misspelt" >"$scratch/out" 2>"$scratch/err"
[ $? = 1 ] && grep -q "note: the model does not have 1 of the file's tensors: weihgts (did you mean weights?)$" "$scratch/err" &&
    grep -q '^verify: the model lacks 1 tensor of the reference; [0-9]* comparisons* within tolerance; largest' "$scratch/out"
verdict $? 'verify against a tensor that the model does not have'
cat "$scratch/err"
