#!/usr/bin/env bash
# Completion in bash, zsh and fish, asked the way the shells ask. usage: completion.sh BUILD
set -eu
build=$1
# shellcheck source=/dev/null
source "$build/attune.bash"
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

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
expect "check completion convert devices help info lattice needle register replay run sample selftest show" ""
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
expect "needle" sample need
expect "import" wisdom im
expect "covariance" bench cov
expect "zsh" completion z
expect "gemm gemm_batch" show gem
expect "gemv" tune gemv
for shell in zsh fish; do
    "$build/attune" completion $shell >"$work/attune.$shell"
    for word in register method icp-plane sample fringes serve; do
        grep -q -- "$word" "$work/attune.$shell" || { echo "FAILED: $shell: no $word"; exit 1; }
    done
    if command -v $shell >/dev/null 2>&1; then
        $shell -n "$work/attune.$shell" || exit 1
    else
        echo "skipped: $shell is not here; its completion was made, not tried"
    fi
done
# The same in the shells themselves: verbs, sub-verbs, values, options and kernels.
LINES_WANTED=("attune reg" register "attune sample need" needle "attune wisdom im" import "attune register --method icp-p" icp-plane
    "attune unwrap --ser" --serve "attune show gemm_" gemm_batch)
export PATH=$build:$PATH
if command -v zsh >/dev/null 2>&1; then
    zsh -f completion.zsh "$work/attune.zsh" "${LINES_WANTED[@]}" || exit 1
fi
if command -v fish >/dev/null 2>&1; then
    for ((k = 0; k < ${#LINES_WANTED[@]}; k += 2)); do
        got=$(fish --no-config -c "source '$work/attune.fish'; complete -C '${LINES_WANTED[k]}'" | cut -f1)
        [[ $got == "${LINES_WANTED[k + 1]}" ]] || { echo "FAILED: fish: '${LINES_WANTED[k]}' gives '$got'"; exit 1; }
    done
fi
rm -f "$work/attune.zsh" "$work/attune.fish"
echo "completion answers as wanted"
