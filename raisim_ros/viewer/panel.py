"""The panel of the page: buttons, sliders and forms that tell a feed what people want."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import viser

from raisim_ros.description.errors import RaisimError
from raisim_ros.viewer.add_form import AddForm
from raisim_ros.viewer.describe import literal
from raisim_ros.viewer.feed import Feed
from raisim_ros.viewer.notices import Notices
from raisim_ros.viewer.page_script import PAGE_SCRIPT
from raisim_ros.viewer.plot import Plot
from raisim_ros.viewer.scene import (
    COLLISION,
    INERTIA,
    ROBOT_KIND,
    Item,
    Moment,
    NewObject,
    Quantities,
    SceneModel,
    Vector,
    Wanted,
)

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5", "max")
# Sliders of joints without limits go so far [rad].
NO_LIMIT = 3.1416
# Joints of a robot that are not known yet are asked for so often, five times a second.
JOINT_TRIES = 150
# Nothing else moves a slider for so long after somebody did [s].
JOINT_PAUSE = 1.0
# So many places, at least so far from each other [m]: what rests keeps the way it came.
TRAIL_LENGTH, TRAIL_STEP = 400, 0.002
LAYERS = (("Collision shapes", COLLISION), ("Inertias", INERTIA), ("Names", "names"), ("Frames", "frames"))
KEYS = (
    ("space", "play or pause"),
    ("N", "one step"),
    ("R", "reset"),
    ("C", "contacts and forces"),
    ("F", "follow the selected object"),
    ("X", "remove the selected object"),
    ("L", "shadows on or off, in this page; off from the start where there is no graphics card"),
    ("H", "this help, also by ?"),
)
MOUSE = (
    ("drag the background", "turn the view; right button: shift, wheel: zoom"),
    ("click an object", "select it"),
    ("drag an object", "pull it with a spring; while paused, move it"),
    ("drop a file or folder", "add the robot or mesh of it, or load the world"),
)


def round_step(step: float) -> float:
    """1, 2 or 5 times a power of ten: numbers beside sliders stay short."""
    power = 10.0 ** math.floor(math.log10(step))
    return float(min((power * factor for factor in (1.0, 2.0, 5.0, 10.0)), key=lambda one: abs(one - step)))


class Panel:
    """Everything beside the picture. Callbacks of viser run in threads of their own."""

    def __init__(self, server: viser.ViserServer, feed: Feed, show_layer: Callable[[str, bool], None]) -> None:
        self._server, self._feed, self._show_layer = server, feed, show_layer
        self.notices = Notices(server)
        self.on_feed: Callable[[Feed | None], None] = lambda feed: None  # another is wanted; None: the first one
        self.on_shadows: Callable[[viser.ClientHandle], None] = lambda client: None  # a page wants them, or no longer
        self.on_load: Callable[[], None] = lambda: None  # another world is there
        self.on_new: Callable[[str], None] = lambda name: None  # an object that a page added is there
        self._model = SceneModel([], 0)
        self._joint_nodes: dict[str, Any] = {}  # sliders by the name of their joint
        self._lock = threading.RLock()
        self._trail: list[Vector] = []
        self._last = -math.inf  # time of the last place of the trail [s]
        self._image_nodes: dict[str, Any] = {}
        self._helps: dict[int, Any] = {}  # that are open, by the number of their page
        self._ticks = 0
        self._joints_due = 0  # so often they are still asked for
        self._joint_moved = 0.0  # when somebody moved a slider, or they came [s]
        self.selected: Item | None = None
        self._wanted_name = ""  # of a new object, to be selected once it is there
        self._form = AddForm(server, self._add_object_of_form, lambda file: self._load(file), self.notices)
        server.gui.configure_theme(control_width="medium", show_logo=False)
        server.gui.main_panel.dock_right()
        server.gui.set_panel_label("raisim_ros")
        self._add_time()
        self._form.add_upload()
        tabs = server.gui.add_tab_group()
        with tabs.add_tab("Object"):
            self._add_object()
        with tabs.add_tab("Show"):
            self._add_show()
        with tabs.add_tab("Add"):
            self._form.add_fields()
        with tabs.add_tab("World"):
            self._add_world()
        self._add_keys()

    def close(self) -> None:
        """No more files will come."""
        self._form.close()

    def _button(self, label: str, action: Callable[[], Any], **options: Any) -> Any:
        button = self._server.gui.add_button(label, **options)
        button.on_click(lambda _: self.notices.attempt(action))
        return button

    # ---- time ----

    def _add_time(self) -> None:
        gui = self._server.gui
        self._status = gui.add_markdown("")
        self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY, color="green")
        self._play.on_click(lambda _: self.notices.attempt(self._toggle))
        group = gui.add_button_group("", ("Step", "10 steps", "Reset"))
        group.on_click(lambda _: self.notices.attempt(lambda: self._time_button(str(group.value))))
        self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1", hint="simulated seconds per second")
        self._speed.on_update(lambda _: self.notices.attempt(self._set_speed))
        self._timeline = gui.add_slider("Time [s]", 0.0, 1.0, 0.001, 0.0, visible=False)
        self._timeline.on_update(self._seek)
        self._go_on = self._button("Go on from here", self._branch, icon=viser.Icon.GIT_BRANCH, visible=False)
        self._go_back = self._button("Back to the recording", self._leave, icon=viser.Icon.ARROW_BACK_UP, visible=False)
        self._sought = 0.0  # when a person last moved it; it must not be pulled out of the hand
        self._paused = True

    def _branch(self) -> None:
        self.on_feed(self._feed.go_on())

    def _leave(self) -> None:
        self.on_feed(None)

    def follow_feed(self, feed: Feed, recorded: bool) -> None:
        """Tell this feed what people want from now on; `recorded`: it went on from a recording."""
        with self._lock:
            self.select(None)
            self._feed = feed
            self._ticks = 0
            self._go_on.visible, self._go_back.visible = feed.can_go_on(), recorded
            self._snapshots.options = tuple(feed.kept()) or ("(none)",)

    def _seek(self, event: Any) -> None:
        if event.client is not None:  # a person moved it, not the clock
            self._sought = time.monotonic()
            self.notices.attempt(lambda: self._feed.seek(float(self._timeline.value)))

    def _show_timeline(self, moment: Moment) -> None:
        span = self._feed.timeline()
        shown = span is not None and span[1] > span[0]
        if span is not None and shown:
            self._timeline.min, self._timeline.max = span
            now = min(max(moment.time, span[0]), span[1])
            held = moment.paused and time.monotonic() - self._sought < 1.0
            if not held and abs(self._timeline.value - now) > 1e-6:
                self._timeline.value = now
        self._timeline.visible = shown  # last: nobody moves it along a span that it does not have yet

    def _toggle(self) -> None:
        (self._feed.play if self._paused else self._feed.pause)()

    def _time_button(self, label: str) -> None:
        match label:
            case "Step":
                self._feed.step(1)
            case "10 steps":
                self._feed.step(10)
            case _:
                self._feed.reset()
                self._forget_history()

    def _set_speed(self) -> None:
        self._feed.set_speed(0.0 if self._speed.value == "max" else float(self._speed.value))

    def _forget_history(self) -> None:
        with self._lock:
            self._trail.clear()
            self._last = -math.inf
            self._plot.forget()

    # ---- the selected object ----

    def _add_object(self) -> None:
        gui = self._server.gui
        self._choice = gui.add_dropdown("Object", ("(none)",))
        self._choice.on_update(lambda event: self._select_by_name(str(self._choice.value)))
        self._about = gui.add_markdown("Click an object to see its state; drag it to pull it.")
        self._follow = gui.add_checkbox("Follow with the camera", False)
        self._trail_on = gui.add_checkbox("Trail", False)
        self._plot = Plot(self._server)
        self._joints = gui.add_folder("Joints", visible=False)
        with self._joints:
            self._p_gain = gui.add_number("P gain", 100.0, min=0.0)
            self._d_gain = gui.add_number("D gain", 10.0, min=0.0)
            self._button("Set gains", self._set_gains, hint="the robot holds the pose it has")
        self._button("Remove", self._remove, color="red", icon=viser.Icon.TRASH)

    def _select_by_name(self, name: str) -> None:
        if self.selected is None or self.selected.name != name:
            self.select(next((item for item in self._model.items if item.name == name), None))

    def select(self, item: Item | None) -> None:
        """Show this object from now on."""
        with self._lock:
            self.selected = item
            self._forget_history()
            for node in self._joint_nodes.values():
                node.remove()
            self._joint_nodes.clear()
            self._joints.visible = False
            self._joints_due = JOINT_TRIES if item is not None and item.kind == ROBOT_KIND else 0
            self._show_joints()
            self._plot.offer(self._quantities())
            name = "(none)" if item is None else item.name
            if self._choice.value != name and name in self._choice.options:
                self._choice.value = name
            if item is None:
                self._about.content = "Click an object to see its state; drag it to pull it."

    def _show_joints(self) -> None:
        """Sliders of the selected robot. Who asks a node gets them a little later: nobody waits for that meanwhile."""
        item = self.selected
        if item is None or not self._joints_due:
            return
        self._joints_due -= 1
        joints = self.notices.attempt(lambda: self._feed.joints(item.name))
        if not joints:
            return
        self._joints_due, self._joint_moved = 0, time.monotonic()
        self._joints.visible = True
        for joint in joints:
            low, high = max(joint.lower, -NO_LIMIT), min(joint.upper, NO_LIMIT)
            if not low < high:
                low, high = -NO_LIMIT, NO_LIMIT
            start = min(max(joint.position, low), high)
            with self._joints:
                slider = self._server.gui.add_slider(joint.name, low, high, round_step((high - low) / 500.0), start)
            slider.on_update(self._joint_callback(item.name, joint.name, slider))
            self._joint_nodes[joint.name] = slider

    def _joint_callback(self, name: str, joint: str, slider: Any) -> Callable[[Any], None]:
        def moved(event: Any) -> None:
            if event.client:
                self._joint_moved = time.monotonic()
                self.notices.attempt(lambda: self._feed.set_joint(name, joint, float(slider.value)))

        return moved

    def _follow_joints(self) -> None:
        """Sliders go where joints, or their targets, went by themselves; not under the hand that moves one."""
        if self.selected is None or not self._joint_nodes or time.monotonic() - self._joint_moved < JOINT_PAUSE:
            return
        try:
            joints = self._feed.joints(self.selected.name)
        except RaisimError:  # it has just gone
            return
        for joint in joints:
            slider = self._joint_nodes.get(joint.name)
            if slider is None:
                continue
            place = min(max(joint.position, slider.min), slider.max)
            if abs(place - slider.value) > 0.5 * slider.step:
                slider.value = place

    def _set_gains(self) -> None:
        if self.selected is not None:
            self._feed.set_gains(self.selected.name, float(self._p_gain.value), float(self._d_gain.value))
            self.select(self.selected)

    def _remove(self) -> None:
        if self.selected is not None:
            self._feed.remove(self.selected.name)

    # ---- what is shown ----

    def _add_show(self) -> None:
        gui = self._server.gui
        self._contacts = gui.add_checkbox("Contacts and forces", False)
        self._centres = gui.add_checkbox("Centres of mass", False)
        self._points = gui.add_checkbox("What lidars and depth cameras see", True)
        self._images = gui.add_checkbox("Camera images", False)
        self._profile_on = gui.add_checkbox("Times of the step", False)
        self._layers: list[Any] = []
        for label, layer in LAYERS:
            box = gui.add_checkbox(label, False)
            if layer in (COLLISION, INERTIA):
                self._layers.append(box)
            box.on_update(self._layer_callback(layer, box))
        self._profile = gui.add_markdown("", visible=False)
        self._image_folder = gui.add_folder("Cameras", visible=False)

    def _layer_callback(self, layer: str, box: Any) -> Callable[[Any], None]:
        return lambda _: self._show_layer(layer, bool(box.value))

    def wanted(self) -> Wanted:
        """What somebody looks at."""
        return Wanted(
            bool(self._contacts.value),
            bool(self._points.value),
            bool(self._images.value),
            bool(self._centres.value),
            bool(self._profile_on.value),
            any(box.value for box in self._layers),
        )

    # ---- new objects ----

    def _add_object_of_form(self, new: NewObject) -> None:
        self._wanted_name = self._feed.add(new)
        self._select_wanted()  # the model may have been faster than the answer

    def _select_wanted(self) -> None:
        with self._lock:
            if self._wanted_name in (item.name for item in self._model.items):
                self._select_by_name(self._wanted_name)
                self.on_new(self._wanted_name)
                self._wanted_name = ""

    # ---- files and snapshots ----

    def _add_world(self) -> None:
        gui = self._server.gui
        where = "where the world runs; nodes use their working folder, that of the world file and allowed_folders"
        self._file = gui.add_text("World file", "", hint=where)
        self._button("Load", lambda: self._load(str(self._file.value)), icon=viser.Icon.FOLDER_OPEN)
        self._button("Save", self._save, icon=viser.Icon.DEVICE_FLOPPY)
        gui.add_divider()
        self._button("Keep a snapshot", self._keep, icon=viser.Icon.CAMERA_PLUS)
        self._snapshots = gui.add_dropdown("Snapshots", ("(none)",))
        self._button("Go back to it", self._bring_back, icon=viser.Icon.ARROW_BACK_UP)
        gui.add_divider()
        shot = gui.add_button("Screenshot", icon=viser.Icon.PHOTO)
        shot.on_click(self._screenshot)
        show_help = gui.add_button("Help", icon=viser.Icon.HELP)
        show_help.on_click(lambda event: self._help(event.client))

    def _load(self, file: str) -> None:
        with self.notices.busy("Loading the world", Path(file).name):
            self._feed.load(file)
        self._follow.value = False  # the new world says whom to follow
        self._forget_history()
        self._snapshots.options = tuple(self._feed.kept()) or ("(none)",)
        self.on_load()

    def _save(self) -> None:
        file = str(self._file.value)
        self._feed.save(file)
        self.notices.say("The world is saved", file)

    def _keep(self) -> None:
        self._feed.keep(f"t = {self._time:.3f} s")
        self._snapshots.options = tuple(self._feed.kept())
        self._snapshots.value = self._snapshots.options[-1]

    def _bring_back(self) -> None:
        self._feed.bring_back(str(self._snapshots.value))
        self._forget_history()

    def _screenshot(self, event: Any) -> None:
        import io

        from PIL import Image

        client = event.client
        if client is None:
            return
        picture = client.get_render(client.camera.image_height, client.camera.image_width, transport_format="png")
        out = io.BytesIO()
        Image.fromarray(picture).save(out, "png")
        client.send_file_download("raisim_ros.png", out.getvalue(), save_immediately=True)

    # ---- keys ----

    def _add_keys(self) -> None:
        actions: dict[str, Callable[[], Any]] = {
            "space": self._toggle,
            "N": lambda: self._feed.step(1),
            "R": lambda: self._time_button("Reset"),
            "C": lambda: setattr(self._contacts, "value", not self._contacts.value),
            "F": lambda: setattr(self._follow, "value", not self._follow.value),
            "X": self._remove,
        }
        of_a_page = {"L": lambda client: self.on_shadows(client), "H": self._help}
        for key, label in KEYS:
            command = self._server.gui.add_command(label, hotkey=key)
            if key in actions:
                command.on_trigger(lambda _, action=actions[key]: self.notices.attempt(action))
            else:
                command.on_trigger(lambda event, action=of_a_page[key]: action(event.client))
        self._server.gui.add_html(PAGE_SCRIPT)

    def _help(self, client: viser.ClientHandle | None) -> None:
        """In the page of who asked; asked again, it goes away."""
        if client is None:
            return
        shown = self._helps.pop(client.client_id, None)
        if shown is not None:
            shown.close()
            return
        rows = "\n".join(f"| {what} | {effect} |" for what, effect in (*KEYS, *MOUSE))
        with client.gui.add_modal("Keys and mouse") as modal:
            client.gui.add_markdown(f"| | |\n|---|---|\n{rows}")
            client.gui.add_button("Close").on_click(lambda _: self._help(client))
        self._helps[client.client_id] = modal

    # ---- every frame ----

    def follows(self) -> bool:
        """Whether the camera shall follow the selected object."""
        return bool(self._follow.value)

    def start_following(self, name: str) -> None:
        """Select an object and follow it."""
        self._select_by_name(name)
        self._follow.value = self.selected is not None

    def take_over(self, model: SceneModel) -> None:
        """A new model: the selected object may be gone."""
        with self._lock:
            self._model = model
            names = ("(none)", *(item.name for item in model.items))
            if tuple(self._choice.options) != names:
                self._choice.options = names
            self._select_wanted()
            if self.selected is not None:
                name = self.selected.name
                same = next((item for item in model.items if item.name == name), None)
                if same is None:
                    self.select(None)
                else:
                    self.selected = same

    _time = 0.0

    def tick(self, moment: Moment) -> Vector:
        """Show the numbers of a moment; the trail to draw."""
        with self._lock:
            self._ticks += 1
            self._time = moment.time
            self._form.look_at(self._model, moment)
            if moment.paused != self._paused or self._ticks == 1:
                self._paused = moment.paused
                self._play.label = "Play" if moment.paused else "Pause"
                self._play.icon = viser.Icon.PLAYER_PLAY if moment.paused else viser.Icon.PLAYER_PAUSE
                self._play.color = "green" if moment.paused else "orange"
            if self._ticks % 6 == 1:
                self._tell_status(moment)
            self._note(moment)
            return np.array(self._trail) if self._trail_on.value and self._trail else np.zeros((0, 3))

    def _tell_status(self, moment: Moment) -> None:
        state = "paused" if moment.paused else f"{moment.real_time_factor:.2f} of real time"
        self._status.content = f"**{moment.time:.2f} s** · {state} · {len(self._model.items)} objects"
        self._show_timeline(moment)
        if self.selected is not None:
            name = self.selected.name
            try:
                self._about.content = self._feed.describe(name)
            except RaisimError:
                self._about.content = f"**{literal(name)}** is gone."
        self._show_joints()
        self._follow_joints()
        self._profile.visible = bool(moment.profile)
        if moment.profile:
            rows = "\n".join(f"| {stage} | {spent:.1f} |" for stage, spent in moment.profile.items())
            self._profile.content = f"| stage | µs per step |\n|---|---|\n{rows}"
        self._show_images(moment)
        self._plot.show(self.selected is not None)

    def _show_images(self, moment: Moment) -> None:
        self._image_folder.visible = bool(moment.images)
        for name in self._image_nodes.keys() - moment.images.keys():
            self._image_nodes.pop(name).remove()
        for name, image in moment.images.items():
            if name in self._image_nodes:
                self._image_nodes[name].image = image
            else:
                with self._image_folder:
                    self._image_nodes[name] = self._server.gui.add_image(image, label=name, format="jpeg")

    def _note(self, moment: Moment) -> None:
        """History of the selected object."""
        if self.selected is None or self.selected.first_frame >= len(moment.poses):
            return
        place = moment.poses[self.selected.first_frame, :3].copy()
        if moment.time <= self._last:
            if moment.time < self._last:
                self._forget_history()
            return
        self._last = moment.time
        if not self._trail or np.linalg.norm(place - self._trail[-1]) > TRAIL_STEP:
            self._trail = [*self._trail[-TRAIL_LENGTH:], place]
        self._plot.note(moment.time, place, self._quantities() if self._plot.wants_more() else {})

    def _quantities(self) -> Quantities:
        """Of the selected object; none when it has just gone."""
        try:
            return self._feed.quantities(self.selected.name) if self.selected is not None else {}
        except RaisimError:
            return {}
