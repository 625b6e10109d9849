"""``python -m raisim_ros``."""

import sys

from raisim_ros.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
