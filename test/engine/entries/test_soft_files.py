"""Grains and cloth in world files: what is written reads back to the same bits, and what is wrong is told with its line."""

from pathlib import Path

import numpy as np
import pytest

from raisim_ros import (
    DeformableMaterial,
    DeformableObject,
    FileMissingError,
    GranularMaterial,
    GranularSystem,
    ParseError,
    RaisimError,
    World,
)
from raisim_ros.description.array_file import pack
from raisim_ros.description.world.soft_entries import rectangle

GRAINS = """
    <granular name="gravel" material="rock" appearance="brown" collision_group="3" collision_mask="5">
      <grain density="2500" normal_stiffness="2e4" friction="0.6" substeps="3"/>
      <grain density="1000" hertz="true" rolling_friction="0.1"/>
      <boundary friction="0.1"/>
      <grains pos="0 0 1, 0.1 0 1" radius="0.02 0.03" vel="0 0 1 0 0 0" ang_vel="1 2 3 0 0 0" grain="1 0" fixed="0 1"/>
      <emit_box min="-0.1 -0.1 0" max="0.1 0.1 0.1" radius="0.02" velocity="0 0 -1"/>
      <emit_box_random min="-0.1 -0.1 0.1" max="0.1 0.1 0.4" count="20" radius="0.01 0.02" seed="3" grain="1"/>
      <ground_plane height="-0.5"/>
      <container min="-0.3 -0.3 -1" max="0.3 0.3 2"/>
    </granular>"""
CLOTH = """
    <deformable name="flag" total_mass="0.2" air_drag="0.5" bend_compliance="10" wind="1 0 0" solver_mode="pbd">
      <rectangle x="1" y="0.5" x_cells="10" y_cells="5"/>
      <pin min="-0.5 -0.25 0" max="-0.5 0.25 0"/>
      <pin vertices="65"/>
      <state pos="0 1 2" quat="0.7071067811865476 0.7071067811865476 0 0" lin_vel="0 0 1"/>
    </deformable>"""


def _world(text: str) -> str:
    return f"<raisim>\n  <objects>{text}\n  </objects>\n</raisim>"


@pytest.fixture
def load(tmp_path):
    def loader(text: str) -> World:
        file = tmp_path / "world.xml"
        file.write_text(_world(text))
        return World(file)

    return loader


def _again(world: World, folder: Path, name: str = "again.xml") -> World:
    world.export_to_xml(folder, name)
    return World(folder / name)


def _assert_equal(one: World, other: World) -> None:
    for a, b in zip(one.get_obj_list(), other.get_obj_list(), strict=True):
        if not isinstance(a, (GranularSystem, DeformableObject)):
            continue
        assert (a.get_name(), a.get_appearance()) == (b.get_name(), b.get_appearance())
        assert one.get_object_material(a) == other.get_object_material(b)
        assert (a.get_collision_group(), a.get_collision_mask()) == (b.get_collision_group(), b.get_collision_mask())
        assert np.array_equal(a.get_positions(), b.get_positions())
        assert np.array_equal(a.get_velocities(), b.get_velocities())
        assert a.get_mass() == b.get_mass()
        if isinstance(a, GranularSystem):
            assert np.array_equal(a.get_radii(), b.get_radii())
            assert np.array_equal(a.get_fixed(), b.get_fixed())
            assert np.array_equal(a.get_angular_velocities(), b.get_angular_velocities())
            kinds = [[x.get_material(int(k)) for k in x.get_particle_materials()] for x in (a, b)]
            assert kinds[0] == kinds[1]
            described = a._description(), b._description()
            for part in ("boundary", "ground", "container", "periodic"):
                assert described[0][part] == described[1][part]
        else:
            assert a.get_material() == b.get_material()
            assert a.get_pinned_vertices() == b.get_pinned_vertices()
            assert np.array_equal(a.get_wind(), b.get_wind())
            states = a._state(), b._state()
            assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])


