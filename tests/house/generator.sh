#!/bin/sh
# The version of the generator follows its code, not its comments: otherwise a better sentence would invalidate what users measured.
# usage: generator.sh SCRIPT CMAKE
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version() { # $1: the text of a source
    printf '%s\n' "$1" >"$work/a.c"
    "$2" -DOUTPUT="$work/out.c" "-DFILES=$work/a.c" -P "$script" && sed -n 's/.*VERSION\[\] = "\(.*\)";/\1/p' "$work/out.c"
}
script=$1
first=$(version '/* A file. */ int a; /* one */ const char *s = "/* x"; int b; const char *t = " */";' "$2")
[ "${#first}" -eq 16 ] || { echo "FAILED: no version: '$first'"; exit 1; }
same=$(version '/* Another
 * text; with "quotes". */
int a;
// a line
const char *s = "/* x"; /* and one **/ int b; const char *t = " */";' "$2")
[ "$same" = "$first" ] || { echo "FAILED: comments count"; exit 1; }
for text in 'int a; const char *s = "/* x"; int c; const char *t = " */";' 'int a; const char *s = "/* y"; int b; const char *t = " */";' \
    'int a; const char *s = "/* x"; int b; const char *t = "*/";'; do
    [ "$(version "$text" "$2")" != "$first" ] || { echo "FAILED: does not count: $text"; exit 1; }
done
