#!/usr/bin/env bash
# Whether ThreadSanitizer reports the race that a program makes on purpose: tools/sees_race.sh PROGRAM [arguments]
set -uo pipefail
report="$("$@" 2>&1)"
case "$report" in
    *"WARNING: ThreadSanitizer: data race"*) ;;
    *) printf '%s\nThreadSanitizer does not report the race of %s: its silence means nothing\n' "$report" "$*" >&2; exit 1 ;;
esac
