#!/bin/sh
# A program of one's own, tuned by `attune tune --command`: threads and block size of a transposition. usage: run.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
program=${ATTUNE_PROGRAM:-$build/attune}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cc=$(command -v gcc || command -v clang || command -v cc)
"$cc" -O2 -fopenmp "$here/transpose.c" -o transpose 2>/dev/null || "$cc" -O2 "$here/transpose.c" -o transpose # without OpenMP: one thread
"$program" space "$here/transpose.lanai" --count
"$program" tune --command "OMP_NUM_THREADS={threads} ./transpose {block} 1024" --space "$here/transpose.lanai" \
    --time "transposed in {} us" --evals 12
"$program" tune --command "OMP_NUM_THREADS={threads} ./transpose {block} 1024" --space "$here/transpose.lanai" \
    --time "transposed in {} us" --evals 3 --json | grep -q '"best_s"'
"$program" space "$here/vector_add.lanai" --count | grep -qx 180
