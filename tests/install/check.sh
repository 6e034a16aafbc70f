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

# Two threads, one context, a device each; the folder of the library as pkg-config says it (docs/interface.md). Instrumented as
# well where there is a runtime for it: what the program itself does with what it gets from the library is watched then, and
# the library's own code under the preset tsan.
examples=$source/../../examples
for kind in plain thread; do
    sanitize=
    [ $kind = plain ] || sanitize=-fsanitize=thread
    case "$* $sanitize" in *-fsanitize*-fsanitize*) continue ;; esac # the build has another one
    # shellcheck disable=SC2046,SC2086
    if ! "$cc" "$@" $sanitize "$examples/16_threads/threads.c" $(pkg-config --cflags --libs attune) -lm -lpthread \
        -Wl,-rpath,"$(pkg-config --variable=libdir attune)" -o "$work/threads_$kind" 2>"$work/log"; then
        [ $kind = thread ] || { cat "$work/log"; fail "two threads: does not build"; }
        echo "skipped: no thread sanitizer here"
        continue
    fi
    said=$(XDG_CACHE_HOME="$work/cache" TSAN_OPTIONS=ignore_noninstrumented_modules=1 "$work/threads_$kind" 2>&1) || fail "two threads, $kind: $said"
    echo "two threads, $kind: $(echo "$said" | tr '\n' ' ')"
done

# What measures starts the program that was installed with the library, never the first attune on the PATH.
mkdir "$work/false"
printf '#!/bin/sh\necho "$@" >>"%s"\nexit 9\n' "$work/called" >"$work/false/attune"
chmod +x "$work/false/attune"
# shellcheck disable=SC2046
"$cc" "$@" "$examples/07_tuned_kernel/efforts.c" $(pkg-config --cflags --libs attune) -lm -Wl,-rpath,"$libdir" -o "$work/efforts"
said=$(env -u ATTUNE_PROGRAM PATH="$work/false:$PATH" XDG_CACHE_HOME="$work/cache" "$work/efforts" 2>&1) || fail "measuring from an installed library: $said"
[ ! -e "$work/called" ] || fail "an attune of the PATH was started: $(cat "$work/called")"
mv "$prefix/bin/attune" "$prefix/bin/gone"
said=$(env -u ATTUNE_PROGRAM PATH="$work/false:$PATH" XDG_CACHE_HOME="$work/other" "$work/efforts" 2>&1) && fail "measured without a program: $said"
case $said in *ATTUNE_PROGRAM*) ;; *) fail "without the installed program it said '$said'" ;; esac
[ ! -e "$work/called" ] || fail "an attune of the PATH was started: $(cat "$work/called")"
mv "$prefix/bin/gone" "$prefix/bin/attune"
echo "what measures: the installed program"

cmake -S "$source" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_FLAGS="$*" >"$work/log" 2>&1 || { cat "$work/log"; fail "find_package"; }
cmake --build "$work/consumer" >"$work/log" 2>&1 || { cat "$work/log"; fail "building against attune::"; }
greets "$work/consumer/consumer_shared"
greets "$work/consumer/consumer_static"
