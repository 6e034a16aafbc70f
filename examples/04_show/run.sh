#!/bin/sh
# The code that is generated: one description, three dialects, a few variants. usage: run.sh [BUILD]
set -eu
kernels=$(cd "$(dirname "$0")/../../kernels" && pwd)
build=$(cd "${1:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

show() { "$build/attune" show "$kernels/gemm.atn" --define USED_FLOAT=SP "$@"; }
tiled=lanes_p0=16,lanes_p1=16,regs_p0=8,regs_p1=8,pack_p0=4,pack_p1=4,tile_q0=8,unroll_q0=8,stage=1,stage_swap=2

show --dialect cuda --variant lanes_p0=64 >"$work/plain.cu" # an item, an element
show --dialect cuda --variant "$tiled" >"$work/tiled.cu"    # 8 x 8 elements an item, from tiles in shared memory
show --dialect opencl --variant "$tiled" >"$work/tiled.cl"
show --dialect c --variant vec_p0=8,regs_p0=2,regs_p1=6,tile_q0=256,stage=1 >"$work/packed.c"

(cd "$work" && wc -l ./*)
grep -m 4 "__shared__.*float\|for (adr sum" "$work/tiled.cu"
if grep -q "__shared__.*tile0_A" "$work/plain.cu"; then exit 1; fi
grep -q "__shared__.*tile0_A" "$work/tiled.cu"
grep -q "__local.*tile0_A" "$work/tiled.cl"
grep -q "call->next(" "$work/packed.c"