def test_a_file_says_what_the_calls_say(load):
    world = load(GRAINS + CLOTH)
    grains, cloth = world["gravel"], world["flag"]
    first = GranularMaterial(density=2500, normal_stiffness=2e4, friction=0.6, substeps=3)
    second = GranularMaterial(density=1000, hertz=True, rolling_friction=0.1)
    other = World()
    same = other.add_granular_particles([[0, 0, 1]], 0.02, second, velocities=[[0, 0, 1]])
    same.add_particle([0.1, 0, 1], 0.03, material=first)
    same.emit_box([-0.1, -0.1, 0], [0.1, 0.1, 0.1], 0.02, velocity=[0, 0, -1])
    same.emit_box_random([-0.1, -0.1, 0.1], [0.1, 0.1, 0.4], 20, (0.01, 0.02), seed=3)
    assert np.array_equal(grains.get_positions(), same.get_positions())
    assert np.array_equal(grains.get_velocities(), same.get_velocities())
    assert np.array_equal(grains.get_fixed(), [k == 1 for k in range(len(grains.get_radii()))])
    assert grains.get_material() == first
    assert grains.get_material(int(grains.get_particle_materials()[0])) == GranularMaterial(
        density=1000, hertz=True, rolling_friction=0.1, substeps=3
    )
    assert grains.get_boundary_material().friction == 0.1
    assert world.get_object_material(grains) == "rock"
    assert cloth.get_pinned_vertices() == [0, 11, 22, 33, 44, 55, 65]
    assert cloth.get_positions()[0] == pytest.approx([-0.5, 1.0, 1.75])
    assert np.array_equal(cloth.get_velocities()[1], [0, 0, 1])
    assert cloth.get_material() == DeformableMaterial(
        total_mass=0.2, air_drag=0.5, bend_compliance=10, solver_mode="PBD"
    )
    assert cloth.get_num_particles() == 66
    assert cloth.get_mass() == pytest.approx(0.2)


@pytest.mark.parametrize("steps", [0, 40])
def test_what_is_written_reads_back_to_the_same_bits(load, tmp_path, steps):
    world = load('<ground/><box mass="2"><dim x="0.1" y="0.1" z="0.1"/><state pos="0 1 3"/></box>' + GRAINS + CLOTH)
    world["flag"].add_internal_struts(0.12)
    world.integrate(steps)
    world["flag"].unpin_vertex(11)
    again = _again(world, tmp_path)
    _assert_equal(world, again)
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".npz", ".npz", ".xml", ".xml"]
    twice = _again(again, tmp_path, "twice.xml")
    _assert_equal(world, twice)
    again.integrate(30)
    twice.integrate(30)
    assert again.get_state_hash() == twice.get_state_hash()


def test_cloth_goes_on_to_the_same_bits_as_if_nothing_was_written(tmp_path, load):
    world = load(CLOTH + '<granular><grains pos="0 0 9 1 0 9" radius="0.1" vel="0 0 1 0 0 2"/></granular>')
    world.integrate(60)
    again = _again(world, tmp_path)
    assert world.get_state_hash() == again.get_state_hash()
    world.integrate(60)
    again.integrate(60)
    assert world.get_state_hash() == again.get_state_hash()


def test_few_particles_stand_in_the_file_itself(tmp_path):
    world = World()
    world.add_granular_particles(np.random.default_rng(1).normal(size=(5, 3)), [0.1, 0.2, 0.3, 0.4, 0.5])
    world.add_deformable_cloth([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1 / 3]], [[0, 1, 3], [0, 3, 2]], [0, 1])
    again = _again(world, tmp_path)
    _assert_equal(world, again)
    assert [file.name for file in tmp_path.iterdir()] == ["again.xml"]


