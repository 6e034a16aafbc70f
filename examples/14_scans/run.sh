#!/bin/sh
# Views of one thing in unknown poses, and a distractor, brought together by scans.c. usage: run.sh [BUILD]
set -eu
build=$(cd "${1:-build}" && pwd)
program=${ATTUNE_PROGRAM:-$build/attune}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" sample scans -o "$work" --views 8 --distractor --size 3000 --seed 2
"$build/examples/scans" "$work"/scan*.ply | tee "$work/said"
grep -q "scan08.ply: left out, fits no other scan" "$work/said"
[ "$(grep -c ': at ' "$work/said")" = 8 ]
