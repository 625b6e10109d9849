"""What a world file says, as plain data. SI units, quaternions w, x, y, z."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.collision_groups import ALL_GROUPS
from raisim_ros.description.errors import Place
from raisim_ros.description.materials import MaterialManager
from raisim_ros.description.robot.kinematic_tree import KinematicTree, TreeActuator, TreeLock, TreeState, TreeTendon
from raisim_ros.description.sensor.types import SensorSetModel
from raisim_ros.description.terrain import HeightMapData
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.description.world.scene_types import LightSettings, NamedPose, ViewCameraSettings, Viewpoint

Numbers = tuple[float, ...]


@dataclass
class BodyState:
    """Pose of the body origin, velocity of the centre of mass, world frame."""

    position: Numbers = (0.0, 0.0, 0.0)
    quaternion: Numbers = (1.0, 0.0, 0.0, 0.0)
    linear_velocity: Numbers = (0.0, 0.0, 0.0)
    angular_velocity: Numbers = (0.0, 0.0, 0.0)


@dataclass
class SensorSetEntry:
    """Sensors on an object, or on a link of a robot."""

    model: SensorSetModel
    link: str = ""
    serial_number: str = ""


@dataclass
class ObjectEntry:
    """What all objects of a world file have in common."""

    place: Place
    name: str = ""
    material: str = "default"
    appearance: str = ""
    collision_group: int = 1
    collision_mask: int = ALL_GROUPS
    interface: InterfaceSettings = field(default_factory=InterfaceSettings)
    sensor_sets: list[SensorSetEntry] = field(default_factory=list)


@dataclass
class BodyEntry(ObjectEntry):
    """A single body with mass; `inertia`: xx xy xz yy yz zz about the centre of mass, None: from the shape."""

    body_type: str = "dynamic"
    sensor: Path | None = None
    mass: float = 1.0
    com: Numbers | None = None
    inertia: Numbers | None = None
    linear_damping: float = 0.0
    angular_damping: Numbers = (0.0, 0.0, 0.0)
    gyroscopic_mode: str = "energy_conserving"
    state: BodyState = field(default_factory=BodyState)


@dataclass
class PrimitiveEntry(BodyEntry):
    """A sphere (radius), box (x, y, z), cylinder, cone or capsule (radius, height) [m]."""

    shape: str = "sphere"
    dim: Numbers = ()


@dataclass
class ChildEntry:
    """A primitive of a compound, in the body frame."""

    place: Place
    shape: str
    dim: Numbers
    position: Numbers = (0.0, 0.0, 0.0)
    quaternion: Numbers = (1.0, 0.0, 0.0, 0.0)
    material: str = "default"
    appearance: str = ""


@dataclass
class CompoundEntry(BodyEntry):
    """Several primitives in one body."""

    children: list[ChildEntry] = field(default_factory=list)


@dataclass
class MeshEntry(BodyEntry):
    """A body with the shape of a mesh file."""

    file: Path = Path()
    scale: Numbers = (1.0, 1.0, 1.0)
    collision_mode: str = "convexify"


@dataclass
class GroundEntry(ObjectEntry):
    """The half-space below a height [m]."""

    height: float = 0.0


@dataclass
class LightEntry(ObjectEntry):
    """A light."""

    settings: LightSettings = field(default_factory=LightSettings)
    state: BodyState = field(default_factory=BodyState)


@dataclass
class ViewCameraEntry(ObjectEntry):
    """A camera of a viewer."""

    settings: ViewCameraSettings = field(default_factory=ViewCameraSettings)
    state: BodyState = field(default_factory=BodyState)


@dataclass
class TerrainEntry:
    """Perlin terrain of a heightmap; see TerrainProperties."""

    frequency: float
    z_scale: float
    fractal_octaves: int
    fractal_lacunarity: float
    fractal_gain: float
    step_size: float
    height_offset: float
    seed: int


@dataclass
class HeightMapEntry(ObjectEntry):
    """Terrain from exactly one of: values, Perlin terrain, a PNG file, a text file, or data made of these."""

    x_samples: int = 0
    y_samples: int = 0
    x_size: float = 10.0
    y_size: float = 10.0
    center: Numbers = (0.0, 0.0, 0.0)
    heights: Numbers | NDArray[np.float64] | None = None
    terrain: TerrainEntry | None = None
    png: Path | None = None
    z_scale: float = 1.0
    z_offset: float = 0.0
    text: Path | None = None
    data: HeightMapData | None = None


@dataclass
class ShapeEntry:
    """Settings of one collision shape ("LINK/k") of a robot; None leaves that of the robot."""

    place: Place
    name: str
    collision_group: int | None = None
    collision_mask: int | None = None
    material: str | None = None
    convex: bool = False


@dataclass
class ArticulatedEntry(ObjectEntry):
    """A robot: from a URDF file, or a tree that another reader made; for the export, URDF text.

    `qpos` None: zero position; `qvel` None: zeros. `joints`: attributes of <joints>, by name.
    """

    urdf: Path | None = None
    res_dir: Path | None = None  # None: the folder of the file
    joint_order: tuple[str, ...] | str = ()
    modules: tuple[str, ...] = ()
    base: str = "auto"
    tree: KinematicTree | None = None
    robot_description: str = ""
    collide_parent: bool = False
    convexify_meshes: bool = False
    collision_meshes: str = "hull"
    self_collision: str = "auto"
    srdf: Path | None = None
    integration_scheme: str = "trapezoid"
    control_mode: str = "force_and_torque"
    qpos: Numbers | None = None
    qvel: Numbers | None = None
    base_position: Numbers | None = None
    base_quaternion: Numbers | None = None
    joints: dict[str, Numbers] = field(default_factory=dict)
    shapes: list[ShapeEntry] = field(default_factory=list)
    ignored_links: list[tuple[str, str]] = field(default_factory=list)
    actuators: list[TreeActuator] = field(default_factory=list)
    controls: Numbers = ()  # of the actuators, where the engine keeps them; empty: zero
    activations: Numbers = ()  # of the actuators; empty: zero
    tendons: list[TreeTendon] = field(default_factory=list)
    locks: list[TreeLock] = field(default_factory=list)
    lifted: list[tuple[str, float, Numbers]] = field(default_factory=list)  # link, mass, centre: gravity compensation
    states: dict[str, TreeState] = field(default_factory=dict)  # by name


@dataclass
class WireEndEntry:
    """One end of a wire: an object by name or by its place among the objects, then a body and a point, or a frame."""

    name: str
    index: int | None = None
    local_index: int = 0
    position: Numbers = (0.0, 0.0, 0.0)  # in the frame of the body, or of the frame below [m]
    frame: str | None = None


@dataclass
class WireEntry:
    """A stiff, compliant or custom wire between two objects."""

    place: Place
    ends: tuple[WireEndEntry, WireEndEntry]
    type: str
    length: float
    name: str = ""
    stiffness: float = 0.0
    tension: float = 0.0
    stretch_type: str = "stretch_only"
    explicit: bool = False
    width: float = 0.01
    color: str = ""


@dataclass
class SimulationSettings:
    """Settings of a world file; None leaves the world's own value."""

    gravity: Numbers | None = None
    time_step: float | None = None
    time: float | None = None
    # Attributes of the elements of these names; those that are missing have the engine's defaults.
    fluid: dict[str, Any] | None = None
    erp: dict[str, Any] | None = None
    solver: dict[str, Any] | None = None
    contact: dict[str, Any] | None = None
    sleeping: dict[str, Any] | None = None


@dataclass
class WorldDescription:
    """A world file, with what it includes."""

    source: str
    settings: SimulationSettings = field(default_factory=SimulationSettings)
    materials: MaterialManager | None = None
    objects: list[ObjectEntry] = field(default_factory=list)
    wires: list[WireEntry] = field(default_factory=list)
    viewpoint: Viewpoint | None = None
    named_poses: list[NamedPose] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def count(self) -> int:
        """How many objects and wires there are."""
        return len(self.objects) + len(self.wires)
