#!/bin/sh
# Says in one sentence what a bare machine lacks, with the apt line that brings it. Silent when all is there.
# usage: check_prerequisites.sh PYTHON

python="$1"

missing() {
    echo "raisim_ros: $1; on Debian or Ubuntu run: sudo apt install $2" >&2
    exit 1
}

command -v "$python" >/dev/null || missing "Python 3.10 or newer was not found (looked for '$python')" python3
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    missing "'$python' is $("$python" --version), but 3.10 or newer is needed (make PYTHON=python3.x chooses another)" python3
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing "Python's venv module is missing" python3-venv
headers="$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')"
[ -f "$headers/Python.h" ] || missing "Python's headers are missing ($headers/Python.h)" python3-dev

# Found is not enough: a compiler without its C library cannot link.
builds_a_program() { echo 'int main(void) { return 0; }' | $1 -x "$2" - -o /dev/null 2>/dev/null; }
builds_a_program "${CC:-cc}" c || missing "no working C compiler ('${CC:-cc}' cannot build a program)" build-essential
builds_a_program "${CXX:-c++}" c++ || missing "no working C++ compiler ('${CXX:-c++}' cannot build a program)" build-essential
command -v cmake >/dev/null || missing "CMake was not found" cmake
cmake_version="$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')"
[ "$(printf '%s\n' 3.20 "$cmake_version" | sort -V | head -n 1)" = 3.20 ] ||
    missing "CMake 3.20 or newer is needed, found $cmake_version" cmake
