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
finish
