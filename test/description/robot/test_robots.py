"""The robots that come with the package."""

import numpy as np
import pytest

from raisim_ros.description.resources import resource, resource_dir
from raisim_ros.description.rotation import matrix_from_rpy
from raisim_ros.description.urdf.file import load_urdf
from raisim_ros.description.xml.source import parse_xml

ALL = sorted(path.name for path in (resource_dir() / "robots").glob("*.urdf"))


def solid_inertia(shape, dim, mass):
    """Inertia of a solid of uniform density about its centre, textbook formulas."""
    if shape == "sphere":
        return np.eye(3) * 0.4 * mass * dim[0] ** 2
    if shape == "box":
        x, y, z = np.square(dim)
        return np.diag((y + z, x + z, x + y)) * mass / 12
    radius, length = dim
    if shape == "cylinder":
        across = mass * (3 * radius**2 + length**2) / 12
        return np.diag((across, across, mass * radius**2 / 2))
    cylinder = mass * length / (length + 4 / 3 * radius)
    ball = mass - cylinder
    across = cylinder * (radius**2 / 4 + length**2 / 12) + ball * (
        0.4 * radius**2 + length**2 / 4 + 3 / 8 * length * radius
    )
    return np.diag((across, across, cylinder * radius**2 / 2 + ball * 0.4 * radius**2))


def number_list(element, attribute):
    return [float(word) for word in element.get(attribute, "0 0 0").split()]


def test_the_set_is_complete():
    assert {"quadruped.urdf", "arm.urdf", "wheeled_base.urdf", "cartpole.urdf", "chain.urdf", "four_bar.urdf"} <= set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_every_link_has_the_inertia_of_its_collision_shape(name):
    tree = load_urdf(resource(f"robots/{name}"))
    links = parse_xml(tree.robot_description, name).findall("link")
    massive = [link for link in links if link.find("inertial") is not None]
    assert massive
    for link in massive:
        shapes = [part for body in tree.bodies for part in body.collisions if part.link == link.get("name")]
        assert len(shapes) == 1
        inertial, collision = link.find("inertial"), link.find("collision")
        mass = float(inertial.find("mass").get("value"))
        tensor = inertial.find("inertia")
        found = np.diag([float(tensor.get(axis)) for axis in ("ixx", "iyy", "izz")])
        np.testing.assert_allclose(found, solid_inertia(shapes[0].shape, shapes[0].dim, mass), rtol=1e-12)
        for attribute in ("xyz", "rpy"):  # the solid lies where its mass is
            places = [part.find("origin") for part in (inertial, collision)]
            values = [number_list(place, attribute) if place is not None else [0.0] * 3 for place in places]
            assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("name", ALL)
def test_visuals_are_primitives_with_colours(name):
    visuals = [visual for body in load_urdf(resource(f"robots/{name}")).bodies for visual in body.visuals]
    assert visuals
    assert all(visual.shape != "mesh" and visual.color is not None for visual in visuals)


def test_quadruped_stands_on_four_feet(forward_kinematics):
    tree = load_urdf(resource("robots/quadruped.urdf"))
    assert (tree.fixed_base, tree.coordinate_dim, tree.velocity_dim) == (False, 19, 18)
    assert 25.0 < sum(body.mass for body in tree.bodies) < 40.0
    front, hind = (0.0, 0.4, -0.8), (0.0, -0.4, 0.8)
    q = np.array([0, 0, 0.555, 1, 0, 0, 0, *front, *front, *hind, *hind])
    poses = forward_kinematics(tree, q)
    feet = []
    for body, (position, rotation) in zip(tree.bodies, poses, strict=True):
        for part in body.collisions:
            if part.link.endswith("FOOT"):
                assert part.material == "rubber"
                feet.append(position + rotation @ part.position - (0, 0, part.dim[0]))
    feet = np.array(feet)
    np.testing.assert_allclose(feet[:, 2], 0.0, atol=0.001)
    com = sum(body.mass * (p + r @ body.com) for body, (p, r) in zip(tree.bodies, poses, strict=True))
    com /= sum(body.mass for body in tree.bodies)
    np.testing.assert_allclose(feet.mean(axis=0)[:2], com[:2], atol=0.005)  # the mass is above the middle of the feet


def test_arm_is_fixed_and_points_up(forward_kinematics):
    tree = load_urdf(resource("robots/arm.urdf"))
    assert (tree.fixed_base, tree.velocity_dim) == (True, 6)
    tool = next(frame for frame in tree.frames if frame.link == "tool0")
    position, rotation = forward_kinematics(tree, np.zeros(6))[tool.body]
    np.testing.assert_allclose(position + rotation @ tool.position, (0, 0, 1.27), atol=1e-12)


def test_wheels_roll_forward(forward_kinematics):
    tree = load_urdf(resource("robots/wheeled_base.urdf"))
    poses = forward_kinematics(tree, tree.zero_configuration)
    for body, (position, rotation) in list(zip(tree.bodies, poses, strict=True))[1:]:
        np.testing.assert_allclose(rotation @ body.axis, (0, 1, 0), atol=1e-12)  # top of the wheel moves to +x
        assert position[2] == 0.0


@pytest.mark.parametrize("count", [1, 2, 40])
def test_chain_of_any_length_hangs_down(count, forward_kinematics):
    tree = load_urdf(resource("robots/chain.urdf"), params={"n": count})
    assert (tree.coordinate_dim, tree.velocity_dim) == (4 * count, 3 * count)
    poses = forward_kinematics(tree, tree.zero_configuration)
    heights = [position[2] for position, _ in poses[1:]]
    np.testing.assert_allclose(heights, 3.0 - 0.2 * np.arange(count), atol=1e-12)
    assert tree.bodies[-1].upper == 1.5


def test_four_bar_closes_at_its_nominal_configuration(forward_kinematics):
    tree = load_urdf(resource("robots/four_bar.urdf"))
    (pin,) = tree.pins
    poses = forward_kinematics(tree, pin.nominal_config)
    position, rotation = poses[pin.body1]
    shared = position + rotation @ pin.anchor
    position, rotation = poses[pin.body2]
    in_rocker = rotation.T @ (shared - position)
    np.testing.assert_allclose(in_rocker, (0.4, -0.04, 0), atol=1e-12)  # the rocker's end, one bar to the side


def test_cartpole_falls_towards_x(forward_kinematics):
    tree = load_urdf(resource("robots/cartpole.urdf"))
    position, rotation = forward_kinematics(tree, np.array([0.5, 0.3]))[2]
    np.testing.assert_allclose(position, (0.5, 0, 1), atol=1e-12)
    np.testing.assert_allclose(rotation, matrix_from_rpy((0, 0.3, 0)), atol=1e-12)
    assert (rotation @ tree.bodies[2].com)[0] > 0.0
