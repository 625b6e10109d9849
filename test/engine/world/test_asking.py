"""Methods that only ask: they work at any time and are no change of the world."""

import inspect

import pytest
from rich_world import public_methods, rich_world, things_to_call

ASKING = ("get_", "is_", "has_", "find_")


def needs_nothing(method):
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return all(one.kind in variable or one.default is not one.empty for one in inspect.signature(method).parameters.values())


def questions(world):
    """Every method of every class that asks and needs no argument, once."""
    found = {}
    for thing in things_to_call(world):
        for name in public_methods(thing):
            if name.startswith(ASKING) and needs_nothing(getattr(thing, name)):
                found.setdefault((type(thing).__name__, name), getattr(thing, name))
    return found


@pytest.mark.parametrize("half_way", [False, True])
def test_who_asks_is_answered_and_changes_nothing(half_way):
    """Reading cloth and grains counted as a change, for which a recording keeps a whole state, and was refused between
    integrate1 and integrate2."""
    world = rich_world()
    if half_way:
        world.integrate1()
    asked = questions(world)
    assert len(asked) > 400
    counted = []
    for name, ask in asked.items():
        before = world._change_count(), world.get_state_hash()
        ask()
        if before != (world._change_count(), world.get_state_hash()):
            counted.append(name)
    assert counted == []
