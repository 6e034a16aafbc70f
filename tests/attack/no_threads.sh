# No thread can be made, or only a few: work goes on with those there are.
. "$(dirname "$0")/kit.sh"
library=$1/tests/libattack_no_threads.so
[[ -f $library ]] || failed "$library is not built"

expect 0 "$attune" sample scans --size 2000 -o "$work/scans"
expect 0 "$attune" sample fringes --size 64x64 -o "$work/fringes"
expect 0 "$attune" sample atoms --size 500 -o "$work/atoms"
preload=LD_PRELOAD=$library
[[ -z $(env "$preload" true 2>&1) ]] || preload=QEMU_SET_ENV=$preload # of an emulated program, not of its emulator
few() { expect 0 env "$preload" ATTACK_THREADS="$@"; }
for most in 0 1 3; do
    few $most "$attune" devices --device host
    few $most "$attune" register "$work/scans/source.ply" "$work/scans/target.ply" --device host
    few $most "$attune" unwrap "$work/fringes/wrapped.npy" -o "$work/out.tif" --device host
    few $most "$attune" lattice "$work/atoms/frame.pos" --device host
done
refused "thread" env "$preload" "$attune" unwrap "$work/fringes" --stream --idle 1 --device host
echo "without threads it works too"
