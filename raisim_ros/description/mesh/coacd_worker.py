"""Runs CoACD in a process of its own: ``coacd_worker.py MESH.npz OPTIONS.json PARTS.npz``.

Started as a script by convex_decomposition.py: the library may take minutes, or end the process that calls it. Needs
nothing of this package. What went wrong is printed as one line; the exit status is then 1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(mesh_file: str, options_file: str, parts_file: str) -> None:
    """Decompose the mesh of a file."""
    import coacd
    import numpy as np

    coacd.set_log_level("error")
    with np.load(mesh_file) as mesh:
        whole = coacd.Mesh(mesh["vertices"], mesh["triangles"])
    options = json.loads(Path(options_file).read_text(encoding="utf-8"))
    parts = [np.asarray(vertices, dtype=np.float64) for vertices, _ in coacd.run_coacd(whole, **options)]
    points = np.concatenate([np.zeros((0, 3)), *parts])
    np.savez(parts_file, points=points, counts=np.array([len(part) for part in parts], dtype=np.int64))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as failure:  # the library raises plain RuntimeErrors of its own
        print(str(failure).strip() or type(failure).__name__)
        sys.exit(1)
