#!/bin/sh
# The matrix-vector product as first printed (Listing 2), from the command line. usage: run.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo "1 2 3  4 5 6" | "$build/examples/npy" write A.npy 2x3
echo "1 10 100" | "$build/examples/npy" write b.npy 3
"$build/attune" run "$here/mv.xml" --define USED_FLOAT=SP --bind A=A.npy --bind b=b.npy --out c=c.npy
c=$("$build/examples/npy" read c.npy)
echo "c = $c"
[ "$c" = "321 654" ]
