"""The part of the panel that puts something new into the world: a small form, and files that people give it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import viser

from raisim_ros.description.errors import InvalidValueError, RobotCountError
from raisim_ros.description.file_kind import MESH, RECORDING, WORLD, kind_of
from raisim_ros.description.mjcf.file import is_mjcf
from raisim_ros.viewer import surfaces
from raisim_ros.viewer.notices import Notices
from raisim_ros.viewer.placing import free_place
from raisim_ros.viewer.scene import AUTO, BASES, SHAPES, Moment, NewObject, SceneModel, Vector
from raisim_ros.viewer.stance import find_stance
from raisim_ros.viewer.uploads import Uploads, short_names

Place = tuple[float, float, float]


class AddForm:
    """Asks `add` for new objects and `load` for worlds."""

    def __init__(
        self,
        server: viser.ViserServer,
        add: Callable[[NewObject], Any],
        load: Callable[[str], Any],
        notices: Notices,
    ) -> None:
        self._server, self._add, self._load, self._notices = server, add, load, notices
        self._uploads = Uploads()
        self._model, self._moment = SceneModel([], 0), Moment(0.0, np.zeros((0, 7)))

    def close(self) -> None:
        """No more files will come."""
        self._uploads.close()

    def look_at(self, model: SceneModel, moment: Moment) -> None:
        """The scene in which room is sought."""
        self._model, self._moment = model, moment

    def add_upload(self) -> None:
        """Outside of the tabs: what is dropped needs it, and hidden tabs are not part of the page."""
        upload = self._server.gui.add_upload_button("Add a robot, mesh or world file", icon=viser.Icon.UPLOAD)
        upload.on_upload(lambda event: self._notices.attempt(lambda: self._take(upload.value, event.client)))

    def add_fields(self) -> None:
        """The form."""
        gui = self._server.gui
        self._shape = gui.add_dropdown("Shape", tuple(SHAPES))
        self._sizes = [gui.add_number(label, 0.2, min=0.001, step=0.01) for label in ("radius", "height", "z")]
        self._shape.on_update(lambda _: self._name_sizes())
        self._mass = gui.add_number("mass [kg]", 1.0, min=0.001, step=0.1)
        self._place = gui.add_vector3("position [m]", (0.0, 0.0, 2.0), step=0.1)
        self._look = gui.add_text("colour", "", hint='a name, or "r g b a" from 0 to 1')
        button = gui.add_button("Add", color="green", icon=viser.Icon.PLUS)
        button.on_click(lambda _: self._notices.attempt(self._spawn))
        with gui.add_folder("Files"):
            room = "on the ground where there is room, near what is looked at; else at the position above"
            self._room = gui.add_checkbox("Stand on the ground", True, hint=room)
            hold = "robots get gains that keep the pose they have in the file"
            self._hold = gui.add_checkbox("Robots hold themselves", True, hint=hold)
            base = "auto: an arm that stands on its foot alone is fixed there"
            self._base = gui.add_dropdown("Base of robots", BASES, initial_value=AUTO, hint=base)
        self._name_sizes()

    def _name_sizes(self) -> None:
        names = SHAPES[str(self._shape.value)]
        for number, field in enumerate(self._sizes):
            field.visible = number < len(names)
            if number < len(names):
                field.label = f"{names[number]} [m]"

    def _spawn(self) -> None:
        shape = str(self._shape.value)
        size = tuple(float(field.value) for field in self._sizes[: len(SHAPES[shape])])
        look = str(self._look.value)
        self._add(NewObject("", shape, size, float(self._mass.value), self._given_place(), look))

    def _given_place(self) -> Place:
        x, y, z = (float(value) for value in self._place.value)
        return x, y, z

    # ---- files ----

    def _take(self, upload: Any, client: Any) -> None:
        """A file of a browser; of a folder with several robots, whoever gave it says which one."""
        found = self._uploads.keep(upload.name, upload.content)
        near = np.zeros(3) if client is None else np.asarray(client.camera.look_at, float)
        if len(found) == 1 or client is None:
            self._take_file(found[0], near)
            return
        with client.gui.add_modal("Which one?") as modal:

            def choose(file: Path) -> None:
                modal.close()
                self._notices.attempt(lambda: self._take_file(file, near))

            for file, label in zip(found, short_names(found), strict=True):
                client.gui.add_button(label).on_click(lambda _, file=file: choose(file))
            client.gui.add_button("None", color="gray").on_click(lambda _: modal.close())

    def _take_file(self, file: Path, near: Vector) -> None:
        kind = kind_of(str(file))
        if kind == RECORDING:
            raise InvalidValueError("a recording is not part of a world; look at it with: raisim_ros view FILE")
        if kind == WORLD and not is_mjcf(str(file)):
            self._load(str(file))
            return
        try:
            with self._notices.busy("Adding what was given", file.name):
                (self._add_mesh if kind == MESH else self._add_robot)(file, near)
        except RobotCountError:  # MJCF with several of them, or with none
            self._load(str(file))

    def _add_mesh(self, file: Path, near: Vector) -> None:
        place, surface = self._given_place(), surfaces.file_surface(file, own_colors=False)
        if self._room.value and surface is not None:
            low, high = surface.bounds()
            x, y, z = self._free_place(low, high, near)
            place = x, y, z - float(low[2])
        self._add(NewObject(file.stem, "", mass=float(self._mass.value), position=place, file=str(file)))

    def _add_robot(self, file: Path, near: Vector) -> None:
        stance = find_stance(file, str(self._base.value))
        place = self._free_place(stance.low, stance.high, near) if self._room.value else self._given_place()
        kept = stance if self._hold.value else stance.limp()
        self._add(NewObject(file.stem, "", position=place, file=str(file), stance=kept))

    def _free_place(self, low: Vector, high: Vector, near: Vector) -> Place:
        return free_place(self._model, self._moment.poses, low, high, near)
