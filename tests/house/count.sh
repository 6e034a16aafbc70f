#!/bin/sh
# tools/run-tests counts: cmocka programs by their tests, others by one, dead ones as failed. A made-up ctest writes the log.
# usage: count.sh RUN-TESTS
set -eu
run_tests=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/build/Testing/Temporary"
cat >"$work/bin/ctest" <<END
#!/bin/sh
[ -f "$work/next" ] && cp "$work/next" "$work/build/Testing/Temporary/LastTest.log"
exit \$(cat "$work/code")
END
chmod +x "$work/bin/ctest"

expect() { # $1: exit status, $2: last line
    code=0
    PATH="$work/bin:$PATH" "$run_tests" "$work/build" >"$work/out" 2>&1 || code=$?
    last=$(tail -n 1 "$work/out")
    [ "$code $last" = "$1 $2" ] || { echo "FAILED: exit $code, '$last'; wanted $1, '$2'"; exit 1; }
}
program() { # $1: number, $2: verdict; output on standard input
    printf '%s/9 Testing: p%s\nOutput:\n------\n' "$1" "$1"
    cat
    printf '<end of output>\nTest time = 1 sec\n------\n%s\n' "$2"
}

echo 0 >"$work/code"
{
    printf '[  PASSED  ] 10 test(s).\n' | program 1 "Test Passed."
    printf '[  PASSED  ] 4 test(s).\n[  SKIPPED ] 2 test(s), listed below:\n[  SKIPPED ] a\n' | program 2 "Test Passed."
    echo fine | program 3 "Test Passed."
} >"$work/next"
expect 0 "15 passed, 0 failed, 2 skipped"
echo 8 >"$work/code"
{
    printf '[  PASSED  ] 3 test(s).\n[  FAILED  ] 2 test(s), listed below:\n[  FAILED  ] b\n[  FAILED  ] c\n' |
        program 1 "Test Failed."
    printf '[ RUN      ] d\nSegmentation fault\n' | program 2 "Test Failed."
    printf '[  PASSED  ] 5 test(s).\nLeakSanitizer\n' | program 3 "Test Failed."
    printf 'still at it\n' | program 4 "Test Timeout."
} >"$work/next"
expect 1 "8 passed, 5 failed, 0 skipped"
rm "$work/next"
expect 1 "0 passed, 0 failed, 0 skipped"
echo 0 >"$work/code"
expect 1 "0 passed, 0 failed, 0 skipped"
echo "run-tests counts right"
