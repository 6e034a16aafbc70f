#!/usr/bin/env bash
# bench/ranks, which measures how lattice scales: it prints its rows, compares what was written, and tells what fails.
# usage: scale.sh BUILD; 77: skipped
set -u
build=$1
. "$(dirname "$0")/kit.sh"
scale=$(dirname "$0")/../../bench/ranks
export ATTUNE=$build/attune TMPDIR=$work
given=(--ranks 2 --rounds 1 --mpirun "mpirun --bind-to none")

"$scale" "${given[@]}" --atoms 600 --model >"$work/out" 2>"$work/err" || bad "one round of two ranks"
grep -q '^600 atoms, 12 slabs' "$work/out" || bad "the frame and its slabs are not named"
for row in '1 rank | 1' '2 ranks | 2' '2 processes at once | 2'; do
    grep -qE "^\| $row \| [0-9.]+ to [0-9.]+ \| [0-9.]+ \|" "$work/out" || bad "no row '$row'"
done
values=$(grep -o -- '--set .*' "$work/out")
# shellcheck disable=SC2086 # words are options
"$(dirname "$0")/../../bench/cluster-model" $values --atoms 1e6 >/dev/null 2>"$work/err" || bad "what it prints is not what the model takes"

"$scale" "${given[@]}" --frame "$work/none.pos" >"$work/out" 2>"$work/err" && bad "a missing frame is not a failure"
grep -q 'none.pos: No such file' "$work/err" || bad "a missing frame is not named"
ATTUNE_RANKS=alone "$scale" "${given[@]}" --atoms 300 >"$work/out" 2>"$work/err" && bad "ranks that work alone are not noticed"
grep -q 'ran 1 ranks: is attune built with this MPI' "$work/err" || bad "ranks that work alone are not named"
[[ -z $(find "$work" -mindepth 1 -name 'tmp*') ]] || bad "files are left behind"
finish
