#!/usr/bin/env bash
# Reports and live views in headless Chromium; with ATTUNE_TEST_ALL all of them, in every look. usage: browser.sh BUILD SOURCE
set -u
build=$1 source=$2
folder=$build/Testing/pages
mode=(--short)
[[ -n ${ATTUNE_TEST_ALL:-} ]] && mode=()
command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not here"; exit 77; }
exec env PYTHONDONTWRITEBYTECODE=1 python3 "$source/tests/browser/pages.py" "$build/attune" "$folder" "${mode[@]}"
