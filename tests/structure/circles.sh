#!/bin/sh
# Files that call each other in a circle: only those that tests/structure/circles.txt allows, each line one circle of halves of one
# subject, with its reason; a line without its circle fails too. Read from the symbols of what was built. usage: circles.sh BUILD ROOT
set -eu
build=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v nm >/dev/null 2>&1 || { echo "skipped: nm is not here"; exit 77; }

# objects of sources that are (still) there
find "$build"/CMakeFiles/attune_*.dir/src -name '*.c.o' | LC_ALL=C sort | while IFS= read -r object; do
    source=${object#*.dir/}
    case $object in */attune_objects.dir/src/bench/* | */attune_objects.dir/src/cli/* | */attune_objects.dir/src/sample/*) continue ;; esac
    [ ! -f "$root/${source%.o}" ] || printf '%s\n' "$object"
done >"$work/objects"
[ -s "$work/objects" ] || { echo "FAILED: no objects below $build"; exit 1; }

xargs nm -A <"$work/objects" 2>/dev/null | awk -v allowed="$root/tests/structure/circles.txt" '
    {
        at = index($0, ".c.o:"); file = substr($0, 1, at + 1); sub(/.*\.dir\//, "", file)
        kind = NF == 2 ? "" : $(NF - 1)
        if (NF >= 2 && $(NF - 1) == "U") { wants[file, ++n_wants[file]] = $NF; files[file] = 1 }
        else if (kind ~ /^[TDBRVW]$/) { home[$NF] = file; files[file] = 1 }
    }
    function reach(from, mark, forward,   stack, top, f, k, next_file) {
        top = 1; stack[1] = from; mark[from] = 1
        while (top > 0) {
            f = stack[top--]
            for (k = 1; k <= degree[forward, f]; ++k) {
                next_file = edge[forward, f, k]
                if (!(next_file in mark)) { mark[next_file] = 1; stack[++top] = next_file }
            }
        }
    }
    END {
        for (file in files)
            for (k = 1; k <= n_wants[file]; ++k) {
                name = wants[file, k]
                if (!(name in home) || home[name] == file || (file, home[name]) in known) continue
                known[file, home[name]] = 1
                edge[1, file, ++degree[1, file]] = home[name]
                edge[0, home[name], ++degree[0, home[name]]] = file
            }
        while ((getline line < allowed) > 0) {
            if (line ~ /^#/ || line == "") continue
            split(line, halves, ": "); ++n_allowed
            n = split(halves[1], parts, " ")
            for (k = 1; k <= n; ++k) may[n_allowed, parts[k]] = 1
            listed[n_allowed] = n; row[n_allowed] = halves[1]
        }
        for (file in files) {
            if (file in done) continue
            split("", down); split("", up)
            reach(file, down, 1); reach(file, up, 0)
            size = 0; members = ""
            for (f in down) if (f in up) { done[f] = 1; member[++size] = f }
            if (size < 2) continue
            ++circles; all += size
            fits = 0
            for (c = 1; c <= n_allowed && !fits; ++c) {
                fits = size == listed[c]
                for (k = 1; k <= size && fits; ++k) fits = (c, member[k]) in may
                if (fits) there[c] = 1
            }
            for (k = 1; k <= size; ++k) members = members " " member[k]
            if (!fits) { print "a circle that is not allowed:" members; bad = 1 }
            else if (ENVIRON["SHOW"]) print members
        }
        for (c = 1; c <= n_allowed; ++c)
            if (!(c in there)) { print "allowed, but there is no such circle: " row[c]; bad = 1 }
        print circles + 0 " circles of " all + 0 " files"
        exit bad
    }'
