#!/usr/bin/env bash
# Scans, compactions and sorts on a CUDA device under NVIDIA's compute-sanitizer: nothing out of bounds, no races in local memory, nothing read that was not set.
# usage: sanitizer.sh FOLDER-OF-TEST-PROGRAMS
set -u
tests=$1
tool=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer) ||
    { echo "SKIPPED: compute-sanitizer is not installed"; exit 77; }
[[ -e /dev/nvidiactl ]] || { echo "SKIPPED: no CUDA device here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ATTUNE_TEST_DEVICE=cuda ATTUNE_TEST_SMALL=1 ATTUNE_TEST_CASES=20
for check in memcheck racecheck initcheck; do
    for program in test_kernel_look test_kernel_sort test_kernel_compact test_kernel_random_scans; do
        "$tool" --tool $check --error-exitcode 9 "$tests/$program" >"$work/out" 2>&1 || { tail -n 60 "$work/out"; echo "FAILED: $program under $check"; exit 1; }
    done
done
echo "compute-sanitizer finds nothing in scans, compactions and sorts"
