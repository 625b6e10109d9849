"""raisim_ros: a rigid-body simulator with hard contacts, and its ROS 2 node.

``from raisim_ros import World`` needs no ROS; only ``raisim_ros.ros`` imports rclpy.
"""

from typing import Any

from raisim_ros.description.errors import (
    FileMissingError,
    FileReadError,
    FileRefusedError,
    FileWriteError,
    InvalidValueError,
    MeshError,
    ParseError,
    RaisimError,
    TemplateError,
    TerrainError,
    UrdfError,
)
from raisim_ros.description.file_access import get_allowed_folders, set_allowed_folders
from raisim_ros.description.limits import FileLimits, get_file_limits, set_file_limits
from raisim_ros.description.materials import MaterialManager, MaterialPairProperties
from raisim_ros.description.mesh.convex_decomposition import CoacdOptions
from raisim_ros.description.mesh.file import MeshData, load_mesh
from raisim_ros.description.resources import package_version, resource
from raisim_ros.description.robot.model import Child, Collision, Geometry, Joint, Link, Pin, Pose, Visual
from raisim_ros.description.sensor.file import load_sensor_set
from raisim_ros.description.sensor.types import (
    ContactModel,
    DepthCameraModel,
    ForceTorqueModel,
    ImuModel,
    LidarModel,
    NoiseModel,
    RGBCameraModel,
    SensorSetModel,
)
from raisim_ros.description.terrain import HeightMapData, TerrainProperties
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.description.world.scene_types import LightSettings, NamedPose, ViewCameraSettings, Viewpoint
from raisim_ros.description.world.soft_types import DeformableMaterial, GranularMaterial
from raisim_ros.engine._library import Info, info
from raisim_ros.engine.articulated.report import Finding
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.batch.object_batch import ObjectBatch, RobotBatch
from raisim_ros.engine.batch.world_batch import MemberSnapshot, WorldBatch
from raisim_ros.engine.errors import (
    DivergedError,
    EngineMemoryError,
    ObjectRemovedError,
    UnknownNameError,
    WrongStateError,
    WrongTypeError,
)
from raisim_ros.engine.objects.contact import Contact
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.granular import GranularStepStats, GranularSystem
from raisim_ros.engine.objects.handles import Box, Capsule, Compound, Cone, Cylinder, Ground, SingleBodyObject, Sphere
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.scene_handles import LightObject, ViewCamera
from raisim_ros.engine.objects.soft_handles import SoftImpulse, SoftObject
from raisim_ros.engine.objects.surface_handles import HeightMap, Mesh
from raisim_ros.engine.objects.wires import StretchType, Wire, WireType
from raisim_ros.engine.sensors.motion import IMU, ContactSensor, ForceTorque
from raisim_ros.engine.sensors.sensor import MeasurementSource, Sensor, SensorSet, SensorType
from raisim_ros.engine.sensors.vision import DepthCamera, Light, RGBCamera, SpinningLidar
from raisim_ros.engine.types import (
    ArticulatedSystemOption,
    BodyType,
    BroadphaseSettings,
    BroadphaseType,
    CollisionBody,
    CollisionCounters,
    CompoundChild,
    ContactSettings,
    ControlMode,
    GyroscopicMode,
    IntegrationScheme,
    JointSpring,
    MeshCollisionMode,
    ObjectType,
    ShapeType,
    SingleBodySnapshot,
    SleepSettings,
    SparseJacobian,
    StateBuffer,
)
from raisim_ros.engine.world.rays import DepthCameraFrame, DepthCameraProperties, RayCollisionItem
from raisim_ros.engine.world.snapshots import WorldSnapshot
from raisim_ros.engine.world.world import World

__all__ = [
    "IMU",
    "ArticulatedSystem",
    "ArticulatedSystemOption",
    "BodyType",
    "Box",
    "BroadphaseSettings",
    "BroadphaseType",
    "Capsule",
    "Child",
    "CoacdOptions",
    "Collision",
    "CollisionBody",
    "CollisionCounters",
    "Compound",
    "CompoundChild",
    "Cone",
    "Contact",
    "ContactModel",
    "ContactSensor",
    "ContactSettings",
    "ControlMode",
    "Cylinder",
    "DeformableMaterial",
    "DeformableObject",
    "DepthCamera",
    "DepthCameraFrame",
    "DepthCameraModel",
    "DepthCameraProperties",
    "DivergedError",
    "EngineMemoryError",
    "FileLimits",
    "FileMissingError",
    "FileReadError",
    "FileRefusedError",
    "FileWriteError",
    "Finding",
    "ForceTorque",
    "ForceTorqueModel",
    "Geometry",
    "GranularMaterial",
    "GranularStepStats",
    "GranularSystem",
    "Ground",
    "GyroscopicMode",
    "HeightMap",
    "HeightMapData",
    "ImuModel",
    "Info",
    "IntegrationScheme",
    "InterfaceSettings",
    "InvalidValueError",
    "Joint",
    "JointSpring",
    "LidarModel",
    "Light",
    "LightObject",
    "LightSettings",
    "Link",
    "MaterialManager",
    "MaterialPairProperties",
    "MeasurementSource",
    "MemberSnapshot",
    "Mesh",
    "MeshCollisionMode",
    "MeshData",
    "MeshError",
    "NamedPose",
    "NoiseModel",
    "Object",
    "ObjectBatch",
    "ObjectRemovedError",
    "ObjectType",
    "ParseError",
    "Pin",
    "Pose",
    "RGBCamera",
    "RGBCameraModel",
    "RaisimError",
    "RayCollisionItem",
    "Recording",
    "RobotBatch",
    "Sensor",
    "SensorSet",
    "SensorSetModel",
    "SensorType",
    "ShapeType",
    "SingleBodyObject",
    "SingleBodySnapshot",
    "SleepSettings",
    "SoftImpulse",
    "SoftObject",
    "SparseJacobian",
    "Sphere",
    "SpinningLidar",
    "StateBuffer",
    "StretchType",
    "TemplateError",
    "TerrainError",
    "TerrainProperties",
    "UnknownNameError",
    "UrdfError",
    "View",
    "ViewCamera",
    "ViewCameraSettings",
    "Viewpoint",
    "Visual",
    "Wire",
    "WireType",
    "World",
    "WorldBatch",
    "WorldSnapshot",
    "WrongStateError",
    "WrongTypeError",
    "__version__",
    "get_allowed_folders",
    "get_file_limits",
    "info",
    "load_mesh",
    "load_sensor_set",
    "resource",
    "set_allowed_folders",
    "set_file_limits",
]


# Viewer is not in __all__: a star import must not need the package viser.
_LAZY = {
    "Recording": "raisim_ros.viewer.recording",
    "View": "raisim_ros.viewer.scene",
    "Viewer": "raisim_ros.viewer.viewer",
}


def __getattr__(name: str) -> Any:
    """What needs optional packages, or more than the engine, is imported when it is asked for."""
    if name == "__version__":
        return package_version()
    if name not in _LAZY:
        raise AttributeError(f"module 'raisim_ros' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
