#!/bin/sh
# Every preset configures. What it needs and is not here (clang) is skipped aloud. usage: presets.sh SOURCE CMAKE
source=$1
cmake=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source" || exit 1
for preset in $("$cmake" --list-presets | sed -n 's/^ *"\([a-z]*\)".*/\1/p'); do
    case $preset in
    clang | fuzz)
        command -v clang >/dev/null 2>&1 || {
            echo "$preset: no clang here"
            continue
        }
        ;;
    esac
    if ! "$cmake" --preset "$preset" -B "$work/$preset" >"$work/out" 2>&1; then
        echo "FAILED: preset $preset does not configure"
        cat "$work/out"
        exit 1
    fi
done
echo "all presets configure"
