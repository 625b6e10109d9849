#!/usr/bin/env bash
# Fuzz with sanitized builds of the engine: tools/fuzz.sh MINUTES [options of test/fuzz/run.py]
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/env.sh
minutes="${1:?minutes}"
shift

echo "==> engine with AddressSanitizer and UndefinedBehaviorSanitizer"
PYTHON=python tools/instrumented_engine.sh address > /dev/null
plain="$(PYTHON=python tools/instrumented_engine.sh none)"
# Python itself is not instrumented: the sanitizer comes first by force, and leaves its many small leaks alone.
env PYTHONPATH="$PWD/build/instrumented/address" RAISIM_PLAIN="$plain" PYTHONSAFEPATH=1 PYTHONMALLOC=malloc \
    LD_PRELOAD="$(gcc -print-file-name=libasan.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=1 UBSAN_OPTIONS=print_stacktrace=1 \
    python test/fuzz/run.py --minutes "$minutes" "$@"

make test-c-threads
echo "==> threads of Python programs under ThreadSanitizer"
PYTHON=python tools/instrumented_engine.sh thread > /dev/null
# Nothing is suppressed: Python's memory is not looked at, and its locks are seen as those of everybody else.
export PYTHONPATH="$PWD/build/instrumented/thread" TSAN_OPTIONS=exitcode=66:report_signal_unsafe=0
preload="$(gcc -print-file-name=libtsan.so)"
tools/sees_race.sh env LD_PRELOAD="$preload" python test/fuzz/planted_race.py
env LD_PRELOAD="$preload" python -m pytest -q -p no:cacheprovider -o timeout=1200 test/engine/world/test_threads.py \
    test/engine/world/test_step_threads.py test/engine/objects/test_grains.py test/engine/batch/test_batch.py \
    -k "thread and not ctrl_c and not random_worlds"
