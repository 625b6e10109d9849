"""The part of World that holds its settings: solver, detection, sleeping, materials, filters."""

from __future__ import annotations

import math
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.materials import MaterialManager, MaterialPairProperties
from raisim_ros.description.urdf.other_tools import friction_of_material
from raisim_ros.description.world.types import ArticulatedEntry, WorldDescription
from raisim_ros.description.world_file import load_material_file
from raisim_ros.description.xml.template import Parameters
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import VectorLike
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.types import (
    BroadphaseSettings,
    BroadphaseType,
    ContactSettings,
    Fluid,
    SleepSettings,
)
from raisim_ros.engine.world.core import WorldCore


class ContactSolver:
    """The solver of a world: its order and what it did in the last step."""

    def __init__(self, world: Settings) -> None:
        self._settings = world

    def set_order(self, order: bool) -> None:
        """See World.set_contact_solver_iteration_order()."""
        self._settings.set_contact_solver_iteration_order(order)

    def get_iterations(self) -> int:
        """Most sweeps that any island needed in the last step."""
        stats = ffi.new("rs_step_stats *")
        lib.rs_world_get_step_stats(self._settings._world, stats)
        return int(stats.solver_iterations)

    def get_error(self) -> float:
        """Largest squared relative change of impulses left in any island of the last step."""
        stats = ffi.new("rs_step_stats *")
        lib.rs_world_get_step_stats(self._settings._world, stats)
        return float(stats.solver_error)


