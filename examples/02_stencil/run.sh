#!/bin/sh
# One stencil under the four boundary modes. usage: run.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo "1 2 4 8 16" | "$build/examples/npy" write x.npy 5
while read -r edge wanted; do
    "$build/attune" run "$here/reach.xml" --define EDGE="$edge" --bind x=x.npy --out y=y.npy </dev/null
    y=$("$build/examples/npy" read y.npy)
    echo "$edge: $y"
    [ "$y" = "$wanted" ]
done <<END
clamp 5 9 17 18 20
zero 4 8 17 2 4
wrap 12 24 17 3 6
mirror 6 9 17 18 12
END
