#!/usr/bin/env bash
# attune register --batch on several ranks: rows in order and the files of one process; a rank that is killed ends the run,
# and --resume goes on with what was done. usage: batch.sh BUILD; 77: skipped
set -u
build=$1
. "$(dirname "$0")/kit.sh"
attune=$build/attune
cd "$work" || exit 1
same=(--reproducible --init identity)

"$attune" sample scans -o s --size 400 --seed 1 >/dev/null || bad "sample"
{
    for k in 1 2 3 4 5 6 7; do echo "s/source.ply,s/source.ply,identity,,m$k.txt"; done
    echo "s/none.ply,s/target.ply"
} >list.csv
rows() { # without their seconds; $1: a table
    awk 'NR > 1 && $3 != "-" { $7 = "" } { print }' "$1"
}
told() { # $1: the folder of one run's files
    mkdir -p "$1" && mv m?.txt "$1" && rows "$1.txt" >"$1/rows"
}
"$attune" register --batch list.csv "${same[@]}" >one.txt 2>err && bad "a missing file is not a failure"
told one
for n in 2 4; do
    ranks $n "$attune" register --batch list.csv "${same[@]}" >"many$n.txt" && bad "$n ranks: a missing file is not a failure"
    grep -q '1 of 8 pairs failed, first s/none.ply onto' "$work/err" || bad "$n ranks: the failure is not told"
    told "many$n"
    diff -r one "many$n" || bad "$n ranks: something else"
done

# a rank dies at some time; what is done stays, the rest is done by the next run
ranks 1 "$attune" register --batch list.csv "${same[@]}" --resume done.log : \
    -n 1 bash -c '"$@" & sleep 0.3; kill -9 $!; wait $!' - "$attune" register --batch list.csv "${same[@]}" --resume done.log \
    >/dev/null
"$attune" register --batch list.csv "${same[@]}" --resume done.log >again.txt 2>err
grep -q '1 of 8 pairs failed' err || bad "not resumed: $(cat err)"
told again
diff -r one again || bad "resumed: something else"

# cut off anywhere, the journal has what is whole; all of it is done: nothing is registered again
head -c -5 done.log >cut.log
"$attune" register --batch list.csv "${same[@]}" --resume cut.log >cut.txt 2>err
rows cut.txt | cmp - one/rows || bad "a cut journal"
rm -f m?.txt
"$attune" register --batch list.csv "${same[@]}" --resume done.log >full.txt 2>err
cmp again.txt full.txt || bad "what is done is told as it was"
ls m?.txt 2>/dev/null && bad "what is done is done again"
cp done.log older.log
first=$(head -n 1 list.csv | cut -d, -f1)
touch "$first"
"$attune" register --batch list.csv "${same[@]}" --resume older.log >/dev/null 2>err && bad "a journal from before a cloud was changed is taken"
grep -q 'is not a journal of this list' err || bad "a journal from before a cloud was changed: $(cat err)"
"$attune" register --batch list.csv --init identity --resume done.log >/dev/null 2>err && bad "a journal of other options is taken"
grep -q 'is not a journal of this list' err || bad "a journal of other options: $(cat err)"
finish
