#!/usr/bin/env bash
# attune tune on several ranks: as many candidates as one process tries, told once, and wisdom of the first rank alone.
# usage: tune.sh BUILD; 77: skipped
set -u
build=$1
. "$(dirname "$0")/kit.sh"
attune=$build/attune
cd "$work" || exit 1

given=(tune dot --size x=4096 --evals 6 --seed 3 --json)
field() { sed -n "s/.*\"$2\": \"\{0,1\}\([^\",]*\).*/\1/p" "$1" | head -1; }

ATTUNE_WISDOM=$work/one.db "$attune" "${given[@]}" >one.json 2>err || bad "one process: $(cat err)"
for n in 3; do
    # the others' wisdom would be in a file of their own
    ranks 1 -x ATTUNE_WISDOM="$work/first$n.db" "$attune" "${given[@]}" : \
        -n $((n - 1)) -x ATTUNE_WISDOM="$work/other$n.db" "$attune" "${given[@]}" >"many$n.json" || bad "$n ranks"
    [[ $(grep -c '"variant"' "many$n.json") == $(grep -c '"variant"' one.json) ]] || bad "$n ranks: not told once"
    [[ $(field "many$n.json" tried) == "$(field one.json tried)" ]] || bad "$n ranks: another number of candidates"
    [[ -e first$n.db && ! -e other$n.db ]] || bad "$n ranks: wisdom is not that of the first"
    ATTUNE_WISDOM=$work/first$n.db "$attune" wisdom list 2>err | grep -q dot || bad "$n ranks: no wisdom is there"
done
# a part of the space is no more than that, however many candidates are tried at once: 7 of 16
printf 'vec_q0 = (1, 2, 4, 8)\nregs_q0 = (1, 2)\nsplit_q0 = (1, 4)\n' >small.lanai
ranks 3 -x ATTUNE_WISDOM="$work/part.db" "$attune" tune dot --size x=4096 --space small.lanai --budget 40% --seed 3 --json >part.json || bad "a part of the space"
[[ $(field part.json tried) == 7 ]] || bad "40 % of 16 points: $(field part.json tried) were tried"

# a failure of the first rank, and of another one, ends all
ranks 2 "$attune" tune no-such-kernel && bad "no kernel is not a failure"
ranks 1 "$attune" "${given[@]}" --again : -n 1 -x ATTUNE_PROGRAM=/none/attune "$attune" "${given[@]}" --again && bad "no workers are no failure"
grep -q "rank 1: .*/none/attune" "$work/err" || bad "no workers: not said"
finish
