#!/usr/bin/env bash
# The shipped kernels, sorting by the shipped programs, and some of integers at their ends, under Oclgrind, which simulates an OpenCL device and watches every access: no races, nothing used
# that was not set, nothing out of bounds. Optimization is off: Oclgrind 21.10 does not know what LLVM makes of divisions
# (freeze). usage: oclgrind.sh FOLDER-OF-TEST-PROGRAMS
set -u
tests=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

# Our programs load libOpenCL themselves, so that the simulator comes in as a driver.
find_driver() {
    local bin folder
    bin=$(command -v oclgrind) || return 1
    for folder in "$(dirname "$(readlink -f "$bin")")"/../lib{,64}{,/*}; do
        [[ -f $folder/liboclgrind-rt-icd.so ]] && readlink -f "$folder/liboclgrind-rt-icd.so" && return
    done
    ldconfig -p 2>/dev/null | sed -n 's/.*liboclgrind-rt-icd\.so.* => //p' | grep -m 1 .
}
driver=$(find_driver) || { echo "SKIPPED: Oclgrind is not installed"; exit 77; }
machine() { od -An -tx1 -j18 -N2 "$1"; } # of a program or library (e_machine)
[[ $(machine "$driver") == $(machine "$tests/test_kernel_shipped") ]] ||
    { echo "SKIPPED: Oclgrind is not there for the architecture of the tests"; exit 77; }
mkdir "$work/icd"
echo "$driver" >"$work/icd/oclgrind.icd"

simulate() { # $@: variables and a program; what Oclgrind finds is then in $work/log, what the program says in $work/out
    rm -f "$work/log"
    env OCL_ICD_VENDORS="$work/icd" OCLGRIND_LOG="$work/log" OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1 \
        OCLGRIND_MAX_ERRORS=20 ATTUNE_OPENCL_FLAGS=-cl-opt-disable ATTUNE_TEST_DEVICE=opencl ATTUNE_TEST_SMALL=1 \
        "$@" >"$work/out" 2>&1
}
complain() { cat "$work/out"; head -n 60 "$work/log" 2>/dev/null; fail "$*"; }

simulate ATTUNE_TEST_PLANT=race "$tests/test_kernel_shipped" || complain "the planted race does not run"
grep -q "data race" "$work/log" || complain "a planted race is not found"
simulate ATTUNE_TEST_PLANT=uninitialized "$tests/test_kernel_shipped" || complain "the planted read does not run"
grep -q "Uninitialized value" "$work/log" || complain "a planted read of what was not set is not found"

export ATTUNE_TEST_CASES=12 # random kernels of integers
for program in test_kernel_integers_opencl test_kernel_in_place test_kernel_sort test_kernel_shipped; do
    simulate "$tests/$program" || complain "$program: wrong results"
    [[ ! -s $work/log ]] || complain "$program: Oclgrind has found something"
done
grep -q "on opencl: Oclgrind" "$work/out" || complain "this was not Oclgrind"
echo "Oclgrind finds what is planted and nothing else: $(sed -n 's/^ *\([0-9]* cases\)/\1/p' "$work/out")"
