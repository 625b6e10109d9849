"""How many files know about one shape, joint type, kind of body, sensor or service: docs/architecture.md lists them, and here they are
counted, so that a concept cannot be written down once more without being noticed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import raisim_ros
from raisim_ros.description.shapes import SHAPES, ObjectType, ShapeType
from raisim_ros.description.world.schema import DIMENSIONS
from raisim_ros.engine._library import lib
from raisim_ros.engine.world.world import World
from raisim_ros.viewer import surfaces

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|#[^\n]*|\"\"\".*?\"\"\"", re.DOTALL)

# A word of the code by which a file knows the thing, where it may be known, and under which heading that is documented.
KNOWN = {
    "a shape": (re.compile(r"capsule", re.IGNORECASE), ["raisim_ros", "csrc"]),
    "a shape with a core of its own": (re.compile(r"RS_(?:SHAPE|CORE)_CONE|rs_cone_|rs_collide_\w*cone"), ["csrc"]),
    "a joint type": (re.compile(r"JOINT_PRISMATIC|JointType\.PRISMATIC|(?<!type=)\"prismatic\""), ["raisim_ros", "csrc"]),
    "a kind of body": (re.compile(r"articulation [!=]= NULL"), ["csrc"]),
    "a sensor": (re.compile(r"\bImuModel\b"), ["raisim_ros"]),
    "a service": (re.compile(r"\bSetMaterialPair\b"), ["raisim_ros"]),
    "an attribute of world files": (re.compile(r"\bgyroscopic_mode\b"), ["raisim_ros/description"]),
}


def files_that_know(word: re.Pattern[str], folders: list[str]) -> list[str]:
    """Files whose code, comments apart, has the word."""
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".c", ".h")]
    known = (path for path in files if word.search(COMMENT.sub("", path.read_text(encoding="utf-8"))))
    return sorted(str(path.relative_to(ROOT)) for path in known)


def documented(thing: str) -> list[str]:
    """The files in the row of the table "What adding something touches"."""
    row = next(line for line in DOCUMENT.splitlines() if line.startswith(f"| {thing} |"))
    found = []
    for path in re.findall(r"`((?:raisim_ros|csrc)/[^`]+)`", row):
        folder, _, names = path.partition("{")
        found += [folder + name.strip() for name in names.rstrip("}").split(",")] if names else [path]
    return sorted(found)


@pytest.mark.parametrize("thing", KNOWN)
def test_what_adding_something_touches_is_documented(thing):
    assert files_that_know(*KNOWN[thing]) == documented(thing)


# Words that two layers have for things of their own: scenes of the viewer, channels and slots of MJCF, objects of clients.
OWN_WORDS = {"Channel", "Joint", "Moment", "NewObject", "Object", "Part", "Slot", "Surface"}


def test_no_two_classes_have_one_name():
    names = Counter(
        name
        for path in (ROOT / "raisim_ros").rglob("*.py")
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert {name for name, count in names.items() if count > 1} <= OWN_WORDS


def test_shapes_have_the_numbers_of_the_engine():
    assert all(shape == getattr(lib, f"RS_SHAPE_{shape.name}") for shape in ShapeType)
    assert len(ShapeType) == lib.RS_SHAPE_TYPE_COUNT


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_the_table_is_known_everywhere(name):
    assert ObjectType[name.upper()] is not None
    assert issubclass(getattr(raisim_ros, name.capitalize()), raisim_ros.SingleBodyObject)
    assert [attribute.names[0] for attribute in DIMENSIONS[name]] == list(SHAPES[name].fields)
    dim = [0.4 + 0.1 * k for k in range(len(SHAPES[name].fields))]
    body = getattr(World(), f"add_{name}")(*dim, 1.0)
    assert list(body.get_collision_body_list()[0].dim) == dim
    assert surfaces.primitive(name, dim)
