"""`python -m raisim_ros.ros.node.worker`: one piece of long work, in a process that can be ended at any time.

The work comes as a pickle on standard input: the name of a function of `preparation`, its argument, which files it may
use and how large. What it does and what comes of it goes out, packed, on the descriptor that was standard output: texts
of progress, and last a `Finished`.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import warnings
from typing import Any

from raisim_ros.ros.node.work_protocol import Finished, packed

_PR_SET_PDEATHSIG = 1


def _end_with_parent() -> None:
    """The kernel kills this process when the one that started it is gone, however it went."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def main() -> int:
    """Does the work that stands on standard input."""
    _end_with_parent()
    os.nice(5)  # the world that goes on stepping comes first
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print must not print into the answer

    def send(thing: Any) -> None:
        for piece in packed(thing):
            out.write(piece)
        out.flush()

    from raisim_ros.description.file_access import set_access
    from raisim_ros.description.limits import set_file_limits
    from raisim_ros.description.mesh import memory
    from raisim_ros.description.mesh.convex_decomposition import found_decompositions
    from raisim_ros.ros.node import preparation

    memory.keep_all()
    warned: list[str] = []
    warnings.showwarning = lambda message, *place, **more: warned.append(str(message))
    name, argument, access, limits = pickle.load(sys.stdin.buffer)
    set_access(access)
    set_file_limits(limits)
    try:
        value = getattr(preparation, name)(argument, send)
        send(Finished(value, decompositions=found_decompositions(), meshes=memory.contents(), warnings=warned))
    except Exception as error:
        send(Finished(error_class=type(error), error_text=str(error), warnings=warned))
    return 0


if __name__ == "__main__":
    sys.exit(main())
