"""raisim_ros: a rigid-body simulator with hard contacts, and its ROS 2 node.

``from raisim_ros import World`` needs no ROS; only ``raisim_ros.ros`` imports rclpy. Names are imported when they are
first asked for, so that ``import raisim_ros`` alone is quick.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raisim_ros.description.errors import FileMissingError as FileMissingError
    from raisim_ros.description.errors import FileReadError as FileReadError
    from raisim_ros.description.errors import FileRefusedError as FileRefusedError
    from raisim_ros.description.errors import FileWriteError as FileWriteError
    from raisim_ros.description.errors import InvalidValueError as InvalidValueError
    from raisim_ros.description.errors import MeshError as MeshError
    from raisim_ros.description.errors import ParseError as ParseError
    from raisim_ros.description.errors import RaisimError as RaisimError
    from raisim_ros.description.errors import TemplateError as TemplateError
    from raisim_ros.description.errors import TerrainError as TerrainError
    from raisim_ros.description.errors import UrdfError as UrdfError
    from raisim_ros.description.file_access import get_allowed_folders as get_allowed_folders
    from raisim_ros.description.file_access import set_allowed_folders as set_allowed_folders
    from raisim_ros.description.limits import FileLimits as FileLimits
    from raisim_ros.description.limits import get_file_limits as get_file_limits
    from raisim_ros.description.limits import set_file_limits as set_file_limits
    from raisim_ros.description.materials import MaterialManager as MaterialManager
    from raisim_ros.description.materials import MaterialPairProperties as MaterialPairProperties
    from raisim_ros.description.mesh.convex_decomposition import CoacdOptions as CoacdOptions
    from raisim_ros.description.mesh.file import MeshData as MeshData
    from raisim_ros.description.mesh.file import load_mesh as load_mesh
    from raisim_ros.description.resources import resource as resource
    from raisim_ros.description.robot.model import Child as Child
    from raisim_ros.description.robot.model import Collision as Collision
    from raisim_ros.description.robot.model import Geometry as Geometry
    from raisim_ros.description.robot.model import Joint as Joint
    from raisim_ros.description.robot.model import Link as Link
    from raisim_ros.description.robot.model import Pin as Pin
    from raisim_ros.description.robot.model import Pose as Pose
    from raisim_ros.description.robot.model import Visual as Visual
    from raisim_ros.description.sensor.file import load_sensor_set as load_sensor_set
    from raisim_ros.description.sensor.types import ContactModel as ContactModel
    from raisim_ros.description.sensor.types import DepthCameraModel as DepthCameraModel
    from raisim_ros.description.sensor.types import ForceTorqueModel as ForceTorqueModel
    from raisim_ros.description.sensor.types import ImuModel as ImuModel
    from raisim_ros.description.sensor.types import LidarModel as LidarModel
    from raisim_ros.description.sensor.types import NoiseModel as NoiseModel
    from raisim_ros.description.sensor.types import RGBCameraModel as RGBCameraModel
    from raisim_ros.description.sensor.types import SensorSetModel as SensorSetModel
    from raisim_ros.description.terrain import HeightMapData as HeightMapData
    from raisim_ros.description.terrain import TerrainProperties as TerrainProperties
    from raisim_ros.description.world.interface_settings import InterfaceSettings as InterfaceSettings
    from raisim_ros.description.world.scene_types import LightSettings as LightSettings
    from raisim_ros.description.world.scene_types import NamedPose as NamedPose
    from raisim_ros.description.world.scene_types import ViewCameraSettings as ViewCameraSettings
    from raisim_ros.description.world.scene_types import Viewpoint as Viewpoint
    from raisim_ros.description.world.soft_types import DeformableMaterial as DeformableMaterial
    from raisim_ros.description.world.soft_types import GranularMaterial as GranularMaterial
    from raisim_ros.description.world.soft_types import MeshBuildOptions as MeshBuildOptions
    from raisim_ros.description.xml.template import ParameterContainer as ParameterContainer
    from raisim_ros.engine._library import Info as Info
    from raisim_ros.engine._library import info as info
    from raisim_ros.engine.articulated.report import Finding as Finding
    from raisim_ros.engine.articulated.system import ArticulatedSystem as ArticulatedSystem
    from raisim_ros.engine.batch.object_batch import ObjectBatch as ObjectBatch
    from raisim_ros.engine.batch.object_batch import RobotBatch as RobotBatch
    from raisim_ros.engine.batch.world_batch import MemberSnapshot as MemberSnapshot
    from raisim_ros.engine.batch.world_batch import WorldBatch as WorldBatch
    from raisim_ros.engine.errors import DivergedError as DivergedError
    from raisim_ros.engine.errors import EngineMemoryError as EngineMemoryError
    from raisim_ros.engine.errors import ObjectRemovedError as ObjectRemovedError
    from raisim_ros.engine.errors import UnknownNameError as UnknownNameError
    from raisim_ros.engine.errors import WrongStateError as WrongStateError
    from raisim_ros.engine.errors import WrongTypeError as WrongTypeError
    from raisim_ros.engine.objects.contact import Contact as Contact
    from raisim_ros.engine.objects.deformable import DeformableObject as DeformableObject
    from raisim_ros.engine.objects.granular import GranularStepStats as GranularStepStats
    from raisim_ros.engine.objects.granular import GranularSystem as GranularSystem
    from raisim_ros.engine.objects.handles import Box as Box
    from raisim_ros.engine.objects.handles import Capsule as Capsule
    from raisim_ros.engine.objects.handles import Compound as Compound
    from raisim_ros.engine.objects.handles import Cone as Cone
    from raisim_ros.engine.objects.handles import Cylinder as Cylinder
    from raisim_ros.engine.objects.handles import Ground as Ground
    from raisim_ros.engine.objects.handles import SingleBodyObject as SingleBodyObject
    from raisim_ros.engine.objects.handles import Sphere as Sphere
    from raisim_ros.engine.objects.object_handle import Object as Object
    from raisim_ros.engine.objects.scene_handles import LightObject as LightObject
    from raisim_ros.engine.objects.scene_handles import ViewCamera as ViewCamera
    from raisim_ros.engine.objects.soft_handles import SoftImpulse as SoftImpulse
    from raisim_ros.engine.objects.soft_handles import SoftObject as SoftObject
    from raisim_ros.engine.objects.surface_handles import HeightMap as HeightMap
    from raisim_ros.engine.objects.surface_handles import Mesh as Mesh
    from raisim_ros.engine.objects.wires import StretchType as StretchType
    from raisim_ros.engine.objects.wires import Wire as Wire
    from raisim_ros.engine.objects.wires import WireType as WireType
    from raisim_ros.engine.sensors.motion import IMU as IMU
    from raisim_ros.engine.sensors.motion import ContactSensor as ContactSensor
    from raisim_ros.engine.sensors.motion import ForceTorque as ForceTorque
    from raisim_ros.engine.sensors.sensor import MeasurementSource as MeasurementSource
    from raisim_ros.engine.sensors.sensor import Sensor as Sensor
    from raisim_ros.engine.sensors.sensor import SensorSet as SensorSet
    from raisim_ros.engine.sensors.sensor import SensorType as SensorType
    from raisim_ros.engine.sensors.vision import DepthCamera as DepthCamera
    from raisim_ros.engine.sensors.vision import Light as Light
    from raisim_ros.engine.sensors.vision import RGBCamera as RGBCamera
    from raisim_ros.engine.sensors.vision import SpinningLidar as SpinningLidar
    from raisim_ros.engine.types import ArticulatedSystemOption as ArticulatedSystemOption
    from raisim_ros.engine.types import BodyType as BodyType
    from raisim_ros.engine.types import BroadphaseSettings as BroadphaseSettings
    from raisim_ros.engine.types import BroadphaseType as BroadphaseType
    from raisim_ros.engine.types import CollisionBody as CollisionBody
    from raisim_ros.engine.types import CollisionCounters as CollisionCounters
    from raisim_ros.engine.types import CompoundChild as CompoundChild
    from raisim_ros.engine.types import ContactSettings as ContactSettings
    from raisim_ros.engine.types import ControlMode as ControlMode
    from raisim_ros.engine.types import GyroscopicMode as GyroscopicMode
    from raisim_ros.engine.types import IntegrationScheme as IntegrationScheme
    from raisim_ros.engine.types import JointSpring as JointSpring
    from raisim_ros.engine.types import MeshCollisionMode as MeshCollisionMode
    from raisim_ros.engine.types import ObjectType as ObjectType
    from raisim_ros.engine.types import ShapeType as ShapeType
    from raisim_ros.engine.types import SingleBodySnapshot as SingleBodySnapshot
    from raisim_ros.engine.types import SleepSettings as SleepSettings
    from raisim_ros.engine.types import SparseJacobian as SparseJacobian
    from raisim_ros.engine.types import StateBuffer as StateBuffer
    from raisim_ros.engine.world.rays import DepthCameraFrame as DepthCameraFrame
    from raisim_ros.engine.world.rays import DepthCameraProperties as DepthCameraProperties
    from raisim_ros.engine.world.rays import RayCollisionItem as RayCollisionItem
    from raisim_ros.engine.world.snapshots import WorldSnapshot as WorldSnapshot
    from raisim_ros.engine.world.world import World as World
    from raisim_ros.viewer.recording import Recording as Recording
    from raisim_ros.viewer.scene import View as View
    from raisim_ros.viewer.viewer import Viewer as Viewer

    __version__: str

# The lines above are the one list of names: what type checkers import at once is imported here when it is asked for.
_IMPORT = re.compile(r"from (raisim_ros\S+) import (\w+) as")
_HOME_OF = {name: module for module, name in _IMPORT.findall(Path(__file__).read_text(encoding="utf-8"))}
_PACKAGES = ("client", "description", "distributed", "engine", "envs", "ros", "viewer")

# Viewer is not in __all__: a star import must not need the package viser.
__all__ = ["__version__", *sorted(set(_HOME_OF) - {"Viewer"})]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("raisim_ros.description.resources").package_version()
    elif name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    elif name in _PACKAGES:
        value = import_module(f"raisim_ros.{name}")
    else:
        raise AttributeError(f"module 'raisim_ros' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "Viewer"})
