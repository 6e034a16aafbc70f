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

# another version on one rank: the same program with another number in it
own=$("$build/attune" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)
other=${own%.*}.$(((${own##*.} + 1) % 10))
mkdir "$work/other"
for file in attune attune_mpi.so; do LC_ALL=C sed "s/${own//./\\.}/$other/g" "$build/$file" >"$work/other/$file"; done
chmod +x "$work/other/attune"
printf '2\n\nA 0 0 0\nA 1 1 1\n' >"$work/two.xyz"
mkdir "$work/elsewhere"
(cd "$work/elsewhere" && PATH=$build:$PATH ranks 2 attune lattice "$work/two.xyz") >/dev/null || bad "a program found along PATH"
ranks 1 "$build/attune" lattice "$work/two.xyz" : -n 1 "$work/other/attune" lattice "$work/two.xyz" && bad "another version is not a failure"
grep -q "rank 0 is attune $own, rank 1 is $other; all need the same" "$work/err" || bad "another version is not named"

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