def test_random_objects_read_back(tmp_path):
    random = np.random.default_rng(5)
    world = World()
    world.add_ground()
    for number in range(4):
        count = int(random.integers(0, 400))
        grains = world.add_granular_particles(
            random.uniform(-1, 1, (count, 3)) + np.array([3 * number, 0, 2]),
            random.uniform(0.01, 0.02, count),
            GranularMaterial(friction=float(random.uniform(0, 1))),
            collision_group=int(random.integers(1, 2**62)),
        )
        if number % 2:
            grains.set_periodic_boundary([3 * number - 1, -1, 0], [3 * number + 1, 1, 4], (True, False, False))
        sheet = rectangle(1.0, 1.0, int(random.integers(1, 12)), int(random.integers(1, 12)))
        material = DeformableMaterial(youngs_modulus=float(random.uniform(1e4, 1e6)), damping=0.1)
        world.add_deformable_cloth(sheet["pos"] + [0, 3 * number + 3, 1], sheet["triangles"], [0], material)
    world.integrate(10)
    _assert_equal(world, _again(world, tmp_path))


CUBE = """pos="-0.15 -0.15 0 0.15 -0.15 0 0.15 0.15 0 -0.15 0.15 0 -0.15 -0.15 0.3 0.15 -0.15 0.3 0.15 0.15 0.3 -0.15 0.15 0.3"
 triangles="0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7\""""


def test_filled_bodies_read_back_to_the_same_bits(load, tmp_path):
    world = load(
        '<ground/><sphere mass="3"><dim radius="0.1"/><state pos="0 0 0.6"/></sphere>'
        '<deformable name="jelly" total_mass="5" youngs_modulus="2e4" poisson_ratio="0.4" damping="0.5">'
        f'<vertices {CUBE}/><build mode="filled" spacing="0.12"/><pin min="-1 -1 0" max="1 1 0"/>'
        '<state pos="0 0 0.1" lin_vel="0 0 -0.1"/></deformable>'
        f'<deformable name="shell"><vertices {CUBE}/><build spacing="0.2" internal_struts="pairs_within_radius"'
        ' strut_radius="0.3"/><state pos="2 0 1"/></deformable>'
    )
    jelly = world["jelly"]
    assert len(jelly.get_tetrahedra()) > 100
    assert jelly.get_volume() == pytest.approx(0.027)
    assert len(jelly.get_pinned_vertices()) == 4
    assert world["shell"].get_distance_constraint_count() > 100
    world.integrate(60)
    again = _again(world, tmp_path)
    _assert_equal(world, again)
    assert again["jelly"].get_elastic_energy() == jelly.get_elastic_energy() > 0.0
    assert again["jelly"].get_volume() == jelly.get_volume()
    assert world.get_state_hash() == again.get_state_hash()


