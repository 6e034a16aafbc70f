#!/bin/sh
# The structure check finds what it should: each planted violation, and nothing in a tree that is right.
# usage: selfcheck.sh CHECK
set -eu
check=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

good_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/src/base" "$work/tree/src/device" "$work/tree/src/apps/needle" "$work/tree/include/attune" \
        "$work/tree/tests/data"
    cd "$work/tree"
    printf '#include <attune/a.h>\n#include <stdio.h>\n#include <sys/stat.h>\n#include "base/b.h"\n' >src/base/b.c
    printf '#include "base/b.h"\n#include "device/d.h"\n  #  include "d.h"\n' >src/device/d.c
    printf '#include "device/d.h"\n#include "apps/needle/n.h"\n' >src/apps/needle/n.c
    printf '#include <attune/b.h>\n#include <stddef.h>\n' >include/attune/a.h
    awk 'BEGIN { print "/* file length: a table of numbers */"; for (k = 0; k < 700; ++k) print k }' >src/base/long.c
    awk 'BEGIN { for (k = 0; k < 700; ++k) print k }' >tests/data/points.txt
    awk 'BEGIN { for (k = 0; k < 600; ++k) print k }' >tests/limit.c
}

found=0
refuses() { # $1: what the check must say
    found=$((found + 1))
    if said=$(sh "$check" "$work/tree"); then echo "FAILED: not found: $1"; exit 1; fi
    case $said in *"$1"*) ;; *) echo "FAILED: said '$said', wanted '$1'"; exit 1 ;; esac
    [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] || { echo "FAILED: more than one line: $said"; exit 1; }
}

good_tree
sh "$check" "$work/tree" || { echo "FAILED: a tree that is right is refused"; exit 1; }

