"""What collides in the place of a body's mesh."""

from __future__ import annotations

from collections.abc import Sequence

from raisim_ros.description.mesh.convex_decomposition import CoacdOptions, decompose
from raisim_ros.description.mesh.file import MeshData, convex_hull
from raisim_ros.engine.types import MeshCollisionMode


def collision_parts(mesh: MeshData, mode: MeshCollisionMode, options: CoacdOptions | None) -> Sequence[MeshData]:
    """What collides in place of the mesh; the mesh itself means its triangles."""
    if mode == MeshCollisionMode.ORIGINAL_MESH:
        return [mesh]
    if mode == MeshCollisionMode.CONVEX_HULL:
        return [convex_hull(mesh)]
    return decompose(mesh, options) or [mesh]  # empty: not to be had, as a warning told
