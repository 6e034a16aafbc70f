# Points that are nearly at one place, or crowd at all scales: as fast as evenly spread ones, but for a small factor.
. "$(dirname "$0")/kit.sh"

points 100000 'rand() < 0.4 ? r() * 1e-9 " " r() * 1e-9 " " r() * 1e-9 : r() " " r() " " r() / 3' >"$work/crowd.xyz"
points 50000 'r() * 1e-9, r() * 1e-9, r() * 1e-9' >"$work/near.xyz"
points 30000 '(s = exp(-20 * rand())) * r(), s * r(), s * r()' >"$work/scales.xyz"
points 12000 '(s = rand() < 0.4 ? 0.5 : 50) * r(), s * r(), s * r()' >"$work/atoms.xyz"

for file in crowd near scales; do
    expect 0 "$attune" register "$work/$file.xyz" "$work/$file.xyz" --device host --method icp
done
expect 0 "$attune" register "$work/crowd.xyz" "$work/crowd.xyz" --device host --verbose
grep -q "crowded places" "$work/err" || failed "the crowd was not seen"
expect 0 "$attune" lattice "$work/atoms.xyz" --device host
awk '$1 == "other" && $2 > 11000 { found = 1 } END { exit !found }' "$work/out" || failed "a crowd has a lattice"
expect 0 "$attune" lattice "$work/near.xyz" --device host
echo "crowds are thinned out"
