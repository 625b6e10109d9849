"""Contacts as one of the two objects sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, matrix_of_symmetric6
from raisim_ros.engine.errors import WrongStateError, lock
from raisim_ros.engine.types import BodyType

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

# Layout of rs_contact, field by field; cffi confirms the size.
CONTACT_DTYPE = np.dtype(
    [
        ("object_a", np.uint64),
        ("object_b", np.uint64),
        ("local_a", np.int32),
        ("local_b", np.int32),
        ("collider_a", np.int32),
        ("collider_b", np.int32),
        ("position", np.float64, 3),
        ("frame", np.float64, (3, 3)),
        ("impulse", np.float64, 3),
        ("moment", np.float64, 3),
        ("depth", np.float64),
        ("velocity", np.float64, 3),
        ("inverse_inertia", np.float64, 6),
        ("friction", np.float64),
        ("restitution", np.float64),
        ("island", np.int32),
        ("feature", np.int32),
    ]
)
assert CONTACT_DTYPE.itemsize == ffi.sizeof("rs_contact")


def read_contacts(world: Any) -> np.ndarray[Any, Any]:
    """All contacts of the last step as one structured array; `world` is the engine's."""
    lock(world)
    try:
        contacts = np.zeros(lib.rs_world_contact_count(world), dtype=CONTACT_DTYPE)
        # rs_contact has room for what it counts: no other thread steps in between.
        lib.rs_world_read_contacts(world, ffi.cast("rs_contact *", contacts.ctypes.data), len(contacts))
    finally:
        lib.rs_world_unlock(world)
    return contacts


class Contact:
    """A contact of the last step, in the list of one of its two objects.

    The normal points towards object A, impulses act on object A; is_object_a() tells which side this is.
    """

    _world: Home
    _record: Any
    _index: int
    _list_index: int
    _as_a: bool

    def __init__(self, world: Home, record: Any, index: int, list_index: int, as_a: bool) -> None:
        self._world = world
        self._record = record
        self._index = index
        self._list_index = list_index
        self._as_a = as_a

    def __repr__(self) -> str:
        x, y, z = self._record["position"]
        return f"<Contact at ({x:.4g}, {y:.4g}, {z:.4g}), depth {self.get_depth():.3g} m>"

    def get_position(self) -> Vector:
        """Contact point, world frame [m]."""
        return np.array(self._record["position"])

    def get_normal(self) -> Vector:
        """Unit normal towards object A, world frame."""
        return np.array(self._record["frame"][2])

    def get_contact_frame(self) -> Vector:
        """Rows: the two tangents and the normal, world frame. World = frame.T @ contact-frame vector."""
        return np.array(self._record["frame"])

    def get_impulse(self) -> Vector:
        """Impulse on object A in the contact frame [N s]; divided by the time step it is the force."""
        return np.array(self._record["impulse"])

    def get_moment(self) -> Vector:
        """Moment of rolling (tangents) and spinning (normal) friction on object A in the contact frame, as an impulse
        [N m s]; divided by the time step it is the moment."""
        return np.array(self._record["moment"])

    def get_force_world(self) -> Vector:
        """Mean force of the last step on the object in whose list the contact is, world axes [N]."""
        impulse: Vector = self.get_contact_frame().T @ self.get_impulse()
        return (impulse if self._as_a else -impulse) / self._world.get_time_step()

    def get_impulse_ptr(self) -> Vector:
        """The same as get_impulse()."""
        return self.get_impulse()

    def get_depth(self) -> float:
        """Signed distance of the surfaces [m]: negative when they penetrate."""
        return float(self._record["depth"])

    def is_object_a(self) -> bool:
        """True when the object whose list this is in is object A."""
        return self._as_a

    def get_pair_object_index(self) -> int:
        """Index in the world of the other object."""
        return self._world._handle_of(self._pair_id()).get_index_in_world()

    def get_pair_object_body_type(self) -> BodyType:
        """Body type of the other body."""
        local_idx = int(self._record["local_b" if self._as_a else "local_a"])
        return self._world._handle_of(self._pair_id()).get_body_type(local_idx)

    def get_pair_contact_index_in_pair_object(self) -> int:
        """Place of this contact in the other object's list."""
        for k, other in enumerate(self._world._contacts_of(self._world._handle_of(self._pair_id()))):
            if other._index == self._index and other._as_a != self._as_a:
                return k
        raise WrongStateError("the contact is of an earlier step; the other object no longer has it in its list")

    def get_index_contact_problem(self) -> int:
        """Place of the contact in the world's list, see World.get_contact_problem()."""
        return self._index

    def get_index_in_object_contact_list(self) -> int:
        """Place of the contact in its object's list."""
        return self._list_index

    def get_inv_inertia(self) -> Vector:
        """Effective inverse mass of the pair in the contact frame, 3 x 3 [1/kg]."""
        return matrix_of_symmetric6(self._record["inverse_inertia"])

    def get_local_body_index(self) -> int:
        """Local index of the body of this object."""
        return int(self._record["local_a" if self._as_a else "local_b"])

    def is_self_collision(self) -> bool:
        """True when both sides belong to one object."""
        return bool(self._record["object_a"] == self._record["object_b"])

    def skip(self) -> bool:
        """True for the second of the two entries of a self-collision."""
        return self.is_self_collision() and not self._as_a

    def get_collision_body_a(self) -> int:
        """Collision body of object A, counted within the object."""
        return int(self._record["collider_a"])

    def get_collision_body_b(self) -> int:
        """Collision body of object B, counted within the object."""
        return int(self._record["collider_b"])

    def _pair_id(self) -> int:
        return int(self._record["object_b" if self._as_a else "object_a"])
