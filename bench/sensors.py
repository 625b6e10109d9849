"""Lidar and depth camera beside MuJoCo and Embree, on one core.

    python bench/sensors.py

Scenes: 200 boxes on the ground; a mesh of 100 000 triangles; a heightmap of 500 x 500 samples. A lidar with 64 rows of
1024 rays, and a depth camera of 640 x 480 pixels. Every engine casts the same rays; the largest difference of the
distances stands beside the speed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import mujoco
import numpy as np
import trimesh

from raisim_ros import DepthCameraProperties, MeshCollisionMode, World

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, one_core, table

try:
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh
except ImportError:  # no wheel for every Python
    rtcore_scene = None

ROWS, COLUMNS = 64, 1024
PITCH_MIN, PITCH_MAX = -0.4, 0.2  # [rad]
ORIGIN = np.array([0.3, -0.2, 1.5])
RANGE = 100.0  # [m]
CAMERA = DepthCameraProperties(640, 480, 1.5, 0.05, RANGE)
TARGET_MUJOCO, TARGET_EMBREE, TARGET_FRAMES = 5.0, 1.5, 100.0
LONG_ENOUGH = 0.2  # of one measurement [s]


@dataclass
class Scene:
    """One world, and the same for the peers."""

    name: str
    world: World
    mjcf: str
    mesh: trimesh.Trimesh | None = None
    heights: np.ndarray | None = None


def boxes() -> Scene:
    """200 boxes of different size, strewn over 40 m x 40 m of ground."""
    random = np.random.default_rng(1)
    world = World()
    world.add_ground()
    geoms = ['<geom type="plane" size="0 0 1"/>']
    for _ in range(200):
        size = random.uniform(0.3, 1.5, 3)
        x, y = random.uniform(-20, 20, 2)
        x, y = (x, y) if np.hypot(x, y) > 2.5 else (x + 5, y + 5)
        half_yaw = random.uniform(0, np.pi)
        pose = (x, y, size[2] / 2), (np.cos(half_yaw), 0, 0, np.sin(half_yaw))
        world.add_box(*size, 1.0).set_pose(*pose)
        place = " ".join(map(repr, map(float, pose[0]))), " ".join(map(repr, map(float, pose[1])))
        half = " ".join(repr(float(length / 2)) for length in size)
        geoms.append(f'<geom type="box" size="{half}" pos="{place[0]}" quat="{place[1]}"/>')
    return Scene("200 boxes on the ground", world, f"<worldbody>{''.join(geoms)}</worldbody>")


def hills(samples: int, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Heights of a hilly square and the coordinates of its samples along an axis; flat around the sensor."""
    axis = np.linspace(-size / 2, size / 2, samples)
    x, y = np.meshgrid(axis, axis)
    heights = 0.6 * np.sin(0.9 * x) * np.cos(0.7 * y) + 0.25 * np.sin(3.1 * x + 1) * np.sin(2.3 * y)
    return heights + 0.02 * np.hypot(x, y), axis


def mesh(folder: Path) -> Scene:
    """Hills of 2 x 224 x 224 triangles."""
    heights, axis = hills(225, 40.0)
    x, y = np.meshgrid(axis, axis)
    corner = np.add.outer(np.arange(224) * 225, np.arange(224)).ravel()
    faces = np.r_[np.c_[corner, corner + 1, corner + 226], np.c_[corner, corner + 226, corner + 225]]
    surface = trimesh.Trimesh(np.c_[x.ravel(), y.ravel(), heights.ravel()], faces, process=False)
    path = folder / "hills.obj"
    surface.export(path)
    world = World()
    world.add_mesh(path, 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH).set_body_type(2)
    mjcf = (
        f'<asset><mesh name="hills" file="{path}" inertia="shell"/></asset>'
        '<worldbody><geom type="mesh" mesh="hills"/></worldbody>'
    )
    return Scene("mesh of 100 000 triangles", world, mjcf, surface)


def heightmap() -> Scene:
    """Hills of 500 x 500 samples."""
    heights, _ = hills(500, 40.0)
    world = World()
    world.add_height_map(500, 500, 40.0, 40.0, 0.0, 0.0, heights.ravel())
    low, high = heights.min(), heights.max()
    mjcf = (
        f'<asset><hfield name="hills" nrow="500" ncol="500" size="20 20 {high - low} 1"/></asset>'
        f'<worldbody><geom type="hfield" hfield="hills" pos="0 0 {low}"/></worldbody>'
    )
    relative = ((heights - low) / (high - low)).astype(np.float32)
    return Scene("heightmap of 500 x 500", world, mjcf, heights=relative)


def lidar_directions(columns: int) -> np.ndarray:
    """Unit directions in the order of the scan: yaw outer, pitch inner."""
    yaw = np.arange(columns) * (2 * np.pi / columns)
    pitch = PITCH_MIN + np.arange(ROWS) * ((PITCH_MAX - PITCH_MIN) / (ROWS - 1))
    yaw, pitch = np.meshgrid(yaw, pitch, indexing="ij")
    return np.stack((np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)), -1).reshape(-1, 3)


