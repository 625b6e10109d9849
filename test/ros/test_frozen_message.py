"""A frozen message, patched, is what rclpy serialises from the same values."""

import random
import string

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from rosidl_parser.definition import AbstractSequence, AbstractString, Array, BasicType, NamespacedType
from sensor_msgs.msg import CameraInfo, Image, Imu, JointState, LaserScan, PointCloud2
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.msg import (
    Contact,
    ContactArray,
    ObjectCmd,
    ObjectInfo,
    ObjectState,
    ObjectStateArray,
    WorldState,
)
from raisim_ros.ros import frozen_message
from raisim_ros.ros.cdr_layout import Layout
from raisim_ros.ros.frozen_message import ENCAPSULATION, FrozenElement, FrozenMessage, FrozenSequence

MESSAGES = [
    CameraInfo, Clock, Contact, Image, Imu, JointState, LaserScan, Marker, ObjectCmd, ObjectInfo, ObjectState,
    ObjectStateArray, Odometry, PointCloud2, TFMessage, TransformStamped, WorldState,
]  # fmt: skip


def random_number(name, generator):
    if name == "boolean":
        return generator.random() < 0.5
    if name in ("octet", "char"):
        return bytes([generator.randrange(256)]) if name == "octet" else generator.randrange(256)
    if name == "float":
        return float(np.float32(generator.uniform(-1e3, 1e3)))
    if name == "double":
        return generator.uniform(-1e9, 1e9)
    limits = np.iinfo(name)
    return generator.randint(limits.min, limits.max)


def random_value(field_type, current, generator):
    if isinstance(field_type, BasicType):
        return random_number(field_type.typename, generator)
    if isinstance(field_type, AbstractString):
        return "".join(generator.choices(string.ascii_letters + "äß漢", k=generator.randrange(12)))
    if isinstance(field_type, NamespacedType):
        return fill(current, generator)
    count = field_type.size if isinstance(field_type, Array) else generator.randrange(6)
    return random_elements(field_type, current, count, generator)


def random_elements(field_type, current, count, generator):
    value_type = field_type.value_type
    if isinstance(value_type, NamespacedType):
        # An empty sequence does not tell the class of its elements: look it up by name.
        package, kind, name = value_type.namespaced_name()
        element_class = getattr(__import__(f"{package}.{kind}", fromlist=[name]), name)
        return [fill(element_class(), generator) for _ in range(count)]
    return [random_value(value_type, None, generator) for _ in range(count)]


def fill(message, generator):
    """Random text, array lengths and numbers in every field."""
    for name, field_type in zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True):
        assert isinstance(field_type, BasicType | AbstractString | NamespacedType | AbstractSequence | Array)
        setattr(message, name, random_value(field_type, getattr(message, name), generator))
    return message


def refill_numbers(message, generator):
    """New numbers; text and lengths stay."""
    for name, field_type in zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True):
        value = getattr(message, name)
        if isinstance(field_type, BasicType):
            setattr(message, name, random_number(field_type.typename, generator))
        elif isinstance(field_type, NamespacedType):
            refill_numbers(value, generator)
        elif isinstance(field_type, AbstractSequence | Array):
            if isinstance(field_type.value_type, NamespacedType):
                for element in value:
                    refill_numbers(element, generator)
            elif isinstance(field_type.value_type, BasicType):
                type_name = field_type.value_type.typename
                setattr(message, name, [random_number(type_name, generator) for _ in range(len(value))])


def value_at(message, path):
    """The value at a path such as `states[1].pose.position.x`."""
    for part in path.split("."):
        name, _, index = part.partition("[")
        message = getattr(message, name)
        if index:
            message = message[int(index[:-1])]
    return message


def assert_serialises(data, message):
    """`data` is a serialised form of `message`; what lies in the padding between fields does not matter."""
    expected = serialize_message(message)
    assert len(data) <= len(expected)  # rclpy's may be followed by unused bytes
    assert data[:ENCAPSULATION] == expected[:ENCAPSULATION]
    assert deserialize_message(data, type(message)) == message


