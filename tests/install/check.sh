#!/bin/sh
# Installs into a fresh prefix, moves it, and builds and runs a consumer through pkg-config and through find_package,
# with the shared and with the static library. usage: check.sh BUILD SOURCE CC [FLAG...]
set -eu
build=$1 source=$2 cc=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
greets() { # $1: program
    said=$("$1") || fail "$1 does not run"
    case $said in "attune "*": host") echo "$(basename "$1"): $said" ;; *) fail "$1 said '$said'" ;; esac
}

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved" # nothing may remember where it was installed
prefix=$work/moved

pc=$(find "$prefix" -name attune.pc)
[ -n "$pc" ] || fail "attune.pc is not installed"
libdir=$(dirname "$(dirname "$pc")")
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
for file in bin/attune include/attune/attune.h include/attune/version.h share/man/man1/attune.1 \
    share/bash-completion/completions/attune; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done
"$prefix/bin/attune" --version

# shellcheck disable=SC2046 # the flags are words
"$cc" "$@" "$source/consumer.c" $(pkg-config --cflags --libs attune) -Wl,-rpath,"$libdir" -o "$work/pc_shared"
greets "$work/pc_shared"
flags=$(pkg-config --static --cflags --libs attune | sed 's/-lattune\b/-l:libattune.a/g')
# shellcheck disable=SC2086
"$cc" "$@" "$source/consumer.c" $flags -o "$work/pc_static"
greets "$work/pc_static"

cmake -S "$source" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_FLAGS="$*" >"$work/log" 2>&1 || { cat "$work/log"; fail "find_package"; }
cmake --build "$work/consumer" >"$work/log" 2>&1 || { cat "$work/log"; fail "building against attune::"; }
greets "$work/consumer/consumer_shared"
greets "$work/consumer/consumer_static"
