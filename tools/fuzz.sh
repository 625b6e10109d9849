#!/usr/bin/env bash
# Fuzz with sanitized builds of the engine: tools/fuzz.sh MINUTES [options of test/fuzz/run.py]
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/env.sh
minutes="${1:?minutes}"
shift

echo "==> engine with AddressSanitizer and UndefinedBehaviorSanitizer"
PYTHON=python tools/instrumented_engine.sh address > /dev/null
# Python itself is not instrumented: the sanitizer comes first by force, and leaves its many small leaks alone.
env PYTHONPATH="$PWD/build/instrumented/address" PYTHONSAFEPATH=1 PYTHONMALLOC=malloc \
    LD_PRELOAD="$(gcc -print-file-name=libasan.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_segv=1 UBSAN_OPTIONS=print_stacktrace=1 \
    python test/fuzz/run.py --minutes "$minutes" "$@"

make test-c-threads
echo "==> threads of Python programs under ThreadSanitizer"
PYTHON=python tools/instrumented_engine.sh thread > /dev/null
env PYTHONPATH="$PWD/build/instrumented/thread" PYTHONSAFEPATH=1 LD_PRELOAD="$(gcc -print-file-name=libtsan.so)" \
    TSAN_OPTIONS="suppressions=$PWD/tools/tsan_suppressions.txt:halt_on_error=0:exitcode=66:report_signal_unsafe=0" \
    python -m pytest -q -p no:cacheprovider test/engine/world/test_threads.py test/engine/world/test_step_threads.py \
    test/engine/objects/test_grains.py test/engine/batch/test_batch.py -k "thread and not ctrl_c and not random_worlds"
