#!/bin/sh
# A sample, then its pose: from the command line, and from C, twice in a row. usage: run.sh [BUILD]
set -eu
build=${1:-build}
program=${ATTUNE_PROGRAM:-$build/attune}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
"$program" sample needle -o "$data" --size 64x512x256 --seed 3 >/dev/null
"$program" needle "$data/model.stl" "$data/scan"
"$build/examples/pose" "$data/model.stl" "$data/scan" "$data/scan"
