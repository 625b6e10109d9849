"""Refuses attributes that do not exist: ``ball.mass = 2`` would change nothing, and nobody would notice."""

from __future__ import annotations

from difflib import get_close_matches


class KnownNames:
    """Public attributes can only be set where the class has them. Classes that users derive may have their own."""

    def __setattr__(self, name: str, value: object) -> None:
        kind = type(self)
        if name[0] != "_" and not hasattr(kind, name) and kind.__module__.startswith("raisim_ros."):
            known = [one for one in dir(kind) if one[0] != "_"]
            setter = f"set_{name}"
            near = [f"{setter}()"] if setter in known else get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise AttributeError(f"{kind.__name__} has no attribute '{name}' to set{hint}")
        object.__setattr__(self, name, value)
