#!/usr/bin/env bash
# Pin every Python package of make's environments, with the hashes of its files, in tools/requirements/lock/.
#
#   tools/lock_requirements.sh             keep the pinned versions where the requirements still allow them
#   tools/lock_requirements.sh --upgrade   take the newest ones, and raise the lower bounds to what was tested with them
set -euo pipefail
cd "$(dirname "$0")/.."

tool="build/lock-tool"
[ -x "$tool/bin/uv" ] || { "${PYTHON:-python3}" -m venv "$tool" && "$tool/bin/python" -m pip install -q 'uv>=0.5'; }
# Extras stay in the pins: pip < 23.3 takes the newest file of a package that another one asks for with an extra.
pin() {  # output, then arguments of uv
    local output="tools/requirements/lock/$1.txt"
    shift
    "$tool/bin/uv" pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-strip-extras \
        --no-emit-index-url --no-header --no-annotate --output-file "$output" "$@"
    echo "$output: $(grep -c '==' "$output") packages"
}
requirements=tools/requirements
for flavour in jazzy kilted system; do
    pin "$flavour" "$@" "$requirements/ros-$flavour.txt" "$requirements/runtime.txt" "$requirements/features.txt"
    # What the tests need besides, of the versions that are there already.
    pin "$flavour-test" "$@" "$requirements/test.txt" --constraint "$requirements/lock/$flavour.txt"
done
if [ "${1:-}" = --upgrade ]; then "${PYTHON:-python3}" tools/raise_lower_bounds.py; fi
