#!/bin/sh
# tools/setup against a made-up system: dpkg-query, apt-get, sudo and id are scripts that log what they are asked.
# usage: setup.sh SETUP
set -eu
setup=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/plain"
log=$work/log
fail() { echo "FAILED: $*"; cat "$work/out" "$log"; exit 1; }
script() { # $1: name, its text on standard input
    { echo '#!/bin/sh'; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# Installed is what $work/installed lists; in the release is all but $work/unknown.
script dpkg-query <<END
for last; do :; done
grep -qx "\$last" "$work/installed" && printf installed
END
script apt-cache <<END
! grep -qx "\$2" "$work/unknown"
END
script apt-get <<END
echo "apt-get \$*" >>"$log"
exit \$(cat "$work/code")
END
script sudo <<END
echo sudo >>"$log"
exec "\$@"
END
script id <<END
cat "$work/uid"
END

every="gcc libc6-dev make cmake ninja-build pkg-config libexpat1-dev libjansson-dev libxxhash-dev libsqlite3-dev zlib1g-dev liblzf-dev libmicrohttpd-dev libpng-dev libtiff-dev libopenmpi-dev openmpi-bin
ocl-icd-libopencl1 pocl-opencl-icd libcmocka-dev oclgrind clang libclang-rt-dev python3-dev python3-numpy python3-pytest python3-venv mypy chromium chromium-driver clang-format clang-tidy nodejs"
fresh() { # all is there, as root; $@ is taken away
    # shellcheck disable=SC2086 # words
    printf '%s\n' $every >"$work/installed"
    for gone; do sed -i "/^$gone\$/d" "$work/installed"; done
    : >"$work/unknown"
    : >"$log"
    echo 0 >"$work/code"
    echo 0 >"$work/uid"
}
run() { # $1: wanted exit status
    wanted=$1
    shift
    code=0
    PATH="$work/bin:$PATH" "$setup" "$@" >"$work/out" 2>&1 || code=$?
    [ "$code" -eq "$wanted" ] || fail "setup $*: exit $code, wanted $wanted"
}
says() { grep -q -e "$1" "$work/out" || fail "did not say '$1'"; }
asked() { [ "$(cat "$log")" = "$1" ] || fail "asked for something else than: $1"; }

fresh
run 0 test
asked ""
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "says more than one line though nothing is missing"

install="apt-get install -y -qq --no-install-recommends"
fresh cmake oclgrind clang-tidy
run 0 demo
asked "apt-get update -qq
$install cmake"
says "cmake  *configures the build"
run 0 test
says oclgrind

fresh pkg-config # either name will do; the newer one is installed
run 0 build
asked "apt-get update -qq
$install pkgconf"

fresh libcmocka-dev
echo 1000 >"$work/uid"
run 0 test
asked "sudo
apt-get update -qq
sudo
$install libcmocka-dev"

fresh oclgrind libcmocka-dev
echo oclgrind >"$work/unknown" # a release without what attune can do without
run 0 test
says "oclgrind is not in this release"
asked "apt-get update -qq
$install libcmocka-dev"

fresh
run 0 --packages build # all names, here or not
says '^libexpat1-dev$'
asked ""

fresh cmake
run 0 --dry-run test
says cmake
asked ""

fresh cmake
echo 1 >"$work/code" # no network
run 1 demo
says "install these and try again: cmake"
fresh pocl-opencl-icd
echo 1 >"$work/code"
run 0 demo
says "going on without: pocl-opencl-icd"

run 2 nonsense

# No Debian: only what any system has, and no apt.
for tool in env bash sh cat printf; do ln -s "$(command -v $tool)" "$work/plain/$tool"; done
code=0
PATH="$work/plain" "$setup" test >"$work/out" 2>&1 || code=$?
[ "$code" -eq 1 ] || fail "no Debian, no compiler: exit $code, wanted 1"
says "libexpat1-dev"
for tool in cc make cmake pkg-config; do ln -s "$work/bin/id" "$work/plain/$tool"; done
PATH="$work/plain" "$setup" test >"$work/out" 2>&1 || fail "no Debian, build tools present: should go on"
says "going on"
echo "tools/setup: all cases as wanted"
