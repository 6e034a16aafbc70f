#!/bin/sh
# What the shared library exports is what tests/abi/symbols.txt has: nothing of it may go within a minor version, and
# nothing of the inside may leak. usage: symbols.sh BUILD SOURCE; 77: skipped
set -eu
build=$1 golden=$2/tests/abi/symbols.txt
command -v nm >/dev/null || { echo "nm is not installed"; exit 77; }
now=$(mktemp)
trap 'rm -f "$now"' EXIT
nm -D --defined-only "$build/libattune.so" | awk '$2 != "A" {print $NF}' | LC_ALL=C sort >"$now"
if ! diff "$golden" "$now"; then
    echo "FAILED: the exported symbols changed. '<': gone, which breaks programs: raise the minor version."
    echo "'>': new; add it to tests/abi/symbols.txt, with its line in docs/changes-0.2.md or CHANGELOG.md."
    exit 1
fi
echo "$(wc -l <"$now") symbols"