echo '#include "device/d.h"' >>src/base/b.c
refuses 'src/base/b.c:5: src/base may not include "device/d.h": device comes after base'
good_tree
echo '#include <device/d.h>' >>src/base/b.c
refuses 'src/base may not include'
good_tree
echo '#include "../device/d.h"' >>src/base/b.c
refuses 'name it from src/ on'
good_tree
echo '#include "tests/testkit.h"' >>src/device/d.c
refuses 'which is not in src/'
good_tree
echo '#include "base/b.h"' >>include/attune/a.h
refuses 'include/attune/a.h:3: a public header includes'
good_tree
echo '#include <base/b.h>' >>include/attune/a.h
refuses 'a public header includes'
good_tree
mkdir src/misc && echo '#include <stdio.h>' >src/misc/m.c
refuses 'src/misc is not a folder of the order'
good_tree
echo '#include <stdio.h>' >src/m.c
refuses 'lies in no folder'
good_tree
sed -i 1d src/base/long.c
refuses 'src/base/long.c: over 600 lines'
good_tree
awk 'BEGIN { for (k = 0; k < 601; ++k) print (k == 20 ? "file length: too late" : k) }' >tests/limit.c
refuses 'tests/limit.c: over 600 lines'
good_tree
mkdir -p src/cloud src/lower
printf '#define CLOUD_EACH_FORMAT(row) row(PLY) row(OBJ)\n' >src/cloud/formats.h
printf 'const cloud_format CLOUD_PLY = {0};\n' >src/cloud/ply.c
printf 'typedef struct atn_variant {\n} atn_variant;\n' >src/lower/variant.h
refuses 'src/cloud/formats.h: its rows ( OBJ PLY ) are not the formats that files define ( PLY )'
printf 'const cloud_format CLOUD_OBJ = {0};\n' >src/cloud/obj.c
printf 'typedef struct atn_variant {\n    int32_t frogs;\n} atn_variant;\n' >src/lower/variant.h
refuses 'a knob that is not a row of ATN_KNOBS'
printf 'typedef struct atn_variant {\n} atn_variant;\n' >src/lower/variant.h
mkdir -p docs tests/cloud tests/fuzz/corpus/cloud
printf 'const cloud_format CLOUD_OBJ = {"OBJ", "obj", read};\n' >src/cloud/obj.c
: >tests/fuzz/corpus/cloud/a_obj
printf '| obj |\n' >docs/formats.md
: >tests/cloud/cloudkit.c
refuses 'tests/cloud/cloudkit.c: no file with the extension obj'
printf '"a.obj"\n' >tests/cloud/cloudkit.c
: >docs/formats.md
refuses 'docs/formats.md: no row for obj'
printf '| csv obj |\n' >docs/formats.md
rm tests/fuzz/corpus/cloud/a_obj
refuses 'tests/fuzz/corpus/cloud: no file NAME_obj'
: >tests/fuzz/corpus/cloud/a_obj
echo '"ply, pcd or obj"' >>src/device/d.c
refuses 'src/device/d.c:4: a second list of point formats'
sed -i '$d' src/device/d.c
printf '#define ATN_KNOBS(knob) \\\n    knob(frogs, 0) \\\n    knob(toads, 0)\n' >src/lower/knobs.h
printf '| `toads` | 0, 1 |\n' >docs/lowering.md
refuses 'docs/lowering.md: no row for the knob frogs'
printf '| `frogs` | 0, 1 |\n' >>docs/lowering.md
for k in 1 2 3; do printf '    {"frogs", %s},\n    {"toads", %s},\n' $k $k; done >src/base/list.c
refuses 'src/base/list.c: a second table of knobs'
good_tree
printf '/* Hop(far) is\n * told by frog_hop(). */\nint frog_hop(int far); /* and frog_hop */\n' >src/device/d.h
printf 'int frog_hop(int far) { return far; }\n' >>src/device/d.c
refuses 'src/device/d.h: nothing calls frog_hop'
mkdir -p tests/structure
printf 'frog_hop    frogs are tested\n' >tests/structure/only_tests.txt
sh "$check" "$work/tree" || { echo "FAILED: a function for tests is refused"; exit 1; }
printf 'int toad(void) { return frog_hop(1); }\n' >>src/device/d.c
refuses 'tests/structure/only_tests.txt: frog_hop is called, or gone'
good_tree
printf 'typedef struct atn_frog_settings {\n    int legs;\n} atn_frog_settings;\n' >>include/attune/a.h
refuses 'include/attune/a.h:4: atn_frog_settings does not begin with size_t size'
good_tree
printf 'typedef struct atn_frog_options {\n    size_t size;\n} atn_frog_options;\n' >>include/attune/a.h
refuses 'options are called settings'
good_tree
mkdir kernels && touch kernels/toad.atn kernels/frog.atn
for k in 1 2 3; do printf '    {"frog", %s},\n    {"toad", %s},\n' $k $k; done >src/base/list.c
refuses 'src/base/list.c: a table of shipped kernels'
good_tree
echo 'char *a = getenv("ATTUNE_CC");' >>src/base/b.c
refuses 'src/base/b.c:5: reads the environment'
good_tree
echo 'ATN_IN_LANES static void croak(int n) {}' | tee -a src/base/b.c >>src/device/d.c
refuses 'two functions in lanes are called croak'
good_tree
echo 'enum { ATN_MOST_FROGS = 3 };' >>src/device/d.c
refuses 'src/device/d.c:4: a limit'
good_tree
echo 'if (strcmp(info->backend, "cuda") == 0) return 1;' >>src/apps/needle/n.c
refuses 'src/apps/needle/n.c:3: compares the name of a backend'
good_tree
printf 'typedef struct box {\n} box;\n' >src/device/d.h
printf 'struct box {\n};\n' >>src/apps/needle/n.c
refuses 'the type box is defined in'
good_tree
printf 'enum atn_kind { ONE };\n' >>src/base/b.c
printf 'struct atn_kind {\n};\n' >>src/device/d.c
refuses 'the type atn_kind is defined in src/base/b.c too'
good_tree
printf 'struct box {\n};\n' >>src/apps/needle/n.c
printf 'struct box {\n};\n' >>src/device/d.c
sh "$check" "$work/tree" || { echo "FAILED: names that no other file sees may be alike"; exit 1; }
echo "$found planted violations were found"
