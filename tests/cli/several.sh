#!/usr/bin/env bash
# Several devices in one process: the host and OpenCL together give what the host alone does, but for last digits. Building for
# OpenCL takes long: with ATTUNE_TEST_ALL=1 only. usage: several.sh BUILD; 77: skipped
set -u
attune=$1/attune
[[ -n ${ATTUNE_TEST_ALL:-} ]] || { echo "SKIPPED: takes long; ATTUNE_TEST_ALL=1 does it"; exit 77; }
"$attune" devices --device opencl >/dev/null 2>&1 || { echo "SKIPPED: no OpenCL"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
fail() { echo "FAILED: $*"; exit 1; }

given=(--models bcc --constant bcc=3.2 --noise 0.2 --efficiency 0.6 --background 0.02 --cutoff 6 --even --slabs 6)
"$attune" sample atoms -o s --size 3000 --grains 2 --seed 3 >/dev/null || fail "sample"
"$attune" lattice s/frame.pos "${given[@]}" --device host -o one.xyz >one.txt || fail "lattice on the host"
"$attune" lattice s/frame.pos "${given[@]}" --device host,opencl -o two.xyz >two.txt || fail "lattice on both"
paste -d' ' one.xyz two.xyz | awk 'NR > 2 {
    n = NF / 2
    for (k = 1; k <= 5; ++k) bad += $k != $(k + n) # name, place, structure
    d = $10 - $(10 + n)
    bad += d * d > 1e-4 # confidence
} END { exit bad > 0 }' || fail "lattice: both find something else"

"$attune" sample scans -o c --size 800 --seed 1 >/dev/null || fail "sample"
for k in 1 2 3 4 5 6; do echo "c/source.ply,c/source.ply,identity"; done >list.csv
"$attune" register --batch list.csv --device all >all.txt || fail "batch on all devices"
"$attune" register --batch list.csv --device opencl,host >both.txt || fail "batch on both"
[[ $(grep -c trusted both.txt) == 6 ]] || fail "batch: $(cat both.txt)"

# one pair, whose long steps they share
"$attune" sample scans -o d --size 6000 --seed 2 --turn 3 >/dev/null || fail "sample"
for d in host host,opencl; do
    "$attune" register d/source.ply d/target.ply --method icp --dense --init identity --device $d --matrix "m-$d" --verbose >"r-$d" 2>"v-$d" || fail "one pair on $d: $(cat "v-$d")"
done
grep -q 'other devices computed [1-9][0-9]* rows' "v-host,opencl" || fail "one pair: the other device did nothing"
paste m-host "m-host,opencl" | awk '{ for (k = 1; k <= 4; ++k) { d = $k - $(k + 4); bad += d * d > 1e-8 } } END { exit bad > 0 }' || fail "one pair: another pose"

# a stream: frames in their order, whoever had them; and an answer of either is the same to rounding
LC_ALL=C awk 'BEGIN { for (k = 0; k < 9; ++k) for (y = 0; y < 40; ++y) for (x = 0; x < 48; ++x) {
    z = 0.1 * k * x + 5 * exp(-((x - 20 - k) ^ 2 + (y - 20) ^ 2) / 90); printf "%c", int(256 * (z / 6.283185307 - int(z / 6.283185307))) } }' >frames.raw
for d in host host,opencl; do
    "$attune" unwrap - --stream --shape 40x48 --type u8 --cold --device $d -o "out-$d" <frames.raw >"lines-$d" || fail "stream on $d"
done
[[ $(cut -d: -f1 lines-host | head -9) == "$(cut -d: -f1 lines-host,opencl | head -9)" ]] || fail "stream: another order"
[[ $(cut -d, -f1 lines-host | head -9) == "$(cut -d, -f1 lines-host,opencl | head -9)" ]] || fail "stream: other residues"
[[ $(ls out-host) == "$(ls out-host,opencl)" ]] || fail "stream: other files"
"$attune" unwrap out-host/frame000001.tif --device host,opencl 2>err && fail "one image takes several devices"
grep -q 'a single image takes one device' err || fail "one image: $(cat err)"
echo "all as wanted"
