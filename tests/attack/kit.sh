# What every case of tests/attack shares. A case is tests/attack/NAME.sh, run as `bash NAME.sh BUILD`; it sources this,
# which gives it $attune, an empty folder $work that is removed in the end, and the functions below. The timeouts are
# far above what any of it takes: whoever runs into one hangs.
set -u
attune=$1/attune
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
export ATTUNE_CC=none # what is compiled in does, without a minute of compiling for each case
HARD_S=${ATTUNE_TEST_HARD_S:-120} # more under an emulator

failed() {
    echo "FAILED: $1"
    [[ -s $work/err ]] && echo "standard error: $(head -c 2000 "$work/err")"
    exit 1
}

# expect CODE COMMAND...: it ends with CODE; its output is in $work/out and $work/err.
expect() {
    local wanted=$1 code
    shift
    timeout -s KILL "$HARD_S" "$@" >"$work/out" 2>"$work/err"
    code=$?
    [[ $code == "$wanted" ]] || failed "$*: exit $code, wanted $wanted"
}

# refused PATTERN COMMAND...: exit 1 and one line, which matches.
refused() {
    local pattern=$1
    shift
    expect 1 "$@"
    [[ $(wc -l <"$work/err") == 1 ]] || failed "$*: not one line"
    grep -q -- "$pattern" "$work/err" || failed "$*: no '$pattern'"
}

# begin COMMAND...: in the background as $child, and waits until it minds its signals.
begin() {
    local caught
    "$@" >"$work/out" 2>"$work/err" &
    child=$!
    for ((k = 0; k < 1000; ++k)); do
        caught=$(awk '/^SigCgt:/ { print $2 }' "/proc/$child/status" 2>/dev/null)
        [[ -n $caught ]] && ((0x$caught & 2)) && return # SIGINT
        sleep 0.01
    done
    failed "$*: never began"
}

# finish: waits for $child; $code is how it ended, 137 after HARD_S.
finish() {
    local k
    for ((k = 0; k < HARD_S * 20; ++k)); do
        kill -0 "$child" 2>/dev/null || break
        sleep 0.05
    done
    kill -KILL "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    code=$?
}

# points COUNT PROGRAM: lines of three numbers, by an awk expression over k = 0 ...
points() { awk -v n="$1" 'function r() { return rand() - 0.5 } BEGIN { srand(1); for (k = 0; k < n; ++k) print '"$2"' }'; }

nothing_left() { # in folder $1, no name that matches $2
    local left
    left=$(find "$1" -name "$2" 2>/dev/null)
    [[ -z $left ]] || failed "left behind: $left"
}
