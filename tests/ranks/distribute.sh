#!/usr/bin/env bash
# attune register of one pair whose points are distributed over ranks: as good as one process, in any format, written whole and
# in order; what cannot be done is refused by all with one line. usage: distribute.sh BUILD; 77: skipped
set -u
build=$1
. "$(dirname "$0")/kit.sh"
attune=$build/attune
cd "$work" || exit 1

# number FILE KEY: of a line "key": number
number() { sed -n "s/^ *\"$2\": \([-0-9.e+]*\),*$/\1/p" "$1" | head -1; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 < b + 0) }'; }
verdict() { sed -n 's/^ *"verdict": "\(.*\)",*$/\1/p' "$1"; }
# sure FILE: one deviation of the translation, from the last line of "uncertainty ..."
sure() { sed -n 's/^uncertainty .*°, \([0-9.e+-]*\) (1σ)$/\1/p' "$1"; }
off() { sed -n 's/^error .*points \([0-9.e+-]*\) (rms).*/\1/p' "$1"; }

"$attune" sample scans -o s --size 20001 --seed 2 >/dev/null || bad "sample"
pair=(s/source.ply s/target.ply --truth s/truth.json)
"$attune" register "${pair[@]}" >one.txt 2>/dev/null || bad "one process fails"

# the pose and how sure it is, as one process has them, however many ranks there are
for n in 1 2 3 4; do
    ranks $n "$attune" register "${pair[@]}" --distribute 5000 --matrix T$n.txt -o many$n.xyz >many.txt || bad "$n ranks fail"
    grep -q "^distributed over $n rank.*refined over" many.txt || bad "$n ranks: not distributed"
    grep -q '^verdict     trusted' many.txt || bad "$n ranks: not trusted"
    less "$(off many.txt)" "$(awk -v s="$(sure one.txt)" 'BEGIN { print 4 * s }')" || bad "$n ranks: off by $(off many.txt)"
    less "$(sure many.txt)" "$(awk -v s="$(sure one.txt)" 'BEGIN { print 3 * s }')" || bad "$n ranks: sure to $(sure many.txt)"
    less "$(awk -v s="$(sure one.txt)" 'BEGIN { print s / 3 }')" "$(sure many.txt)" || bad "$n ranks: too sure, $(sure many.txt)"
    [[ $(grep -c '^transform' many.txt) == 1 ]] || bad "$n ranks: not told once"
done

# every point is written, moved, in the order of the file
"$attune" convert s/source.ply all.xyz >/dev/null 2>&1 || bad "convert"
moved() { # MATRIX FILE: the largest distance of a row of FILE from that of all.xyz, moved
    awk -v rows=20001 'FILENAME == ARGV[1] { for (k = 1; k <= 4; ++k) t[FNR, k] = $k; next } /^#/ { next }
        FILENAME == ARGV[2] { ++n; for (k = 1; k <= 3; ++k) p[n, k] = t[k, 1] * $1 + t[k, 2] * $2 + t[k, 3] * $3 + t[k, 4]; next }
        { ++m; for (k = 1; k <= 3; ++k) { d = p[m, k] - $k; if (d < 0) d = -d; if (d > most) most = d } }
        END { exit !(n == rows && m == rows && most < 1e-6) }' "$1" all.xyz "$2"
}
for n in 1 2 4; do moved T$n.txt many$n.xyz || bad "$n ranks: other points are written"; done

# other formats, of which two are read in turns and leave a rank without points; and written
for format in npy pcd csv xyz; do
    "$attune" convert s/source.ply in.$format >/dev/null 2>&1 || bad "convert to $format"
    ranks 3 "$attune" register in.$format s/target.ply --truth s/truth.json --distribute 5000 --matrix T.txt -o out.$format --json >many.json || bad "$format fails"
    [[ $(verdict many.json) == trusted ]] || bad "$format: not trusted"
    less "$(number many.json rms)" "$(awk -v s="$(sure one.txt)" 'BEGIN { print 4 * s }')" || bad "$format: off by $(number many.json rms)"
    "$attune" convert out.$format out_of_$format.xyz >/dev/null 2>&1 || bad "$format: the output cannot be read"
    moved T.txt out_of_$format.xyz || bad "$format: other points are written"
done
[[ -z $(find . -name '*.tmp*' -o -name '.*.??????') ]] || bad "something is left behind"

# points that are none
sed '9000s/.*/nan 0 0/' in.xyz >nan.xyz
ranks 3 "$attune" register nan.xyz s/target.ply --distribute 5000 --matrix gone.txt && bad "NaN is no failure"
grep -q 'nan.xyz:9000: x is NaN' "$work/err" || bad "NaN is not named"
[[ $(grep -c 'nan.xyz' "$work/err") == 1 && ! -e gone.txt ]] || bad "NaN: more than one line, or a file"
ranks 3 "$attune" register nan.xyz s/target.ply --distribute 5000 --drop-invalid --json -o out.xyz >many.json || bad "a dropped point is a failure"
[[ $(number many.json dropped) == 1 && $(number many.json points) == 20000 && $(grep -vc '^#' out.xyz) == 20000 ]] || bad "the dropped point is not counted"

# a file that one rank cannot open; formats that are not written in parts; fewer points than ranks; options that do not go with it
ranks 2 "$attune" register "${pair[@]}" --distribute 5000 --matrix gone.txt : -n 1 "$attune" register none.ply s/target.ply --truth s/truth.json --distribute 5000 --matrix gone.txt && bad "a missing file is not a failure"
grep -q 'rank 2: none.ply: No such file' "$work/err" || bad "a missing file is not named"
[[ ! -e gone.txt ]] || bad "a file is written all the same"
ranks 2 "$attune" register "${pair[@]}" --distribute 5000 -o out.las && bad "LAS is written"
grep -q 'out.las: the beginning of such a file' "$work/err" || bad "LAS is refused for another reason"
printf '0 0 0\n1 0 0\n0 1 0\n' >tiny.xyz
"$attune" register tiny.xyz tiny.xyz >one.txt 2>/dev/null
ranks 4 "$attune" register tiny.xyz tiny.xyz --distribute 5000 >many.txt
[[ $(grep '^verdict' one.txt) == "$(grep '^verdict' many.txt)" ]] || bad "three points: something else is told"
for option in --reproducible --dense "--method icp" "--voxel 0.1" "--transform affine"; do
    # shellcheck disable=SC2086
    "$attune" register "${pair[@]}" --distribute 5000 $option >/dev/null 2>"$work/err"
    [[ $? == 2 ]] || bad "$option is no wrong usage"
done

# by itself: not for few points, but where they are too many for the memory; which a rank needs less of the more there are
ranks 2 "$attune" register "${pair[@]}" --json >many.json || bad "few points fail"
grep -q '"distributed"' many.json && bad "few points are distributed"
ranks 4 "$attune" register "${pair[@]}" --memory 12M --json >many.json || bad "little memory fails"
grep -q '"distributed"' many.json || bad "little memory: not distributed"
ranks 2 "$attune" register "${pair[@]}" --distribute 5000 --memory 3M && bad "hardly any memory is no failure"
grep -q 'MB are needed on each of 2 ranks, 3 MB may be used' "$work/err" || bad "hardly any memory: refused with other words"
ranks 1 "$attune" register "${pair[@]}" --distribute 1000 --json >one.json
ranks 4 "$attune" register "${pair[@]}" --distribute 1000 --json >many.json
less "$(number many.json peak_bytes)" "$(number one.json peak_bytes)" || bad "four ranks need as much memory each as one"
finish
