"""Writes worlds and robots for MuJoCo."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from raisim_ros.description.errors import FileWriteError
from raisim_ros.description.mjcf.export import write_mjcf_file
from raisim_ros.description.world.types import WorldDescription


def export_mjcf(path: Path, description: WorldDescription) -> None:
    """Write the file; one warning tells what it cannot hold."""
    if os.path.isdir(path):  # before files are written beside it
        raise FileWriteError(path, "it is a folder")
    left_out = write_mjcf_file(path, description)
    if left_out:
        text = f"{path}: not part of MJCF and left out: {', '.join(left_out)}"
        warnings.warn(text, RuntimeWarning, stacklevel=4)
