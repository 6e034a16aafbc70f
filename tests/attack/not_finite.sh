# Phases whose differences mean nothing: refused or not converged, with nothing written.
. "$(dirname "$0")/kit.sh"

expect 0 "$attune" sample fringes -o "$work/fringes" --size 64x64
for scale in 1e38 1e308 -1e30; do
    refused "radians" "$attune" unwrap "$work/fringes/wrapped.npy" --scale $scale -o "$work/out.npy" --preview "$work/out.png" --device host
    nothing_left "$work" 'out.npy*'
    nothing_left "$work" 'out.png*'
done
refused "^attune unwrap: not converged" "$attune" unwrap "$work/fringes/wrapped.npy" --method multigrid --cycles 1 --tolerance 1e-9 -o "$work/out.npy" --device host
nothing_left "$work" 'out.npy*'
expect 0 "$attune" unwrap "$work/fringes/wrapped.npy" -o "$work/out.npy" --device host
[[ -s $work/out.npy ]] || failed "no answer was written"
echo "what is not an answer is not written"
