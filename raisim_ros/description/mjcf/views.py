"""Cameras and lights of a model: those that the world holds are cameras and lights of viewers, and back."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from raisim_ros.description.mjcf.document import Document, add, placed
from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.mjcf.skeleton import Skeleton
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import Array, matrix_from_quaternion, quaternion_from_matrix
from raisim_ros.description.world.scene_types import LIGHT_KINDS, LightSettings, ViewCameraSettings
from raisim_ros.description.world.types import BodyState, LightEntry, ViewCameraEntry

# MuJoCo's cameras look along -z with x to the right, ours along x with y to the left.
_LOOKS = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
# Pictures without a resolution are those of MuJoCo's off-screen buffer.
_ASPECT = 640.0 / 480.0
# MuJoCo's spots are no wider than a half-space.
_WIDEST = math.pi / 2


def view_entries(skeleton: Skeleton, notes: Notes) -> Iterator[ViewCameraEntry | LightEntry]:
    """The cameras and lights that stand still; the others are noted."""
    model = skeleton.model
    for kind, entry in (("cam", _camera), ("light", _light)):
        what = "cameras" if kind == "cam" else "lights"
        for number in range(model.counts[f"n{kind}"]):
            body = int(model[f"{kind}_bodyid"][number])
            if not skeleton.is_static(body) or model.kind(f"{kind}_mode", number) != "fixed":
                notes.add(f"{what} that move")
            elif kind == "light" and not model["light_active"][number]:
                continue
            elif kind == "light" and model.kind("light_type", number) not in LIGHT_KINDS:
                notes.add("lights by pictures")
            else:
                yield entry(skeleton, number, skeleton.world_pose(body))


def _camera(skeleton: Skeleton, number: int, body: Pose) -> ViewCameraEntry:
    model = skeleton.model
    position, rotation = (body @ skeleton.pose("cam", number)).arrays()
    columns, rows = model["cam_resolution"][number]
    aspect = columns / rows if min(columns, rows) > 1 else _ASPECT
    fov = 2.0 * math.atan(aspect * math.tan(0.5 * math.radians(float(model["cam_fovy"][number]))))
    name = model.names["cam"][number] or f"camera_{number}"
    return ViewCameraEntry(
        skeleton.place("cam", number), name, settings=ViewCameraSettings(fov), state=_state(position, rotation @ _LOOKS)
    )


def _light(skeleton: Skeleton, number: int, body: Pose) -> LightEntry:
    model = skeleton.model
    origin, axes = body.arrays()
    color = tuple(float(min(max(share, 0.0), 1.0)) for share in model["light_diffuse"][number])
    cutoff = min(math.radians(float(model["light_cutoff"][number])), _WIDEST)
    settings = LightSettings(
        model.kind("light_type", number), color, cutoff, bool(model["light_castshadow"][number])
    )
    position = origin + axes @ model["light_pos"][number]
    rotation = _shining_along(axes @ model["light_dir"][number])
    name = model.names["light"][number] or f"light_{number}"
    return LightEntry(skeleton.place("light", number), name, settings=settings, state=_state(position, rotation))


def _shining_along(direction: Array) -> Array:
    """A rotation that takes -z to a direction."""
    z = -direction / np.linalg.norm(direction)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _state(position: Array, rotation: Array) -> BodyState:
    return BodyState(tuple(map(float, position)), tuple(map(float, quaternion_from_matrix(rotation))))


# ---- the way back ----


def write_view(document: Document, entry: ViewCameraEntry | LightEntry) -> None:
    """Write a camera or light of the world."""
    rotation = matrix_from_quaternion(entry.state.quaternion)
    world = document["worldbody"]
    if isinstance(entry, ViewCameraEntry):
        fovy = 2.0 * math.atan(math.tan(0.5 * entry.settings.horizontal_fov) / _ASPECT)
        pose = Pose(entry.state.position, rotation @ _LOOKS.T)
        add(world, "camera", name=document.name("camera", entry.name), **placed(pose), fovy=math.degrees(fovy))
        return
    settings = entry.settings
    document.notes.add("the border of spots wider than a half-space", settings.cutoff > _WIDEST)
    add(
        world, "light", name=document.name("light", entry.name), pos=entry.state.position, dir=-rotation[:, 2],
        type=settings.kind, diffuse=settings.color, cutoff=math.degrees(min(settings.cutoff, _WIDEST)),
        castshadow=settings.shadows,
    )  # fmt: skip
