"""Triangles of a USD stage, through OpenUSD (the extra ``raisim_ros[usd]``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import MeshError


def read_usd(file: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices [m, z up] and triangles of all visible meshes of a stage, each at its place.

    The stage's unit and up axis are converted. Raises MeshError.
    """
    try:
        from pxr import Tf, Usd, UsdGeom
    except ImportError as error:
        raise MeshError(f"{file}: reading USD needs OpenUSD: pip install 'raisim_ros[usd]'") from error
    try:
        stage = Usd.Stage.Open(str(file))
    except Tf.ErrorException as error:
        raise MeshError(f"{file}: not a readable USD file: {error}") from error

    parts = [
        _mesh_triangles(UsdGeom.Mesh(prim), UsdGeom, file)
        for prim in stage.Traverse(Usd.TraverseInstanceProxies())
        if prim.IsA(UsdGeom.Mesh)
    ]
    if not parts:
        raise MeshError(f"{file}: the stage holds no mesh")
    offsets = np.cumsum([0] + [len(points) for points, _ in parts[:-1]])
    vertices = np.concatenate([points for points, _ in parts])
    triangles = np.concatenate([faces + offset for (_, faces), offset in zip(parts, offsets, strict=True)])
    return _to_meters_z_up(vertices, stage, UsdGeom), triangles


def _mesh_triangles(mesh: Any, usd_geom: Any, file: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    points = np.asarray(mesh.GetPointsAttr().Get(), dtype=np.float64).reshape(-1, 3)
    counts = np.asarray(mesh.GetFaceVertexCountsAttr().Get(), dtype=np.int64)
    indices = np.asarray(mesh.GetFaceVertexIndicesAttr().Get(), dtype=np.int64)
    if counts.sum() != len(indices) or (counts < 3).any():
        raise MeshError(f"{file}: mesh {mesh.GetPath()} has broken face counts")
    matrix = np.asarray(usd_geom.Xformable(mesh).ComputeLocalToWorldTransform(0.0), dtype=np.float64)
    world = points @ matrix[:3, :3] + matrix[3, :3]  # USD multiplies row vectors

    # polygons become fans around their first vertex
    first = np.repeat(np.cumsum(counts) - counts, counts - 2)
    step = np.concatenate([np.arange(1, count - 1) for count in counts] or [np.empty(0, np.int64)])
    faces = np.stack([indices[first], indices[first + step], indices[first + step + 1]], axis=1)
    left_handed = mesh.GetOrientationAttr().Get() == usd_geom.Tokens.leftHanded
    if left_handed != bool(np.linalg.det(matrix[:3, :3]) < 0.0):
        faces = faces[:, ::-1]
    return world, faces


def _to_meters_z_up(vertices: NDArray[np.float64], stage: Any, usd_geom: Any) -> NDArray[np.float64]:
    meters = vertices * usd_geom.GetStageMetersPerUnit(stage)
    if usd_geom.GetStageUpAxis(stage) == usd_geom.Tokens.y:
        meters = meters[:, [0, 2, 1]] * np.array([1.0, -1.0, 1.0])
    return np.asarray(meters)
