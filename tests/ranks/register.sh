#!/usr/bin/env bash
# attune register of one pair on several ranks: the transform of one process, written and told once; ranks with other files
# end all of them. usage: register.sh BUILD; 77: skipped
set -u
build=$1
. "$(dirname "$0")/kit.sh"
attune=$build/attune
cd "$work" || exit 1

"$attune" sample scans -o s --size 6000 --seed 1 >/dev/null || bad "sample"
pair=(s/source.ply s/target.ply --reproducible)
told() { grep -E '"(verdict|rmse|overlap|iterations|evaluated_pairs|pairs|covariance_reason)"' "$1"; }
for way in "em-icp 2" "em-icp 4" "icp 2" "icp-plane 4" "gicp 3"; do
    read -r method n <<<"$way"
    [[ $n == 4 && $method == em-icp ]] || "$attune" register "${pair[@]}" --method $method --matrix one.txt -o one.ply --json >one.json 2>/dev/null
    ranks $n "$attune" register "${pair[@]}" --method $method --matrix many.txt -o many.ply --json >many.json || bad "$way: fails"
    cmp one.txt many.txt || bad "$way: another transform"
    cmp one.ply many.ply || bad "$way: another cloud"
    [[ $(grep -c '"transform"' many.json) == 1 ]] || bad "$way: not told once"
    [[ $(told one.json) == "$(told many.json)" ]] || bad "$way: something else is told"
    rm -f many.txt many.ply
done
# all pairs, and clouds of fewer points than ranks
"$attune" register "${pair[@]}" --dense --init identity --matrix one.txt >/dev/null 2>&1
ranks 3 "$attune" register "${pair[@]}" --dense --init identity --matrix many.txt >/dev/null
cmp one.txt many.txt || bad "all pairs: another transform"
printf '0 0 0\n1 0 0\n0 1 0\n' >tiny.xyz
"$attune" register tiny.xyz tiny.xyz >one.txt 2>err
ranks 4 "$attune" register tiny.xyz tiny.xyz >many.txt
[[ $(grep -E '^(transform|rmse|overlap|verdict)' one.txt) == "$(grep -E '^(transform|rmse|overlap|verdict)' many.txt)" ]] || bad "three points: something else is told"

# other files on one rank, no file there
ranks 1 "$attune" register "${pair[@]}" : -n 1 "$attune" register s/target.ply s/source.ply --reproducible && bad "other clouds are no failure"
grep -q 'rank 1: register: the clouds differ from those of rank 0' "$work/err" || bad "other clouds are not named"
ranks 1 "$attune" register "${pair[@]}" --matrix gone.txt : -n 1 "$attune" register none.ply s/target.ply --reproducible --matrix gone.txt && bad "a missing file is not a failure"
grep -q 'rank 1: none.ply: No such file' "$work/err" || bad "a missing file is not named"
[[ ! -e gone.txt ]] || bad "a file is written all the same"
finish
