"""The node's own profile of FastDDS: its thousands of topics are set otherwise than those of its clients."""

from __future__ import annotations

import os
from pathlib import Path

SHARED = "fastdds.xml"
# By the variable that names the profile. FastDDS 2 (up to Jazzy) and 3 have different words for the times of writers.
OWN = {
    "FASTRTPS_DEFAULT_PROFILES_FILE": "fastdds_world_node.xml",
    "FASTDDS_DEFAULT_PROFILES_FILE": "fastdds_3_world_node.xml",
}


def choose_own_profile() -> None:
    """Where the environment names the profile of the package, takes the node's beside it. Before rclpy begins."""
    for variable, name in OWN.items():
        file = Path(os.environ.get(variable, ""))
        own = file.with_name(name) if file.name == SHARED else file
        if own != file and own.is_file():
            os.environ[variable] = str(own)
