#!/bin/sh
# tools/run-tests counts: cmocka programs by their tests, others by one, dead ones as failed. A made-up ctest shows
# and logs what the real one would. usage: count.sh RUN-TESTS
set -eu
run_tests=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/build/Testing/Temporary"
cat >"$work/bin/ctest" <<END
#!/bin/sh
echo "\${TMPDIR:?}" >"$work/tempdir"
mkdir "\$TMPDIR/left" # by a test that was killed
cat "$work/shown"
[ -f "$work/log" ] && cp "$work/log" "$work/build/Testing/Temporary/LastTest.log"
exit \$(cat "$work/code")
END
chmod +x "$work/bin/ctest"

begin() { # $1: ctest's exit status
    echo "$1" >"$work/code"
    echo "Test project" >"$work/shown"
    rm -f "$work/log"
}
program() { # $1: number, $2: verdict; its output comes on standard input
    printf ' %s/12 Test  #%s: folder/p%s ..........%s    0.02 sec\n' "$1" "$1" "$1" "$2" >>"$work/shown"
    # the log says "Passed" of programs that never ran, too
    { printf '%s/12 Testing: folder/p%s\nOutput:\n' "$1" "$1"; cat; printf '<end of output>\nTest Passed.\n'; } >>"$work/log"
}
expect() { # $1: exit status, $2: last line
    code=0
    PATH="$work/bin:$PATH" "$run_tests" "$work/build" >"$work/out" 2>&1 || code=$?
    last=$(tail -n 1 "$work/out")
    [ ! -e "$(cat "$work/tempdir")" ] || { echo "FAILED: $(cat "$work/tempdir") is left behind"; exit 1; }
    [ "$code $last" = "$1 $2" ] || { echo "FAILED: exit $code, '$last'; wanted $1, '$2'"; exit 1; }
}

begin 0
printf '[  PASSED  ] 10 test(s).\n' | program 1 "   Passed"
printf '[  PASSED  ] 4 test(s).\n[  SKIPPED ] 2 test(s), listed below:\n[  SKIPPED ] a\n' | program 2 "   Passed"
echo fine | program 3 "   Passed"
echo 'no device' | program 4 "***Skipped"
program 5 "***Not Run (Disabled)" </dev/null
expect 0 "15 passed, 0 failed, 4 skipped"

begin 8
printf '[  PASSED  ] 3 test(s).\n[  FAILED  ] 2 test(s), listed below:\n[  FAILED  ] b\n[  FAILED  ] c\n' |
    program 1 "***Failed"
printf '[ RUN      ] d\n' | program 2 "***Exception: SegFault"
printf '[  PASSED  ] 5 test(s).\nLeakSanitizer\n' | program 3 "***Failed"
printf 'still at it\n' | program 10 "***Timeout"
program 11 "***Not Run" </dev/null
expect 1 "8 passed, 6 failed, 0 skipped"

begin 8
expect 1 "0 passed, 0 failed, 0 skipped"
begin 0
expect 1 "0 passed, 0 failed, 0 skipped"
echo "run-tests counts right"
