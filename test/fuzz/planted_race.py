"""A race that is meant, of two Python threads in the engine: ThreadSanitizer must report it (tools/fuzz.sh)."""

import threading

from raisim_ros.engine._library import ffi, lib

shared = ffi.new("rs_body_def *")


def write() -> None:
    for _ in range(20_000):  # without the interpreter's lock, and without one of the engine
        lib.rs_default_body_def(shared)


threads = [threading.Thread(target=write) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
