# A limit on the size of files (ulimit -f): a sentence instead of a signal, and no half of a file.
. "$(dirname "$0")/kit.sh"

expect 0 "$attune" sample scans --size 5000 -o "$work/scans"
expect 0 "$attune" sample fringes --size 64x64 -o "$work/fringes"
expect 0 "$attune" sample atoms --size 2000 -o "$work/atoms"
limited() { bash -c 'ulimit -f 4; exec "$@"' bash "$@"; }
export -f limited
big() { # $1: what would be written; then the command
    local file=$1
    shift
    refused "File too large" bash -c 'limited "$@"' bash "$@"
    nothing_left "$(dirname "$file")" "$(basename "$file")*"
}
big "$work/moved.ply" "$attune" register "$work/scans/source.ply" "$work/scans/target.ply" -o "$work/moved.ply" --device host
big "$work/page.html" "$attune" register "$work/scans/source.ply" "$work/scans/target.ply" --report "$work/page.html" --device host
big "$work/out.npy" "$attune" unwrap "$work/fringes/wrapped.npy" -o "$work/out.npy" --device host
big "$work/out.tif" "$attune" unwrap "$work/fringes/wrapped.npy" -o "$work/out.tif" --device host
big "$work/out.xyz" "$attune" lattice "$work/atoms/frame.pos" -o "$work/out.xyz" --device host
big "$work/more/source.ply" "$attune" sample scans --size 50000 -o "$work/more"
echo "files that are too large: $(cat "$work/err")"
