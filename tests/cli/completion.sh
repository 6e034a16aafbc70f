#!/usr/bin/env bash
# The completion for bash, asked the way bash asks. usage: completion.sh BUILD
set -eu
build=$1
# shellcheck source=/dev/null
source "$build/attune.bash"
cd "$(dirname "$0")"

expect() { # $1: the words wanted (sorted), $2...: the words typed, the last of them unfinished
    local wanted=$1 got
    shift
    COMP_WORDS=("$build/attune" "$@")
    COMP_CWORD=$#
    _attune 2>/dev/null || true
    got=$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | paste -sd ' ')
    [[ " $got " == *" $wanted "* ]] || { echo "FAILED: '$*' gave '$got', wanted '$wanted'"; exit 1; }
}

expect "devices" dev
expect "check convert devices help info lattice needle register replay run sample selftest show" ""
expect "--json" devices --js
expect "--version" --v
expect "--device" selftest --dev
expect "devices" help de
expect "--bind" run --bi
expect "affine rigid similarity" register --transform ""
expect "--overlap" sample --ov
expect "cg" unwrap --method c
expect "c cuda opencl" show --dialect ""
expect "host" devices --device h
expect "host" devices --device = h
expect "0" devices --device 0
expect "devices" --device host dev
expect "" devices x
echo "completion answers as wanted"
