"""A recording as a bag: what the MCAP storage of `ros2 bag` asks of a file, and bytes that ROS itself reads."""

import importlib

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("mcap_ros2", reason="the extra 'record' is not installed")

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.serialization import deserialize_message

from raisim_ros.cli.main import main
from raisim_ros.description.resources import resource
from raisim_ros.viewer.recording import Recording


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bag")
    run, bag = folder / "run.raisim", folder / "run.mcap"
    assert main(["run", str(resource("worlds/robots.xml")), "--seconds", "0.1", "--record", str(run)]) == 0
    assert main(["convert", str(run), str(bag)]) == 0
    return run, bag


def message_type(name):
    package, kind, one = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), one)


def test_the_file_has_what_the_storage_plugin_needs(recorded):
    with recorded[1].open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        assert reader.get_header().profile == "ros2"
    assert summary.statistics.message_count > 0  # begin, end and counts of `ros2 bag info`
    assert summary.chunk_indexes  # for seeking
    topics = {channel.topic: channel for channel in summary.channels.values()}
    assert {"/clock", "/tf", "/arm/joint_states"} <= set(topics)
    for channel in topics.values():
        schema = summary.schemas[channel.schema_id]
        assert (channel.message_encoding, schema.encoding) == ("cdr", "ros2msg")
        assert message_type(schema.name).__name__ == schema.name.rsplit("/", 1)[1]
        assert summary.statistics.channel_message_counts[channel.id] == len(Recording(recorded[0]))


def plain(message):
    """The numbers and texts of a message, in order."""
    if hasattr(message, "get_fields_and_field_types"):
        return [plain(getattr(message, name)) for name in message.get_fields_and_field_types()]
    return [plain(one) for one in message] if not isinstance(message, str | int | float) else message


def written(message, like):
    """The same of a message as the file's own definition reads it."""
    if hasattr(like, "get_fields_and_field_types"):
        return [written(getattr(message, name), getattr(like, name)) for name in like.get_fields_and_field_types()]
    if isinstance(like, str | int | float):
        return message
    return [written(one, other) for one, other in zip(message, like, strict=True)]


def test_ros_reads_what_was_written(recorded):
    stamps = []
    with recorded[1].open("rb") as file:
        for schema, channel, message, own in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            read = deserialize_message(message.data, message_type(schema.name))
            assert plain(read) == written(own, read), channel.topic
            if channel.topic == "/clock":
                stamps.append(read.clock.sec + 1e-9 * read.clock.nanosec)
                assert message.log_time == read.clock.sec * 10**9 + read.clock.nanosec
    assert stamps == pytest.approx(Recording(recorded[0]).times.tolist(), abs=1e-9)


def test_definitions_are_those_of_the_installed_types(recorded):
    """`ros2 bag` plays by type; others read by the definition in the file: both must mean the same fields."""
    with recorded[1].open("rb") as file:
        schemas = make_reader(file).get_summary().schemas.values()
    for schema in schemas:
        own, *others = schema.data.decode().split("=" * 80 + "\n")
        parts = {schema.name: own} | dict(part.removeprefix("MSG: ").split("\n", 1) for part in others)
        for name, text in parts.items():
            package, *_, one = name.split("/")
            fields = {line.split()[1]: line.split()[0] for line in text.splitlines() if line}
            known = message_type(f"{package}/msg/{one}").get_fields_and_field_types()
            assert list(fields) == list(known), name
