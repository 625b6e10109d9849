"""Definitions of the ROS messages in MCAP files: whoever opens one needs no ROS."""

from __future__ import annotations

# Between the definition of a message and those of its parts, as the format has it.
_LINE = 80 * "=" + "\n"
_TIME = f"{_LINE}MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
_HEADER = f"{_LINE}MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n{_TIME}"
_VECTOR = f"{_LINE}MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
_QUATERNION = f"{_LINE}MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"

FRAMES, JOINTS, CLOCK = "tf2_msgs/msg/TFMessage", "sensor_msgs/msg/JointState", "rosgraph_msgs/msg/Clock"
IMAGE, CLOUD = "sensor_msgs/msg/Image", "sensor_msgs/msg/PointCloud2"
INERTIAL, WRENCH = "sensor_msgs/msg/Imu", "geometry_msgs/msg/WrenchStamped"

DEFINITIONS = {
    FRAMES: "geometry_msgs/TransformStamped[] transforms\n"
    f"{_LINE}MSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\nstring child_frame_id\n"
    "geometry_msgs/Transform transform\n"
    f"{_LINE}MSG: geometry_msgs/Transform\ngeometry_msgs/Vector3 translation\n"
    f"geometry_msgs/Quaternion rotation\n{_VECTOR}{_QUATERNION}{_HEADER}",
    JOINTS: "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n"
    f"float64[] effort\n{_HEADER}",
    CLOCK: f"builtin_interfaces/Time clock\n{_TIME}",
    IMAGE: "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\n"
    f"uint8[] data\n{_HEADER}",
    CLOUD: "std_msgs/Header header\nuint32 height\nuint32 width\nsensor_msgs/PointField[] fields\nbool is_bigendian\n"
    "uint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n"
    f"{_LINE}MSG: sensor_msgs/PointField\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n{_HEADER}",
    INERTIAL: "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
    "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
    "geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance\n"
    f"{_VECTOR}{_QUATERNION}{_HEADER}",
    WRENCH: "std_msgs/Header header\ngeometry_msgs/Wrench wrench\n"
    f"{_LINE}MSG: geometry_msgs/Wrench\ngeometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque\n{_VECTOR}{_HEADER}",
}