class Settings(WorldCore):
    """Solver, detection, sleeping, materials and collision filters."""

    def __init__(self) -> None:
        super().__init__()
        self._adders.append(self._tell_frictions)
        self._equippers.append(self._take_described_pairs)

    # ---- threads ----

    def set_threads(self, threads: int) -> None:
        """Set how many threads share the work of a step: 1 at first, at most 256.

        The results have the same bits for any number. It pays for many robots and islands, with no more threads than
        the machine has cores; clones and members of a WorldBatch have one thread each.
        """
        check(lib.rs_world_set_threads(self._world, arguments.count("threads", threads, 1)))

    def get_threads(self) -> int:
        """How many threads share the work of a step."""
        return int(lib.rs_world_threads(self._world))

    # ---- the fluid around everything ----

    def set_fluid(self, density: float = 0.0, viscosity: float = 0.0, wind: VectorLike = (0.0, 0.0, 0.0)) -> None:
        """Fill the world with a fluid of this density [kg/m^3] and viscosity [Pa s] that moves at `wind` [m/s].

        It slows bodies and links down as MuJoCo's does: each counts as the box with its mass and inertia. There is
        neither lift nor buoyancy; air is 1.2 and 1.8e-5, water 1000 and 1e-3. Cloth has its own drag.
        """
        fluid = ffi.new("rs_fluid *")
        fluid.density = arguments.number("density", density)
        fluid.viscosity = arguments.number("viscosity", viscosity)
        fluid.wind = list(arguments.vector("wind", wind, 3))
        check(lib.rs_world_set_fluid(self._world, fluid))

    def get_fluid(self) -> Fluid:
        """The fluid around everything: none at first."""
        fluid = ffi.new("rs_fluid *")
        lib.rs_world_get_fluid(self._world, fluid)
        return Fluid(fluid.density, fluid.viscosity, tuple(fluid.wind))

    # ---- solver ----

    def _change_solver(self, **fields: Any) -> None:
        with self.locked():
            settings = ffi.new("rs_solver_settings *")
            lib.rs_world_get_solver_settings(self._world, settings)
            for name, value in fields.items():
                setattr(settings, name, value)
            check(lib.rs_world_set_solver_settings(self._world, settings))

    def set_erp(self, erp: float, erp2: float = 0.0) -> None:
        """Set the strength of overlap correction and its damping; 0 turns it off, 1.5 is the default."""
        self._change_solver(erp=arguments.number("erp", erp), erp2=arguments.number("erp2", erp2))

    def set_contact_solver_param(
        self, alpha_init: float, alpha_min: float, alpha_decay: float, max_iter: int, threshold: float
    ) -> None:
        """Set the most sweeps per step and the squared relative change at which they end.

        The three alpha values are accepted and have no effect: 1 is always best.
        """
        self._change_solver(
            max_iterations=arguments.count("max_iter", max_iter, 1),
            threshold=arguments.number("threshold", threshold),
        )

    def _solver(self) -> Any:
        settings = ffi.new("rs_solver_settings *")
        lib.rs_world_get_solver_settings(self._world, settings)
        return settings

    def get_erp(self) -> tuple[float, float]:
        """Strength and damping of overlap correction."""
        return float(self._solver().erp), float(self._solver().erp2)

    def get_contact_solver_param(self) -> tuple[int, float]:
        """The most sweeps per step, and the squared relative change at which they end."""
        return int(self._solver().max_iterations), float(self._solver().threshold)

    def set_contact_solver_iteration_order(self, order: bool) -> None:
        """True: sweeps always run forward. False: their direction flips with every step, which has less bias."""
        self._change_solver(fixed_order=arguments.flag("order", order))

    def get_contact_solver(self) -> ContactSolver:
        """The contact solver."""
        return ContactSolver(self)

    # ---- detection ----

    def set_contact_settings(self, settings: ContactSettings) -> None:
        """Set how contacts are detected."""
        if not isinstance(settings, ContactSettings):
            raise InvalidValueError(f"settings is {settings!r}; expected ContactSettings")
        fields = asdict(settings)
        broadphase = fields.pop("broadphase")
        fields["broadphase"] = int(arguments.choice("broadphase type", BroadphaseType, broadphase.pop("type")))
        c = ffi.new("rs_contact_settings *")
        try:
            for name, value in (fields | broadphase).items():
                setattr(c, name, value)
        except (TypeError, OverflowError, IndexError) as error:
            raise InvalidValueError(f"{name} is {value!r}: {error}") from error
        check(lib.rs_world_set_contact_settings(self._world, c))

    def get_contact_settings(self) -> ContactSettings:
        """How contacts are detected."""
        c = ffi.new("rs_contact_settings *")
        lib.rs_world_get_contact_settings(self._world, c)
        broadphase = BroadphaseSettings(
            BroadphaseType(c.broadphase),
            tuple(c.mbp_world_min),
            tuple(c.mbp_world_max),
            tuple(c.mbp_cell_size),
            c.mbp_padding,
            c.mbp_max_cells_per_axis,
            c.mbp_max_cells_per_object,
            bool(c.mbp_use_world_bounds),
        )
        return ContactSettings(
            c.gjk_max_iterations,
            c.gjk_tolerance,
            c.epa_max_iterations,
            c.epa_tolerance,
            c.max_contacts_per_pair,
            bool(c.swept_ccd_enabled),
            c.swept_ccd_min_speed,
            c.swept_ccd_speculative_margin,
            broadphase,
        )

    def set_broadphase_settings(self, settings: BroadphaseSettings) -> None:
        """Set how nearby pairs are found."""
        if not isinstance(settings, BroadphaseSettings):
            raise InvalidValueError(f"settings is {settings!r}; expected BroadphaseSettings")
        contact_settings = self.get_contact_settings()
        contact_settings.broadphase = settings
        self.set_contact_settings(contact_settings)

    def get_broadphase_settings(self) -> BroadphaseSettings:
        """How nearby pairs are found."""
        return self.get_contact_settings().broadphase

    # ---- sleeping ----

    def get_sleeping_parameters(self) -> SleepSettings:
        """When islands fall asleep."""
        c = ffi.new("rs_sleep_settings *")
        lib.rs_world_get_sleep_settings(self._world, c)
        return SleepSettings(bool(c.enabled), c.linear_threshold, c.angular_threshold, c.quiet_steps)

    def _change_sleeping(self, **fields: Any) -> None:
        with self.locked():
            settings = ffi.new("rs_sleep_settings *")
            lib.rs_world_get_sleep_settings(self._world, settings)
            for name, value in fields.items():
                setattr(settings, name, value)
            check(lib.rs_world_set_sleep_settings(self._world, settings))

    def set_sleeping_enabled(self, enabled: bool) -> None:
        """Let islands sleep, or wake all for good."""
        self._change_sleeping(enabled=arguments.flag("enabled", enabled))

    def is_sleeping_enabled(self) -> bool:
        """True when islands may sleep."""
        return self.get_sleeping_parameters().enabled

    def set_sleeping_parameters(
        self, linear_vel_threshold: float, angular_vel_threshold: float, quiet_steps: int
    ) -> None:
        """Set when islands fall asleep [m/s, rad/s]."""
        self._change_sleeping(
            linear_threshold=arguments.number("linear_vel_threshold", linear_vel_threshold),
            angular_threshold=arguments.number("angular_vel_threshold", angular_vel_threshold),
            quiet_steps=arguments.count("quiet_steps", quiet_steps, 1),
        )

    def set_sleeping_velocity_thresholds(self, linear_vel_threshold: float, angular_vel_threshold: float) -> None:
        """Set the velocities below which a body is quiet [m/s, rad/s]."""
        self._change_sleeping(
            linear_threshold=arguments.number("linear_vel_threshold", linear_vel_threshold),
            angular_threshold=arguments.number("angular_vel_threshold", angular_vel_threshold),
        )

    def wake_object(self, obj: Object) -> None:
        """Wake an object, and in the next step its island."""
        self._own(obj)
        check(lib.rs_object_wake(self._world, obj._engine_id))

    def wake_all(self) -> None:
        """Wake everything."""
        check(lib.rs_world_wake_all(self._world))

    def is_object_sleeping(self, obj: Object) -> bool:
        """True while the object's island is skipped."""
        self._own(obj)
        return bool(lib.rs_object_is_sleeping(self._world, obj._engine_id))

    # ---- materials ----

    def _tell_frictions(self, obj: Object, params: Parameters) -> None:
        """Materials of a robot whose names tell a friction have it against the default material.

        Between two of them the smaller one holds; what is set for a pair stays.
        """
        if not isinstance(obj, ArticulatedSystem):
            return
        names = {shape.material for body in obj.get_kinematic_tree().bodies for shape in body.collisions}
        told = {name: friction for name in names if (friction := friction_of_material(name)) is not None}
        if not told:
            return
        manager = self.get_material_manager()
        known = {name: friction_of_material(name) for pair in manager.pairs for name in pair} | told
        others = {name: friction for name, friction in known.items() if friction is not None} | {"default": math.inf}
        for name, friction in told.items():
            for other, most in others.items():
                if (name, other) not in manager.pairs and (other, name) not in manager.pairs:
                    properties = replace(manager.default, friction=min(friction, most), static_friction=None)
                    manager.set_material_pair_prop(name, other, properties)
        self.update_material_prop(manager)

    def set_material_pair_prop(
        self,
        mat1: str,
        mat2: str,
        friction: float,
        restitution: float,
        res_threshold: float,
        static_friction: float | None = None,
        static_friction_threshold_velocity: float = 0.0,
        rolling_friction: float = 0.0,
        spinning_friction: float = 0.0,
    ) -> None:
        """Set how two materials touch; the order of the names does not matter."""
        moving = static_friction_threshold_velocity, rolling_friction, spinning_friction
        pair = _c_pair(MaterialPairProperties(friction, restitution, res_threshold, static_friction, *moving))
        check(lib.rs_material_set_pair(self._world, self._material(mat1), self._material(mat2), pair))

    def set_default_material(
        self,
        friction: float,
        restitution: float,
        res_threshold: float,
        static_friction: float | None = None,
        static_friction_threshold_velocity: float = 0.0,
        rolling_friction: float = 0.0,
        spinning_friction: float = 0.0,
    ) -> None:
        """Set how pairs of materials touch that have no properties of their own."""
        moving = static_friction_threshold_velocity, rolling_friction, spinning_friction
        pair = _c_pair(MaterialPairProperties(friction, restitution, res_threshold, static_friction, *moving))
        check(lib.rs_material_set_default(self._world, pair))

    def get_material_pair_properties(self, mat1: str, mat2: str) -> MaterialPairProperties:
        """How two materials touch: the pair's own properties, else the default ones."""
        pair = ffi.new("rs_material_pair *")
        check(lib.rs_material_get_pair(self._world, self._material(mat1), self._material(mat2), pair))
        return _properties_of(pair)

    def get_material_manager(self) -> MaterialManager:
        """All material properties, as update_material_prop() takes them."""
        with self.locked():
            default = ffi.new("rs_material_pair *")
            lib.rs_material_get_default(self._world, default)
            manager = MaterialManager(_properties_of(default))
            a, b, pair = ffi.new("int32_t *"), ffi.new("int32_t *"), ffi.new("rs_material_pair *")
            for number in range(lib.rs_material_pair_count(self._world)):
                check(lib.rs_material_pair_at(self._world, number, a, b, pair))
                names = self._material_name(a[0]), self._material_name(b[0])
                manager.set_material_pair_prop(*names, _properties_of(pair))
        return manager

    def _take_described_pairs(self, _: Object, __: ArticulatedEntry, source: WorldDescription) -> None:
        materials = self.get_material_manager()
        for pair, properties in source.materials.pairs.items() if source.materials else ():
            materials.set_material_pair_prop(*pair, properties)
        self.update_material_prop(materials)

    def update_material_prop(self, prop: MaterialManager | str | Path) -> None:
        """Replace all material properties, by those of a file (a world file, of which only the materials count) too."""
        if not isinstance(prop, MaterialManager):
            prop = load_material_file(arguments.path("prop", prop))
        default, *given = [_c_pair(one) for one in (prop.default, *prop.pairs.values())]  # refuses wrong numbers
        with self.locked():
            check(lib.rs_material_clear(self._world))
            check(lib.rs_material_set_default(self._world, default))
            numbers = [sorted(map(self._material, names)) for names in prop.pairs]
            in_order = sorted(range(len(given)), key=numbers.__getitem__)  # the engine's own: each goes to the end
            for k in in_order:
                check(lib.rs_material_set_pair(self._world, *numbers[k], given[k]))

    # ---- collision properties of objects ----

    def set_object_collision_filter(
        self, obj: Object, collision_group: int, collision_mask: int, local_idx: int = -1
    ) -> bool:
        """Set group and mask of all collision bodies, or of those of one local body; False if it has no such body."""
        self._own(obj)
        group = arguments.collision_bits("collision_group", collision_group)
        mask = arguments.collision_bits("collision_mask", collision_mask)
        local = arguments.whole("local_idx", local_idx)
        return _changed(lib.rs_object_set_filter(self._world, obj._engine_id, local, group, mask))

    def set_object_material(self, obj: Object, material: str, local_idx: int = -1) -> bool:
        """Set the material of all collision bodies, or of those of one local body; False if it has no such body."""
        self._own(obj)
        local = arguments.whole("local_idx", local_idx)
        index = self._material(material)
        return _changed(lib.rs_object_set_material(self._world, obj._engine_id, local, index))

    def get_object_material(self, obj: Object) -> str:
        """Material of the object's first collision body."""
        self._own(obj)
        out = ffi.new("int32_t *")
        check(lib.rs_object_get_material(self._world, obj._engine_id, -1, out))
        return self._material_name(out[0])

    def update_self_collision_cache(self) -> None:
        """Do nothing: filter edits take effect at once. Kept so that programs written for RaiSim run."""


def _changed(status: int) -> bool:
    """False when the object has no such local body; everything else was checked before."""
    if status == lib.RS_INVALID_VALUE:
        return False
    check(status)
    return True


def _c_pair(properties: MaterialPairProperties) -> Any:
    pair = ffi.new("rs_material_pair *")
    for name, value in vars(properties).items():
        if name == "static_friction" and value is None:
            value = properties.friction
        setattr(pair, name, arguments.number(name.replace("_", " "), value))
    check(lib.rs_material_pair_valid(pair))
    return pair


def _properties_of(pair: Any) -> MaterialPairProperties:
    return MaterialPairProperties(*(getattr(pair, field.name) for field in fields(MaterialPairProperties)))
