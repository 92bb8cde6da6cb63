# begin.sh: sourced by suites that type at the prompt, with $pty, $xformc and $scratch.
# Without pseudo-terminals it ends the suite.
# libedit does not free the name of a function added to it. Our own code never calls wcsdup.
printf 'leak:wcsdup\n' >"$scratch/suppressions"
export LSAN_OPTIONS="suppressions=$scratch/suppressions:print_suppressions=0"
printf '? >\n> 1\n? 1\n> :quit\n' >"$scratch/script"
"$pty" "$scratch/script" "$xformc" repl >/dev/null
if [ $? = 77 ]; then
    echo 'skip the prompt on a terminal (no pseudo-terminals)'
    exit 0
fi
