# A stack of 64 kB (ulimit -s 64), for the process and for its threads: verbs work.
. "$(dirname "$0")/kit.sh"

expect 0 "$attune" sample scans --size 2000 -o "$work/scans"
expect 0 "$attune" sample fringes --size 64x64 -o "$work/fringes"
expect 0 "$attune" sample atoms --size 500 -o "$work/atoms"
small() { expect 0 bash -c 'ulimit -s 64; exec "$@"' bash "$@"; }
small "$attune" help
small "$attune" devices --device host
small "$attune" info "$work/scans/source.ply"
small "$attune" register "$work/scans/source.ply" "$work/scans/target.ply" --report "$work/page.html" --device host
small "$attune" unwrap "$work/fringes/wrapped.npy" -o "$work/out.tif" --preview "$work/out.png" --device host
small "$attune" lattice "$work/atoms/frame.pos" -o "$work/out.xyz" --device host
echo "64 kB of stack do"
