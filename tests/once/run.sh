#!/bin/sh
# The caching compiler of the suites (programs/cc_once.c): it copies an object only if the compiler
# would make the same one, compiles again after any change, repeats errors and warnings, and passes
# on signals.
# usage: run.sh XFORMC
. tests/lib.sh
once=$(dirname "$xformc")/tests/once/cc_once
unset XFORMC_COMPILE_ANEW
real=$(command -v cc)
mkdir "$scratch/store" "$scratch/include"
cd "$scratch" || exit 74
# A compiler that counts its compilations.
cat >counts <<END
#!/bin/sh
case " \$* " in *' -E '*) ;; *) echo run >>"$scratch/runs" ;; esac
exec $real "\$@"
END
chmod +x counts
: >runs
# compiles N ARGUMENT...: run cc_once; the compiler itself must run N times.
compiles() {
    wanted=$1
    shift
    : >runs
    "$once" "$scratch/store" "$scratch/counts" "$@" 2>err
    code=$?
    found=$(wc -l <runs)
    [ "$found" -eq "$wanted" ] || { echo "$found compilations, expected $wanted: $*"; return 1; }
    return $code
}
tidy() { [ -z "$(find store -type f ! -name '*.o' ! -name '*.note')" ]; }

echo '#define NUMBER 7' >include/number.h
printf '#include "number.h"\nint number(int x);\nint number(int x) { return x * NUMBER + MORE; }\n' >a.c
flags='-std=c11 -Wall -Wextra -Werror -O2 -DMORE=1 -Iinclude'
$real $flags -MMD -MP -c -o real.o a.c && compiles 1 $flags -MMD -MP -c -o one.o a.c && cmp one.o real.o && compiles 0 $flags -MMD -MP -c -o two.o a.c &&
    cmp two.o real.o && sed 's/^two/one/' two.d | cmp - one.d && sed 's/^real/one/' real.d | cmp - one.d && tidy
verdict $? 'the second time the object and its dependencies are copied, to the byte'
compiles 0 $flags -c -o sub.o a.c && cmp sub.o real.o && [ ! -e sub.d ]
verdict $? 'without -MMD no dependencies are written'
# Count every run of the compiler, -E too.
printf '#!/bin/sh\necho run >>"%s/all"\nexec %s "$@"\n' "$scratch" "$real" >every && chmod +x every
listed() { : >all; "$once" "$scratch/store" "$scratch/every" $flags -MMD -MP -c -o "$1" a.c; wc -l <all | tr -d ' '; }
[ "$(listed n1.o)" = 2 ] && [ "$(listed n2.o)" = 0 ] && cmp n1.o n2.o && cmp n1.o real.o && sed 's/^n2/n1/' n2.d | cmp - n1.d && sed 's/^real/n1/' real.d | cmp - n1.d && tidy
verdict $? 'where a note says what it was made from, the text is not even preprocessed'
cp a.c first.c
echo '#define NUMBER 9' >include/number.h
[ "$(listed n3.o)" = 2 ] && ! cmp -s n3.o n1.o && echo '#define NUMBER 7' >include/number.h && [ "$(listed n4.o)" = 1 ] && cmp n4.o n1.o && [ "$(listed n5.o)" = 0 ]
verdict $? 'a header that changed is seen, and so is that it is as it was'
echo 'int more(void) { return 1; }' | sed 's/^/int more(void); /' >>a.c
[ "$(listed n6.o)" = 2 ] && ! cmp -s n6.o n1.o && cp first.c a.c && [ "$(listed n7.o)" = 0 ] && cmp n7.o n1.o
verdict $? 'a source that changed is seen'
compiles 1 $flags -O1 -c -o two.o a.c && compiles 1 $flags -UMORE -DMORE=2 -c -o two.o a.c
verdict $? 'other flags compile anew'
echo '#define NUMBER 8' >include/number.h
compiles 1 $flags -c -o two.o a.c && ! cmp -s two.o real.o
verdict $? 'another header compiles anew'
cp a.c b.c
compiles 1 $flags -c -o two.o b.c
verdict $? 'another name of the file compiles anew'
XFORMC_COMPILE_ANEW=1 compiles 1 $flags -c -o two.o a.c
verdict $? 'XFORMC_COMPILE_ANEW compiles anew'
compiles 1 $flags -g -c -o two.o a.c && compiles 1 $flags -g -c -o two.o a.c
verdict $? 'debug information, which holds the folder, is compiled anew'
printf 'int main(void) { return 0; }\n' >main.c
compiles 1 -o program main.c && ./program && compiles 1 -o program main.c && ./program
verdict $? 'what links is left to the compiler'

# Inputs that are not part of the preprocessed text.
printf first >bytes
printf '__asm__(".section .rodata\\n.global bytes\\nbytes: .incbin \\"bytes\\"\\n");\n' >w.c
compiles 1 -c -o w.o w.c && printf other >bytes && compiles 1 -c -o w2.o w.c && grep -q other w2.o
verdict $? 'what takes bytes from a file compiles anew'

# Errors and warnings are repeated every time.
printf 'int f(int x) { return y; }\n' >bad.c
compiles 1 -c -o bad.o bad.c; [ $? = 1 ] && grep -q "bad.c:1:.*'y' undeclared\|bad.c:1:.*identifier 'y'" err && compiles 1 -c -o bad.o bad.c; [ $? = 1 ] && [ ! -e bad.o ] && tidy
verdict $? 'an error is reported each time'
printf 'int f(void);\nint f(void) { int unused; return 1; }\n' >warns.c
compiles 1 -Wall -c -o warns.o warns.c && grep -q unused err && compiles 1 -Wall -c -o warns.o warns.c && grep -q unused err && tidy
verdict $? 'a warning is reported each time'
"$once" "$scratch/none" "$real" $flags -c -o two.o a.c 2>err && [ ! -s err ]
verdict $? 'without its folder it compiles'

# A signal reaches the compiler, and no partial result is kept.
printf '#!/bin/sh\ncase " $* " in *" -E "*) exec %s "$@" ;; esac\necho $$ >id\nexec sleep 1000\n' "$real" >sleeps && chmod +x sleeps
"$once" "$scratch/store" "$scratch/sleeps" $flags -c -o two.o a.c & pid=$!
await [ -s id ]
kill -TERM $pid
ended() { ! kill -0 "$(cat id)" 2>err; }
await ended
ended=$?
wait $pid
[ $? = 143 ] && [ $ended = 0 ] && tidy
verdict $? 'a signal ends the compiler'
