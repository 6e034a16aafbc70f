#!/usr/bin/env bash
# python/tests against the package of a build folder, counted as cmocka's programs are. usage: python.sh BUILD SOURCE
# Takes the first interpreter that has numpy and pytest; the module is the same for all of them.
set -u
build=$1 source=$2
[[ -e $build/python/attune/_attune.abi3.so ]] || { echo "skipped: the Python module was not built: python3-dev is missing"; exit 77; }
for python in "${PYTHON:-}" python3 /usr/bin/python3; do
    [[ -n $python ]] && "$python" -c 'import numpy, pytest, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null && break
    python=
done
[[ -n $python ]] || { echo "skipped: no Python here has numpy and pytest; 'tools/setup test' installs them"; exit 77; }
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 ATTUNE_COUNT=1
exec "$python" -m pytest -q -rs --no-header -p no:cacheprovider "$source/python/tests"
