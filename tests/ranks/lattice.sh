#!/usr/bin/env bash
# attune lattice on several ranks: the bytes of one process; what one rank cannot open or write is the end of all, with one
# line and nothing left behind. usage: lattice.sh BUILD; 77: skipped
set -u
build=$1
. "$(dirname "$0")/kit.sh"
attune=$build/attune
given=(--models bcc --constant bcc=3.2 --noise 0.2 --efficiency 0.6 --background 0.02 --cutoff 5 --even)
said() { grep -q "^attune lattice: $1" "$work/err" || bad "$2"; }
left() { [[ -z $(find "$work" -name "$1*") ]] || bad "$1 is left behind"; }

"$attune" sample atoms -o "$work" --size 300 --grains 1 --seed 3 >/dev/null || bad "sample"
"$attune" lattice "$work/frame.pos" "${given[@]}" --slabs 3 -o "$work/one.xyz" >"$work/one.txt" || bad "one process"
# more ranks than slabs
ranks 4 "$attune" lattice "$work/frame.pos" "${given[@]}" --slabs 3 -o "$work/four.xyz" >"$work/four.txt" || bad "four ranks"
cmp "$work/one.xyz" "$work/four.xyz" || bad "four ranks write something else"
[[ $(sed 1d "$work/one.txt") == "$(sed 1d "$work/four.txt")" ]] || bad "four ranks tell something else"

# no atom, or one, for a rank
printf '2\n\nA 0 0 0\nA 1 1 1\n' >"$work/tiny.xyz"
"$attune" lattice "$work/tiny.xyz" "${given[@]}" -o "$work/one.pos" >/dev/null || bad "two atoms"
ranks 4 "$attune" lattice "$work/tiny.xyz" "${given[@]}" --slabs 1 -o "$work/four.pos" >/dev/null || bad "two atoms, four ranks"
cmp "$work/one.pos" "$work/four.pos" || bad "two atoms: something else"

# a file that one rank cannot open, and a disk that is full for one
ranks 1 "$attune" lattice "$work/frame.pos" "${given[@]}" -o "$work/bad.xyz" : \
    -n 1 "$attune" lattice "$work/none.pos" "${given[@]}" -o "$work/bad.xyz" && bad "a missing file is no failure"
said "rank 1: $work/none.pos: No such file" "a missing file is not named"
left bad.xyz
full=$build/tests/libranks_full.so
if [[ -e $full ]]; then
    ranks 1 "$attune" lattice "$work/tiny.xyz" "${given[@]}" -o "$work/full.xyz" : \
        -n 1 -x LD_PRELOAD="$full" "$attune" lattice "$work/tiny.xyz" "${given[@]}" -o "$work/full.xyz" &&
        bad "a full disk is no failure"
    said "rank 1: $work/full.xyz: No space left" "a full disk is not named"
    left full.xyz
fi
finish