@pytest.mark.parametrize("message_class", MESSAGES, ids=lambda c: c.__name__)
def test_patched_bytes_equal_serialised_bytes(message_class):
    generator = random.Random(message_class.__name__)
    for _ in range(20):
        message = fill(message_class(), generator)
        frozen = FrozenMessage(message)
        assert_serialises(frozen.to_bytes(), message)
        refill_numbers(message, generator)
        slots = Layout(message).slots
        assert slots or not message_class.SLOT_TYPES
        for path in slots:
            view = frozen.numbers(path)
            assert view.flags.aligned
            value = value_at(message, path)
            view[:] = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else value
        assert_serialises(frozen.to_bytes(), message)


SEQUENCES = [
    (ObjectStateArray, "states", ObjectState, "sim_step", "wrench.torque.z"),
    (TFMessage, "transforms", TransformStamped, "transform.translation.x", "transform.rotation.w"),
    (MarkerArray, "markers", Marker, "pose.position.x", "scale.z"),
    (ContactArray, "contacts", Contact, "position.x", "depth"),
]


@pytest.mark.parametrize(("sequence_class", "field", "element_class", "first", "last"), SEQUENCES)
@pytest.mark.parametrize("count", [0, 1, 2, 17])
def test_sequence_equals_serialised_bytes(sequence_class, field, element_class, first, last, count):
    generator = random.Random(count)
    for _ in range(10):
        message = fill(sequence_class(), generator)
        setattr(message, field, [fill(element_class(), generator) for _ in range(count)])
        elements = [FrozenElement(element, sequence_class, field) for element in getattr(message, field)]
        empty = sequence_class()
        for name in message.get_fields_and_field_types():
            if name != field:
                setattr(empty, name, getattr(message, name))
        frozen = FrozenSequence(empty, elements)
        assert_serialises(frozen.to_bytes(), message)

        # New numbers for the run of every element, written here and into the message.
        others = [FrozenMessage(fill(element_class(), generator)) for _ in range(count)]
        rows = np.array([other.numbers(first, last) for other in others])
        frozen.write(first, last, rows)
        for index, row in enumerate(rows):
            patched = FrozenMessage(getattr(message, field)[index])
            patched.numbers(first, last)[:] = row
            getattr(message, field)[index] = deserialize_message(patched.to_bytes(), element_class)
        assert_serialises(frozen.to_bytes(), message)


@pytest.mark.parametrize("count", [1, 2, 60])
def test_a_sequence_filled_with_points_equals_serialised_bytes(count):
    generator = random.Random(count)
    points = np.random.default_rng(count).normal(size=(count, 3))
    markers, elements = [], []
    for _ in range(4):
        marker = fill(Marker(), generator)
        marker.points = []
        element = FrozenElement(marker, MarkerArray, "markers")
        element.fill("points", points, count)
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in points]
        markers.append(marker)
        elements.append(element)
    assert_serialises(FrozenSequence(MarkerArray(), elements).to_bytes(), MarkerArray(markers=markers))


def test_a_run_across_text_is_refused():
    frozen = FrozenMessage(ObjectState(name="ball"))
    with pytest.raises(ValueError, match="side by side"):
        frozen.numbers("header.stamp.sec", "sim_time")


def test_stamp_and_time_of_clock():
    frozen = FrozenMessage(Clock())
    frozen.numbers("clock.sec")[:] = 12
    frozen.numbers("clock.nanosec")[:] = 345
    assert_serialises(frozen.to_bytes(), Clock(clock=Time(sec=12, nanosec=345)))
    assert len(frozen.to_bytes()) == ENCAPSULATION + 8


def test_bytes_between_fields_are_zero(monkeypatch):
    """Two nodes with the same measurements sent different bytes: the middleware leaves there what the memory held."""
    gap = slice(25, 28)  # behind the nine bytes of the name, before the first number

    def serialised_into_used_memory(message):
        data = bytearray(serialize_message(message))
        data[gap] = b"\xaa\xbb\xcc"
        return bytes(data)

    monkeypatch.setattr(frozen_message, "serialize_message", serialised_into_used_memory)
    message = Imu()
    message.header.frame_id = "cone/imu"
    data = FrozenMessage(message).to_bytes()
    assert data[gap] == bytes(3)
    assert deserialize_message(data, Imu) == message
