"""What a canvas draws, without a browser."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("viser", reason="the viewer's extra is not installed")

import viser

from raisim_ros.viewer import surfaces
from raisim_ros.viewer.canvas import Canvas
from raisim_ros.viewer.scene import COLLISION, INERTIA, VISUAL, DrawnWires, Item, Part, SceneModel, Surface, rotate


@pytest.fixture
def canvas():
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield Canvas(server)
    server.stop()


def model_of(*parts):
    return SceneModel([Item("robot", "articulated_system", True, list(parts), ("base",), 0)], 1)


def test_what_collides_is_drawn_instead_of_what_is_seen_also_when_it_comes_late(canvas):
    """Over ROS it comes with the robot's description, after somebody asked for it."""
    seen, collides = Part(surfaces.unit("block"), 0), Part(surfaces.unit("ball"), 0, layer=COLLISION)
    canvas.draw(model_of(seen))
    canvas.show_layer(COLLISION, True)
    assert [batch.node.visible for batch in canvas._batches.values()] == [True]  # there is nothing else yet
    canvas.draw(model_of(seen, collides))
    visible = {key.layer: batch.node.visible for key, batch in canvas._batches.items()}
    assert visible == {"visual": False, COLLISION: True}
    canvas.show_layer(COLLISION, False)
    canvas.draw(model_of(seen))
    assert [batch.node.visible for batch in canvas._batches.values()] == [True]


def test_what_shares_a_surface_with_a_robot_stays_while_that_shows_other_layers(canvas):
    robot = Item("robot", "articulated_system", True, [Part(surfaces.unit("block"), 0), Part(surfaces.unit("ball"), 0, layer=INERTIA)], ("base",), 0)
    box = Item("box", "box", True, [Part(surfaces.unit("block"), 1)], ("box",), 1)
    canvas.draw(SceneModel([robot, box], 2))
    canvas.show_layer(INERTIA, True)
    shown = [item.name for batch in canvas._batches.values() if batch.node.visible for item, _ in batch.members]
    assert sorted(shown) == ["box", "robot"]
    assert [item.name for key, batch in canvas._batches.items() if key.layer == VISUAL and batch.node.visible for item, _ in batch.members] == ["box"]


def test_only_what_moves_is_clear(canvas):
    """What lies in terrain and walls is nobody's question, and one would look through them at all that is behind."""
    block = surfaces.unit("block")
    canvas.draw(SceneModel([Item("box", "box", True, [Part(block, 0)], ("box",), 0), Item("wall", "box", False, [Part(block, 1)], ("wall",), 1)], 2))
    canvas.look_inside(True)
    assert {batch.members[0][0].name: key.opacity < 1.0 for key, batch in canvas._batches.items()} == {"box": True, "wall": False}


def test_clear_things_with_their_own_colours_are_grey(canvas):
    box = surfaces.unit("block")
    own = Surface(box.vertices, box.triangles, glb=surfaces._colored_glb(box.vertices, box.triangles, np.ones((len(box.vertices), 3))))
    canvas.draw(model_of(Part(own, 0, color=(0.0, 1.0, 0.0))))
    canvas.look_inside(True)
    ((key, batch),) = canvas._batches.items()
    assert key.surface.glb is None
    assert key.opacity < 1.0
    assert batch.members[0][1].color == surfaces.PLAIN


def test_wires_are_rods_from_end_to_end_as_thick_as_they_say(canvas):
    canvas.set_distance(1.0)
    ends = np.array([[[0, 0, 1], [0, 2, 1]], [[1, 1, 3], [1, 1, 0]], [[0, 0, 0], [1, 2, 2]]], float)
    wires = DrawnWires(ends, np.array([0.02, 1e-6, 0.1]), np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0.5]], float))
    canvas._show_wires(wires)
    node = canvas._wires
    along = rotate(node.batched_wxyzs[:, [1, 2, 3, 0]].astype(float), np.tile([0.0, 0.0, 1.0], (3, 1))) * node.batched_scales[:, 2:]
    assert node.batched_positions + 0.5 * along == pytest.approx(ends[:, 1], abs=1e-6)
    assert node.batched_positions - 0.5 * along == pytest.approx(ends[:, 0], abs=1e-6)
    assert node.batched_scales[[0, 2], 0] == pytest.approx([0.02, 0.1])
    assert node.batched_scales[1, 0] > 1e-4  # still to be seen
    assert (node.batched_colors == surfaces.light(wires.colors)).all()
    canvas._show_wires(DrawnWires())
    assert canvas._wires is None


def test_pages_that_are_gone_are_forgotten(canvas):
    """Their numbers would stay among those without shadows."""
    client = SimpleNamespace(client_id=7, scene=canvas._server.scene)
    canvas.turn_shadows(client)
    assert canvas._bright == {7}
    for tell in canvas._server._client_disconnect_cb:
        tell(client)
    assert not canvas._bright


def test_a_ground_has_its_colour_and_height_also_when_another_world_has_one_of_the_same_name(canvas):
    def grounds(*looks):
        items = [Item(name, "ground", False, [], (name,), k, height, color) for k, (name, height, color) in enumerate(looks)]
        canvas.draw(SceneModel(items, len(items)))
        return [(node.position[2], node.plane_color) for node, _ in canvas._grounds.values()]

    (plain,) = grounds(("ground", 0.0, None))
    assert grounds(("ground", -0.5, (0.2, 0.4, 0.6))) == [(-0.5, (51, 102, 153))]
    both = grounds(("ground", -0.5, (0.2, 0.4, 0.6)), ("water", -1.0, (0.0, 0.2, 1.0)))
    assert both == [(-0.5, (51, 102, 153)), (-1.0, (0, 51, 255))]
    assert grounds(("water", -1.0, (0.0, 0.2, 1.0)), ("ground", 0.0, None)) == [both[1], plain]
    assert len({node.name for node, _ in canvas._grounds.values()}) == 2
