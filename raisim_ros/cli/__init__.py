"""The command line: ``raisim_ros`` or ``python -m raisim_ros``."""
