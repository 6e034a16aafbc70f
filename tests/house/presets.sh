#!/bin/sh
# The presets that no other test is configured with configure: those of sanitizers, whose lists have commas. Without
# clang its own is skipped aloud. usage: presets.sh SOURCE CMAKE
source=$1
cmake=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source" || exit 1
for preset in asan fuzz; do
    if [ $preset = fuzz ] && ! command -v clang >/dev/null 2>&1; then
        echo "fuzz: no clang here"
        continue
    fi
    if ! "$cmake" --preset "$preset" -B "$work/$preset" >"$work/out" 2>&1; then
        echo "FAILED: preset $preset does not configure"
        cat "$work/out"
        exit 1
    fi
done
echo "presets configure"
