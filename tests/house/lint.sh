#!/bin/sh
# The quick part of `make lint` (clang-format, tools/lint-web) finds nothing in the tree; and tools/lint finds what is
# planted, in each of the three, forgets nothing that it found, and looks at nothing twice that was clean.
# usage: lint.sh SOURCE BUILD
source=$1
build=$2
for tool in python3 git; do
    command -v $tool >/dev/null 2>&1 || { echo "no $tool here"; exit 77; }
done
cd "$source" && git rev-parse --git-dir >/dev/null 2>&1 || { echo "no checkout: what belongs to the tree is not known"; exit 77; }
tools/lint --quick "$build" || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools" "$work/src" "$work/build"
cp tools/lint tools/lint-web "$work/tools/"
cp .clang-format .clang-tidy "$work/"
: >"$work/tools/lint.h"
cd "$work" && git init -q . || exit 1
printf '/build/\n' >.gitignore
printf '[{"directory": "%s/build", "command": "cc -I%s/src -o a.o -c %s/src/a.c", "file": "%s/src/a.c"}]\n' \
    "$work" "$work" "$work" "$work" >build/compile_commands.json
clean_files() {
    printf 'int sum(int a, int b);\n' >src/a.h
    printf '#include "a.h"\n\nint sum(int a, int b) { return a + b; }\n' >src/a.c
    printf "'use strict';\n" >src/a.js
}
fails=0
expect() { # $1: exit status, $2: a piece of the output, $3: what it is
    tools/lint build >out 2>&1
    code=$?
    if [ $code != "$1" ] || ! grep -q "$2" out; then
        echo "FAILED: $3: exit $code, wanted $1 and '$2' in:"
        cat out
        fails=1
    fi
}
has() { command -v "$1" >/dev/null 2>&1; }

clean_files
expect 0 '^clean$' 'clean files'
if has clang-format; then
    expect 0 'clang-format: 4 files, 0 of them new' 'clean files again'
    printf 'int  sum(int a, int b);\n' >src/a.h
    expect 1 'clang-formatted' 'two blanks'
    expect 1 'clang-formatted' 'two blanks again'
    clean_files
fi
if has clang-tidy && has clang; then
    expect 0 'clang-tidy: 1 files, 0 of them new' 'an unchanged file'
    printf 'int sum(int a, int b); /* of both */\n' >src/a.h
    expect 0 'clang-tidy: 1 files, 0 of them new' 'a comment in a header'
    printf '#define TWICE(x) x * 2\nint sum(int a, int b);\n' >src/a.h
    expect 1 'macro-parentheses' 'a macro of a header'
    expect 1 'macro-parentheses' 'a macro of a header again'
    clean_files
    printf 'Checks: "-*,clang-diagnostic-*,bugprone-*,readability-*"\nWarningsAsErrors: "*"\n' >.clang-tidy
    expect 1 'readability' 'other settings'
    cp "$source/.clang-tidy" .
fi
if has node; then
    printf "'use strict';\nvar a = 1;\n" >src/a.js
    expect 1 'const or let' 'var in a script'
fi
[ $fails = 0 ] && echo "lint finds what is planted"
exit $fails
