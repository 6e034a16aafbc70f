#!/bin/sh
# Conjugate gradients as a program of kernels: from the command line, its plan, and from C. usage: run.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
program=${ATTUNE_PROGRAM:-$build/attune}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# 2 x 3 unknowns; the solution is 1 2 3, 4 5 6
echo "-2 -1 4  10 8 16" | "$build/examples/npy" write b.npy 2x3
echo "0 0 0  0 0 0" | "$build/examples/npy" write zero.npy 2x3
"$program" check "$here/cg.atn"
"$program" run "$here/cg.atn" --bind b=b.npy --bind x=zero.npy --out x=x.npy --out rounds=rounds.npy
"$program" run "$here/cg.atn" --bind b=b.npy --bind x=zero.npy --out x=oracle.npy --oracle
"$program" show "$here/cg.atn" --plan --size b=2x3 --size x=2x3
for file in x.npy oracle.npy; do
    x=$("$build/examples/npy" read $file)
    echo "x = $x"
    for value in $x; do printf '%.3f ' "$value"; done | grep -qx '1.000 2.000 3.000 4.000 5.000 6.000 '
done
"$build/examples/cg" "$here/cg.atn"
