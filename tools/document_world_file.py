"""Writes docs/world_file.md: the hand-written part, then one section per element from the reader's own tables.

Run ``python tools/document_world_file.py`` after a change of raisim_ros/description/world/schema.py; a test compares.
"""

# ruff: noqa: E501  (the page has lines of its own length)

from __future__ import annotations

from pathlib import Path

from raisim_ros.description.world.schema import DIMENSIONS, ELEMENTS, ROBOT_STATE
from raisim_ros.description.world.schema_types import ENGINE, REQUIRED, Attribute
from raisim_ros.engine.entries.defaults import engine_defaults

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "world_file.md"

INTRODUCTION = """\
# World files

A world file is XML with the root element `<raisim>` (or MuJoCo's `<mujoco>`, see below). `World("file.xml", {"n": 3})` loads it, `world.load(...)` adds it to
a world, `world.export_to_xml("file.xml")` writes the present world, and the node takes it as the parameter `world`.

```xml
<raisim version="1.0">
  <params>
    <n value="4"/>
  </params>
  <time_step value="0.002"/>
  <material>
    <pair_prop name1="steel" name2="rubber" friction="0.9" restitution="0.5" restitution_threshold="0.01"/>
  </material>
  <objects>
    <ground material="rubber"/>
    <array idx="@@i" start="0" end="@@n" increment="1">
      <sphere name="ball_@@i" mass="1.0" material="steel" appearance="blue">
        <dim radius="{0.1 + 0.02 * @@i}"/>
        <state pos="{0.5 * @@i} 0 2"/>
      </sphere>
    </array>
  </objects>
</raisim>
```

SI units, z up, quaternions w x y z. Vectors are numbers separated by spaces, commas or both. Unknown elements and
attributes are ignored with a warning that names the nearest known one; every other mistake is an error with file and line,
and leaves the world as it was. A relative path is looked up beside the file that names it, then in the working directory;
`\\` in paths equals `/`.

## Templates

These are worked out before anything else, in each file:

| what | meaning |
|---|---|
| `[THIS_DIR]` | the folder of the file |
| `<include value="other.xml"/>` | loads another file first, into the same world |
| `<params><name value="…"/></params>` | values of parameters; those given from code win, and also reach included files |
| `@@name` | the value of a parameter or loop index; one without a value is an error |
| `<array idx="@@i" start end increment>` | its children once for each index, the end included; loops may be nested |
| `{0.5 * @@i + sin(pi / 4)}` | arithmetic: `+ - * /`, parentheses, `sin cos exp log`, `pi`; angles in rad |
| `exist="false"` | leaves the element out, also a whole loop |

A file whose root element says `literal="true"` is no template: braces, `@@` and `[THIS_DIR]` stand for themselves, and in
names and paths a backslash, `u` and six hexadecimal digits stand for a character that XML cannot hold. Saved worlds say so
where a name needs it.

## Collision groups

Two objects collide when the group of each is in the mask of the other. `collision[1]` is group 1 (bit 1), `collision[1|4]`
groups 1 and 4, `collision[-1]` all; a plain number is the raw 64-bit value, so `1` is bit 0 and `-1` all.

## Robots

`<articulated_system urdf_path="robot.urdf"/>` adds a robot; its file is described in [robot_files.md](robot_files.md).
`<state qpos qvel/>` are its generalised coordinates and velocities in the order of `get_generalized_coordinate()`.
`export_to_xml` writes each robot's URDF beside the world file, with everything that was set from code in `<joints>`,
`<collision_shape>` and `<ignore_collision>`.

## Topics and commanded poses

What an object's topics hold stands in the file too, and `save_world` keeps it: the `publish_…` flags, rates of its own, and the
gains of the controller that drives a dynamic object to a commanded pose (see [ObjectCmd](ros_interface.md)).

```xml
<raisim>
  <objects>
    <box name="lift" mass="20" min_rate_hz="20" max_rate_hz="200">
      <dim x="1" y="1" z="0.1"/>
      <controller linear="4000 2000 600" angular="800 200 100"/>
    </box>
    <light name="lamp" type="spot" color="1 0.9 0.7" shadows="true">
      <state pos="0 0 3"/>
    </light>
    <view_camera name="view">
      <state pos="-4 0 1.5"/>
    </view_camera>
  </objects>
  <camera follow="lift" x="-3" y="-2" z="1"/>
</raisim>
```

Lights and cameras of viewers are moved by poses as kinematic bodies are. `<camera>` is where viewers look from at first.

## MuJoCo's files

A file with the root element `<mujoco>` (MJCF) is a world file too, whatever its name; it is compiled by MuJoCo itself
(`pip install 'raisim_ros[mjcf]'`). [MJCF](mjcf.md) has what becomes of it.

## Elements

Other spellings of a name are in parentheses; a default of - means that the attribute may be left out.
"""


def _names(names: tuple[str, ...]) -> str:
    others = f" ({', '.join(names[1:])})" if len(names) > 1 else ""
    return f"`{names[0]}`{others}"


def _default(value: object) -> str:
    if value is REQUIRED:
        return "required"
    if value is None or value in ("", ()):
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return " ".join(f"{number:g}" for number in value)
    if isinstance(value, int) and value == 2**64 - 1:
        return "all"
    if isinstance(value, int) and value == 1 << 63:
        return "bit 63"
    return str(value)


def _table(attributes: tuple[Attribute, ...], element: str = "") -> list[str]:
    rows = ["| attribute | value | default | meaning |", "|---|---|---|---|"]
    for attribute in attributes:
        default = engine_defaults(element)[attribute.names[0]] if attribute.default is ENGINE else attribute.default
        cells = _names(attribute.names), attribute.kind.value, _default(default), attribute.meaning
        rows.append(f"| {' | '.join(cells)} |")
    return [*rows, ""]


def document() -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    for element in ELEMENTS.values():
        if element.names[0] in ("include", "params"):
            continue
        lines += [f"### {_names(element.names)}", "", element.meaning[0].upper() + element.meaning[1:] + ".", ""]
        if element.children:
            lines += ["Inside: " + ", ".join(f"`{child}`" for child in element.children) + ".", ""]
        if element.names[0] == "dim":
            for shape, attributes in DIMENSIONS.items():
                lines += [f"In `{shape}`:", "", *_table(attributes)]
        elif element.attributes:
            lines += _table(element.attributes, element.names[0])
        if element.names[0] == "state":
            lines += ["In `articulated_system`:", "", *_table(ROBOT_STATE)]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
