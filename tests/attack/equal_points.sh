# Points at one place, at a few places, or nearly all at one place: as fast as the places are few.
. "$(dirname "$0")/kit.sh"

points 200000 '1, 2, 3' >"$work/one.xyz"
points 200000 'k % 5, int(k / 5) % 3, int(k / 15) % 2' >"$work/sites.xyz"
points 200000 'k % 10 ? "1 2 3" : r() " " r() " " r() / 3' >"$work/ninety.xyz"

for method in em-icp icp icp-plane softassign cpd gicp; do
    refused "points coincide" "$attune" register "$work/one.xyz" "$work/one.xyz" --device host --method $method
done
refused "points coincide" "$attune" register "$work/one.xyz" "$work/one.xyz" --device host
expect 0 "$attune" register "$work/sites.xyz" "$work/sites.xyz" --device host
expect 0 "$attune" register "$work/ninety.xyz" "$work/ninety.xyz" --device host
expect 0 "$attune" lattice "$work/one.xyz" --device host
grep -q "^200000 atoms" "$work/out" || failed "atoms are missing"
expect 0 "$attune" lattice "$work/sites.xyz" --device host
expect 0 "$attune" needle "$work/sites.xyz" "$work/sites.xyz" --device host
echo "equal points are one point"
