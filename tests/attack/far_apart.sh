# Points so far apart, or constants so small, that cells cannot be counted: refused, at once, wherever cells are made.
. "$(dirname "$0")/kit.sh"

printf '1e308 0 0\n-1e308 0 0\n0 1 1\n' >"$work/three.xyz"
refused "too far apart" "$attune" lattice "$work/three.xyz" --device host
refused "too large" "$attune" register "$work/three.xyz" "$work/three.xyz" --device host
refused "" "$attune" register "$work/three.xyz" "$work/three.xyz" --device host --init identity
refused "too short for coordinates" "$attune" needle "$work/three.xyz" "$work/three.xyz" --device host
expect 0 "$attune" info "$work/three.xyz"

{ points 200 'r(), r(), r()'; echo 1e30 0 0; } >"$work/one.xyz"
refused "too far apart" "$attune" lattice "$work/one.xyz" --device host
refused "too far apart" "$attune" needle "$work/one.xyz" "$work/one.xyz" --device host
for start in auto identity; do # to itself it fits without the far one, which is named
    expect 0 "$attune" register "$work/one.xyz" "$work/one.xyz" --device host --init $start
    grep -q "1 of 201 points of the target are far from all others" "$work/err" || failed "left out without a word"
done

# Within bounds an atom far away costs nothing: the cells between are not made.
{ points 3000 'k % 15 * 3, int(k / 15) % 15 * 3, int(k / 225) * 3'; echo 900000 900000 900000; } >"$work/frame.xyz"
expect 0 "$attune" lattice "$work/frame.xyz" --device host

printf '3\n\nFe 0 0 0\nFe 1 0 0\nFe 0 1 1\n' >"$work/set.xyz"
for constant in 1e-9 1e-2; do
    refused "sites within" "$attune" lattice "$work/set.xyz" --frames --constant bcc=$constant --device host
done
echo "points far apart are refused: $(cat "$work/err")"
