#!/usr/bin/env bash
# The program as a process: closed standard files, pipes that nobody reads, Ctrl-C. usage: process.sh BUILD
set -u
attune=$1/attune
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
expect() { # $1: wanted, $2: got, $3: what
    [[ $1 == "$2" ]] || { echo "FAILED: $3: exit $2, wanted $1: $(cat "$work/err")"; exit 1; }
}
one_line() { [[ $(wc -l <"$work/err") == 1 ]] || { echo "FAILED: $1: $(cat "$work/err")"; exit 1; }; }

"$attune" devices --device host >"$work/out" 2>"$work/err"
expect 0 $? "devices"
"$attune" help >&- 2>"$work/err"
expect 1 $? "closed standard output"
one_line "closed standard output"
"$attune" devices --device host >&- 2>"$work/err"
expect 1 $? "closed standard output, cache in use"
"$attune" nonsense >/dev/null 2>&-
expect 2 $? "closed standard error"
"$attune" devices --device host <&- >/dev/null 2>"$work/err"
expect 0 $? "closed standard input"
if [[ -w /dev/full ]]; then
    "$attune" devices --device host --json >/dev/full 2>"$work/err"
    expect 1 $? "full disk"
    one_line "full disk"
fi

# Into a pipe whose reader is gone: no failure, and not a word. More than a buffer, and a verb that fails for itself.
into_closed_pipe() { # $1: wanted exit status, $2: lines on standard error, $3...: arguments
    mkfifo "$work/pipe"
    exec 8<>"$work/pipe" 9>"$work/pipe" 8>&- # a writer without a reader
    "$attune" "${@:3}" >&9 2>"$work/err"
    expect "$1" $? "closed pipe: ${*:3}"
    exec 9>&-
    rm "$work/pipe"
    [[ $(wc -l <"$work/err") == "$2" ]] || { echo "FAILED: closed pipe: ${*:3}: $(cat "$work/err")"; exit 1; }
}
into_closed_pipe 0 0 help
into_closed_pipe 0 0 man
into_closed_pipe 0 0 show gemm --dialect c
into_closed_pipe 0 0 devices --device host --json
into_closed_pipe 1 1 show nonsense

# Streams end when their answers arrive nowhere, though more frames may come: the writer of the pipe stays.
"$attune" sample needle -o "$work/needle" >/dev/null || exit 1
mkdir "$work/frames"
cp -r "$work/needle/scan" "$work/frames/0001"
mkfifo "$work/camera"
exec 7<>"$work/camera"
for form in "" --json; do
    if [[ -w /dev/full ]]; then
        head -c 1024 /dev/zero >&7
        "$attune" unwrap - --stream --shape 16x16 $form --device host <&7 >/dev/full 2>"$work/err"
        expect 1 $? "a stream of phases to a full disk"
        one_line "a stream of phases to a full disk"
        grep -q "standard output could not be written" "$work/err" || { echo "FAILED: $(cat "$work/err")"; exit 1; }
        "$attune" needle "$work/needle/model.stl" "$work/frames" --stream $form --device host >/dev/full 2>"$work/err"
        expect 1 $? "a stream of needles to a full disk"
        one_line "a stream of needles to a full disk"
    fi
    head -c 1024 /dev/zero >&7
    into_closed_pipe 1 1 unwrap - --stream --shape 16x16 $form --device host <&7
    into_closed_pipe 1 1 needle "$work/needle/model.stl" "$work/frames" --stream $form --device host
done
exec 7>&-

# A list that nobody reads to its end stops; Ctrl-C ends it with a sentence.
printf 'x = range(100000)\ny = range(100000)\n' >"$work/large.lanai"
{ "$attune" space "$work/large.lanai" --list; echo $? >"$work/code"; } 2>"$work/err" | head -n 1 >"$work/out"
expect 0 "$(cat "$work/code")" "a list in a closed pipe"
one_line "a list in a closed pipe" # the warning that it is long
printf '@require\ndef f(x, y): return x * y != 7\n' | cat "$work/large.lanai" - >"$work/tangled.lanai" # counting takes long
{ "$attune" space "$work/tangled.lanai" --list; echo $? >"$work/code"; } 2>"$work/err" | head -n 1 >"$work/out"
expect 0 "$(cat "$work/code")" "a list that would take long to count"
grep -q "up to 10000000000 points are listed" "$work/err" || { echo "FAILED: $(cat "$work/err")"; exit 1; }
[[ $(cat "$work/out") == x=0,y=0 ]] || { echo "FAILED: first of a list: $(cat "$work/out")"; exit 1; }
rm "$work/err" # of before
"$attune" space "$work/large.lanai" --list >/dev/null 2>"$work/err" &
child=$!
for ((k = 0; k < 100; ++k)); do [[ -s $work/err ]] && break; sleep 0.05; done
kill -INT "$child"
wait "$child"
expect 1 $? "an interrupted list"
grep -q "^attune space: " "$work/err" || { echo "FAILED: $(cat "$work/err")"; exit 1; }

# Ctrl-C between two iterations.
"$attune" sample scans -o "$work/scans" --size 60000 >"$work/out" 2>"$work/err"
expect 0 $? "sample"
"$attune" register "$work/scans/source.ply" "$work/scans/target.ply" --device host --dense --precision 64 \
    --iterations 100000 >"$work/out" 2>"$work/err" &
child=$!
sleep 2
kill -INT "$child"
wait "$child"
expect 1 $? "an interrupted registration"
one_line "an interrupted registration"
grep -q "^attune register: .*stopped" "$work/err" || { echo "FAILED: $(cat "$work/err")"; exit 1; }

# Ctrl-C while a compiler hangs: the run ends with 1 and a sentence.
printf '#!/bin/sh\necho "cc 1.0"\ncase "$*" in *--version*) ;; *) exec sleep 1000 ;; esac\n' >"$work/cc"
chmod +x "$work/cc"
rm -rf "$work/cache"
ATTUNE_CC=$work/cc "$attune" devices --device host >"$work/out" 2>"$work/err" &
child=$!
for ((k = 0; k < 100; ++k)); do # until it has begun to build
    compgen -G "$work/cache/attune/work-*" >/dev/null && break
    sleep 0.1
done
kill -INT "$child"
wait "$child"
expect 1 $? "interrupted"
one_line "interrupted"
compgen -G "$work/cache/attune/work-*" && { echo "FAILED: a work folder is left behind"; exit 1; }
grep -q "^attune devices: " "$work/err" || { echo "FAILED: $(cat "$work/err")"; exit 1; }
echo "the process behaves: $(cat "$work/err")"
