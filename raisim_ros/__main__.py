"""``python -m raisim_ros``, and the program ``raisim_ros``."""

import signal
import sys


def main() -> int:
    """The command line. Ctrl-C while Python imports it ends the process at once, without a traceback."""
    answer = signal.getsignal(signal.SIGINT)
    if answer is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from raisim_ros.cli.main import main as run

    signal.signal(signal.SIGINT, answer)
    return run()


if __name__ == "__main__":
    sys.exit(main())
