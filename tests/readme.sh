#!/usr/bin/env bash
# Every command in README.md: attune's are run in an empty folder and must end well; make's are only planned (they install),
# pip's are the business of the Python tests. usage: readme.sh BUILD SOURCE
set -u
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=${ATTUNE_TEST_POOL:-$work/cache}
ln -s "$build" "$work/build"
cd "$work" || exit 1
ran=0 planned=0
fail() { echo "FAILED: $1"; exit 1; }

# Lines of ```sh blocks, and indented ones; comments go.
commands() {
    awk '/^```sh$/ { inside = 1; next } /^```/ { inside = other = 0 } /^```[a-z]/ && !/^```sh$/ { other = 1 }
         inside || (!other && /^    [a-z]/) { sub(/^    /, ""); sub(/ +#.*/, ""); print }' "$source/README.md"
}

while IFS= read -r line; do
    case $line in
    build/attune\ *)
        echo "$ $line"
        bash -c "$line" >"$work/out" 2>"$work/err" || fail "$line: $(cat "$work/err")"
        ((++ran))
        ;;
    make*)
        make -n -C "$source" ${line#make} >/dev/null 2>"$work/err" || fail "$line: $(cat "$work/err")"
        ((++planned))
        ;;
    pip\ *) ;;
    *) fail "what is '$line'? tests/readme.sh knows attune, make and pip" ;;
    esac
done < <(commands)
((ran >= 4 && planned >= 3)) || fail "$ran commands were run and $planned planned: README.md has more"
grep -q "showClouds" report.html || fail "report.html has no views"
grep -q "showSurface" surface.html || fail "surface.html has no map"
# What README.md links to is there.
for link in $(grep -o '](\([a-zA-Z./_-]*\))' "$source/README.md" | tr -d '()]'); do
    [[ -e $source/$link ]] || fail "README.md links to $link, which is not there"
done
for link in $(grep -o '](\([a-zA-Z./_-]*\))' "$source/docs/gallery.md" | tr -d '()]'); do
    [[ -e $source/docs/$link ]] || fail "docs/gallery.md links to $link, which is not there"
done
echo "$ran commands run, $planned planned"
