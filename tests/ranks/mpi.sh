#!/usr/bin/env bash
# Several ranks under mpirun: what they do together, and in a program that has MPI running. usage: mpi.sh BUILD; 77: skipped
set -u
build=$1
. "$(dirname "$0")/kit.sh"

for n in 2 4; do
    ATTUNE_TEST_RANKS=$n ranks $n "$build/tests/test_ranks_ranks" || bad "test_ranks with $n ranks"
done
[[ -x $build/tests/ranks_caller ]] && { ranks 2 "$build/tests/ranks_caller" || bad "MPI initialised by the caller"; }
PMI_SIZE=1 ranks 1 "$build/attune" help >/dev/null || bad "one rank"

# wisdom of one rank alone: other variants, other last digits
cd "$work" || exit 1
export ATTUNE_WISDOM=$work/one.db
"$build/attune" tune dot --size x=512 --evals 1 >/dev/null 2>&1 || bad "tune"
"$build/attune" sample scans -o s --size 300 --seed 1 >/dev/null
pair=(s/source.ply s/target.ply)
ranks 2 "$build/attune" register "${pair[@]}" >/dev/null || bad "the same wisdom"
ranks 1 "$build/attune" register "${pair[@]}" : -n 1 -x ATTUNE_WISDOM="$work/other.db" "$build/attune" register "${pair[@]}" && bad "other wisdom is not a failure"
grep -q 'rank 1 has other wisdom than rank 0' "$work/err" || bad "other wisdom is not named"
finish
