#!/usr/bin/env bash
# Make source archive and wheel of the last commit twice, in two folders of different names, and compare them byte by
# byte: tools/reproducible.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
python="$(cd "$(dirname "${1:?Python}")" && pwd)/$(basename "$1")"
commit="$(git rev-parse HEAD)"
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct "$commit")"
export SOURCE_DATE_EPOCH
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

for name in here "a longer name"; do
    mkdir -p "$work/$name"
    git archive "$commit" | tar -x -m -C "$work/$name"  # with the time of day, which must not matter
    (cd "$work/$name" && umask "$([ "$name" = here ] && echo 022 || echo 077)" && "$python" tools/build_distributions.py dist)
done
for file in "$work/here/dist"/*; do
    cmp "$file" "$work/a longer name/dist/$(basename "$file")"
done
echo "both times the same bytes"
