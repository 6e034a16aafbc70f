#!/bin/sh
# A reduction of everything, in one pass: an ICF on the algorithm. usage: run.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo "1 -1 7 -7" | "$build/examples/npy" write x.npy 4
"$build/attune" run "$here/spread.xml" --bind x=x.npy --out rms=rms.npy --out largest=largest.npy
rms=$("$build/examples/npy" read rms.npy)
largest=$("$build/examples/npy" read largest.npy)
echo "root mean square $rms, largest $largest"
[ "$rms $largest" = "5 7" ]
