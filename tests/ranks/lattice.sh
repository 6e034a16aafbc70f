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
# but for the time and the peak of memory
[[ $(sed 1,2d "$work/one.txt") == "$(sed 1,2d "$work/four.txt")" ]] || bad "four ranks tell something else"

# more slabs than ranks: each has some of different parts of the frame
"$attune" lattice "$work/frame.pos" "${given[@]}" --slabs 11 -o "$work/one.pos" >/dev/null || bad "eleven slabs"
ranks 3 "$attune" lattice "$work/frame.pos" "${given[@]}" --slabs 11 -o "$work/three.pos" >/dev/null || bad "eleven slabs, three ranks"
cmp "$work/one.pos" "$work/three.pos" || bad "three ranks write something else"

# no atom, or one, for a rank
printf '2\n\nA 0 0 0\nA 1 1 1\n' >"$work/tiny.xyz"
"$attune" lattice "$work/tiny.xyz" "${given[@]}" -o "$work/one.pos" >/dev/null || bad "two atoms"
ranks 4 "$attune" lattice "$work/tiny.xyz" "${given[@]}" --slabs 1 -o "$work/four.pos" >/dev/null || bad "two atoms, four ranks"
cmp "$work/one.pos" "$work/four.pos" || bad "two atoms: something else"

# settings that are learned: by all, and by more ranks than frames that calibrate confidences, while the others match
"$attune" sample atoms -o "$work/grains" --size 3000 --grains 2 --efficiency 0.6 --noise 0.2 --seed 4 >/dev/null || bad "sample of grains"
"$attune" lattice "$work/grains/frame.pos" --slabs 4 -o "$work/one.xyz.learned" >/dev/null || bad "learned by one process"
for n in 2 5; do
    ranks $n "$attune" lattice "$work/grains/frame.pos" --slabs 4 -o "$work/ranks.xyz.learned" >/dev/null || bad "learned by $n ranks"
    cmp "$work/one.xyz.learned" "$work/ranks.xyz.learned" || bad "$n ranks that learn write something else"
done

# without --slabs, ranks have other slabs than one process, but the same settings
"$attune" lattice "$work/grains/frame.pos" >"$work/one.txt" || bad "settings of one process"
ranks 2 "$attune" lattice "$work/grains/frame.pos" >"$work/two.txt" || bad "settings of two ranks"
[[ $(tail -n 1 "$work/one.txt") == cut-off* && $(tail -n 1 "$work/one.txt") == "$(tail -n 1 "$work/two.txt")" ]] || bad "two ranks have other settings"

# a file that one rank cannot open, and a disk that is full for one
ranks 1 "$attune" lattice "$work/frame.pos" "${given[@]}" -o "$work/bad.xyz" : \
    -n 1 "$attune" lattice "$work/none.pos" "${given[@]}" -o "$work/bad.xyz" && bad "a missing file is not a failure"
said "rank 1: $work/none.pos: No such file" "a missing file is not named"
left bad.xyz

# ranks that were asked for different things, or have different files of one name
ranks 1 "$attune" lattice "$work/frame.pos" "${given[@]}" -o "$work/bad.xyz" : \
    -n 1 "$attune" lattice "$work/frame.pos" "${given[@]}" --slabs 5 -o "$work/bad.xyz" && bad "options that differ are taken"
said "rank 0: rank 1 has other options than rank 0" "options that differ: not said"
ranks 1 "$attune" lattice "$work/frame.pos" "${given[@]}" -o "$work/bad.xyz" : \
    -n 1 "$attune" lattice "$work/grains/frame.pos" "${given[@]}" -o "$work/bad.xyz" && bad "files that differ are taken"
said "rank 0: $work/frame.pos: rank 1 has another file" "files that differ: not said"
left bad.xyz

# species: what is ordered is the same on all, wherever a slab is matched; names of atoms are those of the file
awk 'BEGIN { srand(7); n = 0
    for (c = 0; c < 24 * 8 * 8; ++c) for (s = 0; s < 2; ++s) {
        if (rand() < 0.3) continue
        x = c % 24 + s / 2
        second = x < 12 ? s : rand() < 0.5
        row[n++] = sprintf("%s %.4f %.4f %.4f", second ? "Ni" : "Al", 2.88 * x, 2.88 * (int(c / 24) % 8 + s / 2), 2.88 * (int(c / 192) + s / 2)) }
    printf "%d\n\n", n; for (k = 0; k < n; ++k) print row[k] }' >"$work/b2.xyz"
