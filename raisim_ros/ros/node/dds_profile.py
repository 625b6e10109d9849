"""The node's own profile of FastDDS: its thousands of writers are set otherwise than those of its clients."""

from __future__ import annotations

import os
from pathlib import Path

SHARED, OWN = "fastdds.xml", "fastdds_world_node.xml"
# Of FastDDS 2; FastDDS 3 reads another one, and has other words for the times of writers.
VARIABLE = "FASTRTPS_DEFAULT_PROFILES_FILE"


def choose_own_profile() -> None:
    """Where the environment names the profile of the package, takes the node's beside it. Before rclpy begins."""
    file = Path(os.environ.get(VARIABLE, ""))
    own = file.with_name(OWN) if file.name == SHARED else file
    if own != file and own.is_file():
        os.environ[VARIABLE] = str(own)
