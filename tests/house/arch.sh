#!/bin/sh
# tools/check-arch against a made-up system and a tree of two files: a cross compiler that works, one that dies with gcc's
# words, archives that lack what is needed. The cross compiler is this machine's own under another name.
# usage: arch.sh TOOLS
set -eu
tools=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$work/bin" "$tree/tools" "$tree/src"
cp "$tools/check-arch" "$tools/setup" "$tree/tools"
log=$work/log
fail() { echo "FAILED: $*"; cat "$work/out" "$log"; exit 1; }
script() { # $1: name, its text on standard input
    { echo '#!/bin/sh'; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

case $(uname -m) in
aarch64) other=x86_64 package=gcc-99-x86-64-linux-gnu ;;
x86_64) other=aarch64 package=gcc-99-aarch64-linux-gnu ;;
*) echo "no other architecture is known here"; exit 77 ;;
esac
cross=$other-linux-gnu-gcc-99
cc=$(command -v cc)

cat >"$tree/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(two LANGUAGES C)
add_executable(two src/plain.c src/planted.c)
END
echo 'int main(void) { return 0; }' >"$tree/src/plain.c"
echo 'int planted(void);' >"$tree/src/planted.c"

echo 'echo 99' | script gcc
echo 'exit 0' | script "qemu-$other"
echo 'echo 0' | script id
echo 'exec tar -c -T /dev/null' | script dpkg-deb
script apt-cache <<END
! grep -qx "\$2" "$work/unknown"
END
script apt-get <<END
echo "apt-get \$*" | sed 's/ -o [^ ]*//g' >>"$log"
[ -f "$work/installs" ] && cp "$work/installs" "$work/bin/$cross"
for word; do
    case \$word in Dir::Cache=*) mkdir -p "\${word#*=}/archives" && : >"\${word#*=}/archives/one.deb" ;; esac
done
exit \$(cat "$work/code")
END

compiler() { # the cross compiler; standard input is what it does to src/planted.c
    {
        echo 'for word; do shift; case $word in --sysroot=*) ;; *) set -- "$@" "$word" ;; esac; done'
        echo 'case "$*" in *planted.c*)'
        cat
        echo '    ;; esac'
        echo "exec $cc \"\$@\""
    } | script "$cross"
}
fresh() { # all is there and works
    rm -rf "$tree"/build* "$work/installs"
    compiler </dev/null
    : >"$work/unknown"
    : >"$log"
    echo 0 >"$work/code"
}
run() { # $1: wanted exit status, $2: how; default: --build-only
    code=0
    PATH="$work/bin:$PATH" "$tree/tools/check-arch" ${2---build-only} >"$work/out" 2>&1 || code=$?
    [ "$code" -eq "$1" ] || fail "exit $code, wanted $1"
}
says() { grep -q -e "$1" "$work/out" || fail "did not say '$1'"; }
ends() { tail -n 1 "$work/out" | grep -q -e "$1" || fail "the last line is not '$1'"; }

fresh
run 0
ends "^check-arch: $other: complete, built with $cross"
grep -q '^apt-get -qq install --download-only .*libexpat1-dev.* zlib1g-dev' "$log" || fail "did not ask for the libraries"
: >"$log"
run 0 # the libraries stay
[ ! -s "$log" ] || fail "asked for packages again"

fresh
compiler <<END # what gcc 12 says on aarch64
    cat >&2 <<SAYS
during GIMPLE pass: vect
$tree/src/planted.c: In function 'planted':
$tree/src/planted.c:65:13: internal compiler error: in vect_transform_reduction, at tree-vect-loop.cc:7457
0x12f7a5b internal_error(char const*, ...)
Please submit a full bug report, with preprocessed source (by using -freport-bug).
SAYS
    exit 1
END
run 1
says '^check-arch: src/planted.c: internal compiler error: in vect_transform_reduction, at tree-vect-loop.cc:7457$'
ends "^check-arch: FAILED: $other: internal compiler error of $cross in 1 file"

fresh
compiler <<END # out of memory: only the driver is left to say so
    echo "gcc: internal compiler error: Killed signal terminated program cc1" >&2
    exit 1
END
run 1
says '^check-arch: .*: internal compiler error: Killed signal'

fresh
compiler <<END
    echo "src/planted.c:1:5: error: unused variable 'x' [-Werror=unused-variable]" >&2
    exit 1
END
run 1
says "error: unused variable 'x'"
ends "^check-arch: FAILED: $other: did not build"
! grep -q internal "$work/out" || fail "calls an error an internal compiler error"

fresh
rm "$work/bin/$cross"
echo "$package" >"$work/unknown"
run 0
ends "^check-arch: skipped: $package is not in this archive"

fresh
mv "$work/bin/$cross" "$work/installs" # it comes with the package
run 0
says "^check-arch: installing $package$"
ends complete
grep -q "^apt-get install -y -qq --no-install-recommends $package$" "$log" || fail "did not install $package"

fresh
rm "$work/bin/$cross"
echo 100 >"$work/code"
run 0
ends "^check-arch: skipped: apt-get could not install $package"

fresh
echo 100 >"$work/code"
run 0
ends "^check-arch: skipped: the lists of packages for"

fresh
script "qemu-$other" <<END
echo "attune: error while loading shared libraries: libexpat.so.1: cannot open shared object file" >&2
exit 127
END
run 1 ""
ends "^check-arch: FAILED: $other: build-$other/attune does not start under qemu-$other: .*: libexpat.so.1: cannot open"
echo "tools/check-arch: all cases as wanted"
