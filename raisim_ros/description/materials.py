"""How pairs of materials touch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class MaterialPairProperties:
    """How two materials touch.

    Impacts slower than `restitution_threshold` [m/s] do not bounce. Below
    `static_friction_velocity_threshold` [m/s] the friction coefficient goes over linearly into
    `static_friction`; 0 turns static friction off. The moments against rolling and against spinning about the normal
    are at most `rolling_friction` and `spinning_friction` [m] times the normal force of a contact.
    """

    friction: float = 0.8
    restitution: float = 0.0
    restitution_threshold: float = 0.0
    static_friction: float | None = None
    static_friction_velocity_threshold: float = 0.0
    rolling_friction: float = 0.0
    spinning_friction: float = 0.0


@dataclass
class MaterialManager:
    """A whole set of material pairs, to replace a world's set in one call."""

    default: MaterialPairProperties = field(default_factory=MaterialPairProperties)
    pairs: dict[tuple[str, str], MaterialPairProperties] = field(default_factory=dict)

    def set_material_pair_prop(self, mat1: str, mat2: str, properties: MaterialPairProperties) -> None:
        """Set the properties of a pair; the order of the names does not matter."""
        self.pairs.pop((mat2, mat1), None)
        self.pairs[(mat1, mat2)] = properties