def test_cloth_from_a_mesh_file(tmp_path, load):
    import trimesh

    trimesh.creation.icosphere(2, 0.5).export(tmp_path / "ball.obj")
    world = load('<deformable name="ball" file_name="ball.obj" scale="2"><state pos="0 0 3"/></deformable>')
    ball = world["ball"]
    assert ball.get_num_particles() == 162
    assert np.linalg.norm(ball.get_positions() - [0, 0, 3], axis=1) == pytest.approx(np.ones(162), abs=1e-6)
    _assert_equal(world, _again(world, tmp_path))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('\n<granular>\n<grain density="-1"/></granular>', 4, "density is -1"),
        ('\n<granular><grain density="x"/></granular>', 3, "'x' is not a number"),
        ('\n<granular>\n<grains pos="0 0" radius="1"/></granular>', 4, "pos: 2 numbers; expected a multiple of 3"),
        ('\n<granular>\n<grains radius="1"/></granular>', 4, "pos is missing"),
        ('\n<granular><grains pos="0 0 0" radius="0"/></granular>', 3, "radius"),
        ('\n<granular><grains pos="0 0 0" radius="1 2 3"/></granular>', 3, "radii has 3 numbers; expected 1 or 1"),
        ('\n<granular><grains pos="0 0 0" radius="1" grain="1"/></granular>', 3, "grain names material 1; there are 1"),
        ('\n<granular><grains pos="0 0 0" radius="1" vel="0 0 0 0 0 0"/></granular>', 3, "vel has 6 numbers"),
        ('\n<granular><grains pos="0 0 0" radius="1" fixed="0.5"/></granular>', 3, "not an integer"),
        ('\n<granular>\n<grains file="a.npz" pos="0 0 0"/></granular>', 4, "both a file and pos are given"),
        ('\n<granular>\n<emit_box min="1 0 0" max="0 1 1" radius="1"/></granular>', 4, "expected the lower corner first"),
        ('\n<granular>\n<emit_box min="0 0 0" max="1 1 1" radius="1" grain="4"/></granular>', 4, "grain is 4"),
        (
            '\n<granular>\n<emit_box_random min="0 0 0" max="1 1 1" radius="2 1" count="3"/></granular>',
            4,
            "expected one above 0",
        ),
        ('\n<granular>\n<periodic_boundary min="0 0 0" max="1 1 1" x="false" y="false"/></granular>', 4, "all false"),
        ('\n<deformable/>', 3, "expected one of file_name, <rectangle> and <vertices>"),
        ('\n<deformable total_mass="0"><rectangle x="1" y="1" x_cells="1" y_cells="1"/></deformable>', 3, "total_mass"),
        ('\n<deformable>\n<rectangle x="1" y="1" x_cells="0" y_cells="1"/></deformable>', 4, "0 x 1 cells"),
        (
            '\n<deformable><rectangle x="1" y="1" x_cells="1" y_cells="1"/>\n<pin/></deformable>',
            4,
            "expected either vertices, or min and max",
        ),
        (
            '\n<deformable><rectangle x="1" y="1" x_cells="1" y_cells="1"/>\n<pin vertices="9"/></deformable>',
            3,
            "vertex 9 is to be pinned; there are 4",
        ),
        (
            '\n<deformable><rectangle x="1" y="1" x_cells="1" y_cells="1"/><pin min="5 5 5" max="6 6 6"/></deformable>',
            3,
            "no vertex lies in the box",
        ),
        ('\n<deformable><vertices pos="0 0 0 1 0 0 0 1 0" triangles="0 1 5"/></deformable>', 3, "do not exist"),
        ('\n<deformable>\n<vertices pos="0 0 0 1 0 0 0 1 0" triangles="0 1 2" struts="0 1"/></deformable>', 4, "strut"),
        (
            '\n<deformable><vertices pos="0 0 0 1 0 0 0 1 0" triangles="0 1 2" struts="0 7" strut_state="1 0 0"'
            ' substep="0"/></deformable>',
            3,
            "strut 0 names vertex 7",
        ),
        (
            '\n<deformable><vertices pos="0 0 0 1 0 0 0 1 0" triangles="0 1 2" struts="0 1" strut_state="-1 0 0"'
            ' substep="0"/></deformable>',
            3,
            "rest -1",
        ),
        ('\n<deformable><vertices pos="0 0 0 1 0 0 0 1 0" triangles="0 1 2" mass="1"/></deformable>', 3, "mass has 1"),
        (
            '\n<deformable><vertices pos="0 0 0 1 0 0 0 1 0" triangles="0 1 2"/><build mode="filled"/></deformable>',
            3,
            "not closed",
        ),
        (
            '\n<deformable><vertices pos="0 0 0 1 0 0 0 1 0" triangles="0 1 2"/>\n<build mode="wood"/></deformable>',
            4,
            "'wood' is unknown",
        ),
        (
            '\n<deformable>\n<vertices pos="0 0 0 1 0 0 0 1 0" triangles="0 1 2" tetrahedra="0 1 2 3"/></deformable>',
            4,
            "tetrahedr",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_changes_nothing(load, tmp_path, text, line, said):
    world = World()
    world.add_ground()
    before = world.get_state_hash()
    file = tmp_path / "world.xml"
    file.write_text(_world(text))
    with pytest.raises(ParseError) as error:
        world.load(file)
    assert f"world.xml:{line}: " in str(error.value)
    assert said in str(error.value)
    assert (len(world.get_obj_list()), world.get_state_hash()) == (1, before)


def test_wrong_files_of_particles_are_refused(tmp_path, load):
    text = '<granular><grains file="grains.npz"/></granular>'
    with pytest.raises(FileMissingError):
        load(text)
    file = tmp_path / "grains.npz"
    good = pack({"pos": np.zeros((1, 3)), "radius": np.ones(1)})
    for content in (b"", b"nothing", good[:-30], good[:60], pack({"pos": np.array(["a"])}), pack({"pos": np.zeros(3)})):
        file.write_bytes(content)
        with pytest.raises(RaisimError):
            load(text)
    np.savez(file, pos=np.array([object()]), radius=np.ones(1))
    with pytest.raises(RaisimError):
        load(text)
    file.write_bytes(good)
    assert load(text).get_obj_list()[0].get_num_particles() == 1


def test_materials_and_filters_can_be_changed_and_asked_for():
    world = World()
    grains = world.add_granular_particles([[0, 0, 0.3]], 0.1, collision_group=2)
    world.add_ground()
    assert (grains.get_collision_group(), grains.get_collision_mask()) == (2, 2**64 - 1)
    assert world.set_object_material(grains, "sand")
    assert world.get_object_material(grains) == "sand"
    assert not world.set_object_collision_filter(grains, 1, 0, 3)
    assert world.set_object_collision_filter(grains, 1, 0)
    world.integrate(200)
    assert grains.get_positions()[0, 2] < -1.0  # nothing holds it any more


def test_sums_of_an_object_without_particles_are_zero():
    world = World()
    empty = world.add_granular_particles(np.zeros((0, 3)), 0.1)
    states = world.read_states()
    assert np.isfinite(states.poses).all()
    assert not states.twists.any()
    for _ in range(50):
        assert not empty.get_position().any()
        assert not empty.get_linear_momentum().any()
        assert not empty.get_velocity().any()


def test_pins_to_bodies_and_links_are_written_and_read(tmp_path, load):
    world = World()
    box = world.add_box(0.1, 0.1, 0.1, 1.0)
    box.set_position([0.3, 0.0, 1.0])
    named = world.add_sphere(0.05, 0.4, name="weight")
    named.set_position([0.0, 0.5, 0.8])
    x = [[0, 0, 1], [0.2, 0, 1], [0, 0.2, 1], [0.2, 0.2, 1]]
    cloth = world.add_deformable_cloth(x, [[0, 1, 3], [0, 3, 2]], [0], DeformableMaterial(total_mass=0.1, damping=1.0))
    cloth.pin_vertex(1, None, box)
    cloth.pin_vertex(2, [0, -0.25, 0.2], named)
    world.integrate(20)
    saved = cloth.save_state()
    world.export_to_xml(str(tmp_path), "tied.xml")
    again = World(str(tmp_path / "tied.xml"))
    copy = next(one for one in again.get_obj_list() if isinstance(one, DeformableObject))
    assert {k: (one[0].get_name(), one[1]) for k, one in copy.get_tied_vertices().items()} == {
        1: (box.get_name(), 0), 2: ("weight", 0)
    }  # fmt: skip
    for one in (world, again):
        one.integrate(40)
    assert copy.get_positions() == pytest.approx(cloth.get_positions(), abs=1e-4)  # pulls of pins begin anew
    cloth.unpin_vertex(1)
    world.remove_object(named)
    cloth.restore_state(saved)
    assert list(cloth.get_tied_vertices()) == [1]
    text = """<box name="a" mass="1"><dim x="0.1" y="0.1" z="0.1"/></box>
      <deformable name="d"><rectangle x="1" y="1" x_cells="2" y_cells="2"/><pin vertices="0 1" body="{}"{}/></deformable>"""
    world = load(text.format("a", ' points="0 0 0 0.1 0 0"'))
    assert len(world.get_object("d").get_tied_vertices()) == 2
    for wrong, said in ((("b", ""), "no object is named 'b'"), (("a", ' points="1 2 3"'), "three numbers for each"),
                        (("a", ' local_index="3"'), "local index is 3"), (("d", ""), "made of particles")):  # fmt: skip
        with pytest.raises(RaisimError, match=said):
            load(text.format(*wrong))