def seconds(work: Callable[[], object], effort: Effort) -> float:
    """Computing time of one call: median of runs that last long enough."""
    work()
    times = []
    for _ in range(effort.repeats):
        calls, begin = 0, time.process_time()
        while not calls or time.process_time() - begin < effort.share * LONG_ENOUGH:
            work()
            calls += 1
        times.append((time.process_time() - begin) / calls)
    return median(times)


def scan(world: World, columns: int) -> np.ndarray:
    """One turn of the lidar."""
    increment = (PITCH_MAX - PITCH_MIN) / (ROWS - 1)
    return world.ray_test_lidar(
        np.eye(3), ORIGIN, 0, columns - 1, 2 * np.pi / columns, 1, ROWS, PITCH_MIN, increment, 0.0, RANGE
    )


class MuJoCo:
    """The same rays by mj_multiRay."""

    def __init__(self, scene: Scene, rays: np.ndarray) -> None:
        self.model = mujoco.MjModel.from_xml_string(f"<mujoco>{scene.mjcf}</mujoco>")
        if scene.heights is not None:
            self.model.hfield_data[:] = scene.heights.ravel()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.rays = np.ascontiguousarray(rays.ravel())
        self.geoms = np.zeros(len(rays), dtype=np.int32)
        self.distances = np.zeros(len(rays))

    def __call__(self) -> None:
        mujoco.mj_multiRay(
            self.model, self.data, ORIGIN, self.rays, None, 1, -1, self.geoms, self.distances, None,
            len(self.geoms), RANGE,
        )


class Embree:
    """The same rays by Embree, in single precision."""

    def __init__(self, surface: trimesh.Trimesh, rays: np.ndarray) -> None:
        self.scene = rtcore_scene.EmbreeScene()
        self.mesh = TriangleMesh(self.scene, surface.triangles.astype(np.float32))
        self.rays = rays.astype(np.float32)
        self.origins = np.broadcast_to(ORIGIN, rays.shape).astype(np.float32)
        self.distances = np.zeros(0)

    def __call__(self) -> None:
        self.distances = self.scene.run(self.origins, self.rays, query="DISTANCE")


@dataclass(frozen=True)
class Peer:
    """Another engine: computing time of a scan, and how far its distances are from ours [m]."""

    name: str
    seconds: float
    error: float


def measure_peers(scene: Scene, rays: np.ndarray, effort: Effort) -> list[Peer]:
    """The same rays in the other engines."""
    ours, _, _ = scene.world.cast_rays(ORIGIN, rays, RANGE)
    assert len(scan(scene.world, len(rays) // ROWS)) == np.isfinite(ours).sum()
    others: list[tuple[str, MuJoCo | Embree]] = [("MuJoCo", MuJoCo(scene, rays))]
    if scene.mesh is not None and rtcore_scene is not None:
        others.append(("Embree", Embree(scene.mesh, rays)))
    times = [seconds(other, effort) for _, other in others]
    return [
        Peer(name, time, difference(ours, other.distances))
        for (name, other), time in zip(others, times, strict=True)
    ]


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The 99.9th percentile of the difference of distances where both hit; rays along edges may differ."""
    both = np.isfinite(ours) & (theirs >= 0) & (theirs < RANGE)
    return float(np.quantile(np.abs(ours[both] - theirs[both]), 0.999))


def measure_scene(scene: Scene, effort: Effort) -> list[str]:
    """A line of the table."""
    columns = effort.part(COLUMNS)
    rays = lidar_directions(columns)
    ours = seconds(lambda: scan(scene.world, columns), effort)
    peers = measure_peers(scene, rays, effort)
    frame = seconds(lambda: scene.world.capture_depth_camera(ORIGIN, np.eye(3), CAMERA), effort)
    ratios = {peer.name: f"**{peer.seconds / ours:.1f}**" for peer in peers}
    errors = ", ".join(f"{peer.name} {peer.error:.0e}" for peer in peers)
    line = [scene.name, f"{1e9 * ours / len(rays):.0f}", ratios["MuJoCo"], ratios.get("Embree", ""),
            f"**{1 / frame:.0f}**", errors]
    print(*line, sep=" | ", flush=True)
    return line


@one_core()
def measure(effort: Effort) -> str:
    """Run everything; the section as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [measure_scene(scene, effort) for scene in (boxes(), mesh(Path(folder)), heightmap())]
    head = ["scene", "lidar 64 x 1024 [ns/ray]", f"x MuJoCo (target {TARGET_MUJOCO:g})",
            f"x Embree (target {TARGET_EMBREE:g})", f"depth 640 x 480 [frames/s] (target {TARGET_FRAMES:g})",
            "distances agree within [m]"]
    return f"""## Sensors

{table(head, lines)}

Every engine casts the same rays: MuJoCo with `mj_multiRay`, Embree, in single precision, through embreex; this engine
computes in double precision.
"""


if __name__ == "__main__":
    print(measure(Effort()))
