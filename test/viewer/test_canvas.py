"""What a canvas draws, without a browser."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("viser", reason="the viewer's extra is not installed")

import viser

from raisim_ros.viewer import surfaces
from raisim_ros.viewer.canvas import Canvas
from raisim_ros.viewer.scene import COLLISION, Item, Part, SceneModel, Surface


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


def test_clear_things_with_their_own_colours_are_grey(canvas):
    box = surfaces.unit("block")
    own = Surface(box.vertices, box.triangles, glb=surfaces._colored_glb(box.vertices, box.triangles, np.ones((len(box.vertices), 3))))
    canvas.draw(model_of(Part(own, 0, color=(0.0, 1.0, 0.0))))
    canvas.look_inside(True)
    ((key, batch),) = canvas._batches.items()
    assert key.surface.glb is None
    assert key.opacity < 1.0
    assert batch.members[0][1].color == surfaces.PLAIN


def test_pages_that_are_gone_are_forgotten(canvas):
    """Their numbers would stay among those without shadows."""
    client = SimpleNamespace(client_id=7, scene=canvas._server.scene)
    canvas.turn_shadows(client)
    assert canvas._bright == {7}
    for tell in canvas._server._client_disconnect_cb:
        tell(client)
    assert not canvas._bright