"$attune" lattice "$work/b2.xyz" --models bcc,B2 --slabs 6 -o "$work/one.xyz.b2" >/dev/null || bad "B2"
ranks 3 "$attune" lattice "$work/b2.xyz" --models bcc,B2 --slabs 6 -o "$work/three.xyz.b2" >/dev/null || bad "B2 on three ranks"
cmp "$work/one.xyz.b2" "$work/three.xyz.b2" || bad "B2 on three ranks: something else"
[[ $(awk 'NR > 2 { print $1 }' "$work/one.xyz.b2" | sort -u | paste -sd' ') == "Al Ni" ]] || bad "names of atoms are lost"

full=$build/tests/libranks_full.so
if [[ -e $full ]]; then
    ranks 1 "$attune" lattice "$work/tiny.xyz" "${given[@]}" -o "$work/full.xyz" : \
        -n 1 -x LD_PRELOAD="$full" "$attune" lattice "$work/tiny.xyz" "${given[@]}" -o "$work/full.xyz" &&
        bad "a full disk is not a failure"
    said "rank 1: $work/full.xyz: No space left" "a full disk is not named"
    left full.xyz
fi

# a rank dies: what is done is kept, and the next run, of fewer processes, goes on
keep=("$work/frame.pos" "${given[@]}" --slabs 3 --resume "$work/kept")
ranks 1 "$attune" lattice "${keep[@]}" -o "$work/again.xyz" : \
    -n 1 -x KEPT="$work/kept" bash -c '"$@" & until ls "$KEPT"/slab-* >/dev/null 2>&1 || ! kill -0 $!; do sleep 0.02; done; kill -9 $!; wait $!' - \
    "$attune" lattice "${keep[@]}" -o "$work/again.xyz" >/dev/null
"$attune" lattice "${keep[@]}" -o "$work/again.xyz" >/dev/null || bad "not resumed"
cmp "$work/one.xyz" "$work/again.xyz" || bad "resumed: something else"
[[ ! -e $work/kept ]] || bad "what was kept stays when all is written"

# all slabs are done, one of them not whole, and only the output failed: they are taken up; other options are refused
"$attune" lattice "${keep[@]}" -o /dev/full >/dev/null 2>&1 && bad "a full disk is not a failure of one process"
[[ $(find "$work/kept" -name 'slab-*' | wc -l) == 3 ]] || bad "three slabs are not kept"
truncate -s -7 "$work/kept/slab-1"
before=$(stat -c %Y%i "$work/kept/slab-0")
"$attune" lattice "$work/frame.pos" "${given[@]}" --slabs 4 --resume "$work/kept" >/dev/null 2>"$work/err" && bad "other options are taken"
said "$work/kept: is of another frame, or of other options" "other options: not said"
date=$(stat -c %y "$work/frame.pos") # of another frame that begins and ends alike, and of another date
cp -p "$work/frame.pos" "$work/same.pos"
at=$(($(stat -c %s "$work/frame.pos") / 2 / 16 * 16))
printf 'x' | dd of="$work/frame.pos" bs=1 seek=$((at + 3)) conv=notrunc status=none
touch -d "$date" "$work/frame.pos"
"$attune" lattice "${keep[@]}" >/dev/null 2>"$work/err" && bad "another frame is taken"
said "$work/kept: is of another frame, or of other options" "another frame: not said"
cp -p "$work/same.pos" "$work/frame.pos"
touch -d '2001-02-03' "$work/frame.pos"
"$attune" lattice "${keep[@]}" >/dev/null 2>"$work/err" && bad "a frame of another date is taken"
touch -d "$date" "$work/frame.pos"
ranks 2 "$attune" lattice "${keep[@]}" -o "$work/none/out.xyz" >/dev/null && bad "a missing folder is not a failure on ranks"
said "rank 0: $work/none/out.xyz: cannot be written: there is no folder $work/none" "a missing folder is not named"
ranks 2 "$attune" lattice "${keep[@]}" -o /dev/null >/dev/null && bad "ranks write parts of what is no file"
said "rank 0: /dev/null: is not a file" "what is no file is not named"
[[ $(stat -c %Y%i "$work/kept/slab-0") == "$before" ]] || bad "what is done is done again"
ranks 4 "$attune" lattice "${keep[@]}" -o "$work/again.xyz" >/dev/null || bad "not resumed on four ranks"
cmp "$work/one.xyz" "$work/again.xyz" || bad "resumed on four ranks: something else"
finish
