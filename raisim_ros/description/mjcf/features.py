"""What holds for a whole model: flags that switch parts off, and what is left out whatever the bodies are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from raisim_ros.description.mjcf.compiler import CompiledModel
from raisim_ros.description.mjcf.notes import Notes

_SWITCHED = {
    "limit": ("jnt_limited",),
    "frictionloss": ("dof_frictionloss",),
    "spring": ("jnt_stiffness", "jnt_stiffnesspoly", "tendon_stiffness", "tendon_stiffnesspoly"),
    "damper": ("dof_damping", "dof_dampingpoly", "tendon_damping", "tendon_dampingpoly"),
}
_WITHOUT_EFFECT = ("warmstart", "refsafe", "sensor", "midphase", "eulerdamp", "autoreset", "nativeccd", "island")
_HANDLED = ("gravity", "contact", "actuation", "equality", "clampctrl", *_SWITCHED)
_SOFT = {
    "geom_solref": (0.02, 1.0),
    "geom_solimp": (0.9, 0.95, 0.001, 0.5, 2.0),
    "jnt_solref": (0.02, 1.0),
    "jnt_solimp": (0.9, 0.95, 0.001, 0.5, 2.0),
    "geom_margin": 0.0,
    "geom_gap": 0.0,
    "jnt_margin": 0.0,
}


def apply_flags(model: CompiledModel) -> CompiledModel:
    """The model without what its flags switch off."""
    arrays = dict(model.arrays)
    for flag, names in _SWITCHED.items():
        if flag in model.disabled:
            arrays |= {name: np.zeros_like(arrays[name]) for name in names if name in arrays}
    return replace(model, arrays=arrays)


def note_features(model: CompiledModel, notes: Notes) -> None:
    """Note what no part of the reader takes care of."""
    for flag in sorted(model.disabled):
        notes.add(f"flag {flag}", flag not in _WITHOUT_EFFECT and flag not in _HANDLED)
    option = model.option
    fluid = bool(option["density"] or option["viscosity"])
    notes.add("fluidshape ellipsoid, which is the box of the inertia", fluid and model.has("geom_fluid"))
    notes.add("flexes", model.counts["nflex"] > 0)
    notes.add("skins", model.counts["nskin"] > 0)
    notes.add("plugins", model.counts["nplugin"] > 0)
    notes.add("adhesion", model.has("geom_adhesion"))
    notes.add("velocities of surfaces", model.has("geom_surfacevel"))
    soft = any((model[name] != np.array(usual)).any() for name, usual in _SOFT.items())
    notes.add("softness of contacts and limits", soft)
