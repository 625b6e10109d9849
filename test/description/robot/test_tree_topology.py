"""The order of joints, links and frames."""


import pytest

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.urdf.file import load_urdf

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def robot(*joints, root="base"):
    """Joints as (name, parent, child), in file order; a name with a capital letter is fixed."""
    links = [root, *(child for _, _, child in joints)]
    text = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in links)
    for name, parent, child in joints:
        kind = "fixed" if name[0].isupper() else "revolute"
        text += f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'
    return f"<robot>{text}</robot>"


def order(text, **options):
    return [body.joint_name for body in load_urdf(text, **options).bodies]


BRANCHED = robot(
    ("a1", "base", "A1"), ("b1", "base", "B1"), ("a2", "A1", "A2"), ("b2", "B1", "B2"), ("a3", "A2", "A3")
)  # fmt: skip


def test_file_order():
    assert order(BRANCHED) == ["ROOT", "a1", "b1", "a2", "b2", "a3"]


def test_depth_first_order():
    assert order(BRANCHED, joint_order="depth_first") == ["ROOT", "a1", "a2", "a3", "b1", "b2"]


def test_depth_first_passes_through_fixed_joints_with_siblings_in_file_order():
    text = robot(
        ("Fix", "base", "plate"), ("last", "base", "L"), ("p1", "plate", "P1"), ("p2", "P1", "P2"), ("q", "plate", "Q")
    )  # fmt: skip
    assert order(text, joint_order="depth_first") == ["ROOT", "p1", "p2", "q", "last"]
    assert order(text) == ["ROOT", "last", "p1", "p2", "q"]


def test_child_before_parent_waits_and_the_others_stay():
    text = robot(("tip", "B", "C"), ("x", "base", "X"), ("mid", "A", "B"), ("y", "base", "Y"), ("low", "base", "A"))
    assert order(text) == ["ROOT", "x", "y", "low", "mid", "tip"]


def test_named_order():
    wanted = ["b1", "b2", "a1", "a2", "a3"]
    assert order(BRANCHED, joint_order=wanted) == ["ROOT", *wanted]
    assert order(BRANCHED, joint_order=["ROOT", *wanted]) == ["ROOT", *wanted]
    assert order(BRANCHED, joint_order=tuple(wanted), base="fixed") == ["", *wanted]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a1", "a2", "a3", "b1"], "joint_order lacks 'b2'; expected each of the 5 movable joints once"),
        (["a1", "a2", "a3", "b1", "b2", "b2"], "names a joint twice"),
        (["a1", "a2", "a3", "b1", "c"], "joint_order names 'c', which is not a movable joint"),
        (["a2", "a1", "a3", "b1", "b2"], "joint_order has 'a2' before its parent 'a1'"),
        ("breadth_first", "joint_order is 'breadth_first'; expected a list of names or 'depth_first'"),
    ],
)
def test_wrong_order(names, reason):
    with pytest.raises(InvalidValueError) as caught:
        load_urdf(BRANCHED, joint_order=names)
    assert reason in str(caught.value)


def test_parents_come_before_children_in_every_order():
    for option in ((), "depth_first", ["b1", "a1", "b2", "a2", "a3"]):
        tree = load_urdf(BRANCHED, joint_order=option)
        assert all(body.parent < index for index, body in enumerate(tree.bodies))


def test_merged_links_and_frames():
    text = robot(
        ("Plate", "base", "plate"), ("hinge", "plate", "arm"), ("Tool", "arm", "tool"), ("Tip", "tool", "tip"),
        ("Side", "arm", "side"), ("Back", "base", "back"),
    )  # fmt: skip
    tree = load_urdf(text)
    assert [body.name for body in tree.bodies] == ["base", "arm"]
    assert tree.bodies[0].links == ["base", "plate", "back"]
    assert tree.bodies[1].links == ["arm", "tool", "tip", "side"]
    found = [(frame.name, frame.link, frame.parent_link, frame.body, frame.is_child) for frame in tree.frames]
    assert found == [
        ("ROOT", "base", "", 0, True),
        ("Plate", "plate", "base", 0, False),
        ("Back", "back", "base", 0, False),
        ("hinge", "arm", "plate", 1, True),
        ("Tool", "tool", "arm", 1, False),
        ("Tip", "tip", "tool", 1, False),
        ("Side", "side", "arm", 1, False),
    ]


@pytest.mark.timeout(60)  # against hanging
def test_long_chains_are_read_quickly():
    joints = [(f"j{i}" if i % 2 else f"J{i}", f"l{i}", f"l{i + 1}") for i in range(2000)]
    text = robot(*joints, root="l0")
    for option in ((), "depth_first"):
        assert len(load_urdf(text, joint_order=option).bodies) == 1001
