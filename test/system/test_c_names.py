"""Names of the engine's functions follow one convention (docs/architecture.md, "Names in C"), and Python calls only what
the public headers declare."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DECLARATION = re.compile(r"^(?:static inline )?([a-z][\w ]*?[ *]+)(rs_\w+)\(([^;{]*?)\)(?=;| \{)", re.MULTILINE)
PUBLIC = sorted((ROOT / "csrc/include/raisim_engine").glob("*.h"))
INNER = sorted(path for path in (ROOT / "csrc").glob("*/*.h") if path.parent.name != "include")


def declared(paths: list[Path]) -> dict[str, tuple[str, str]]:
    """What the functions of headers return, and their parameters."""
    found = {}
    for path in paths:
        for answer, name, parameters in DECLARATION.findall(COMMENT.sub("", path.read_text(encoding="utf-8"))):
            found[name] = answer.strip(), " ".join(parameters.split())
    return found


FUNCTIONS = declared(PUBLIC)
INNER_FUNCTIONS = declared(INNER)


def test_functions_are_found():
    assert len(FUNCTIONS) > 150
    assert len(INNER_FUNCTIONS) > 400


def getter_faults(functions: dict[str, tuple[str, str]]) -> list[str]:
    """Getters and setters that are not `rs_noun_get_thing` and `rs_noun_set_thing`."""
    wrong = [name for name in functions if re.search(r"_(get|set)$", name)]
    for name, (answer, parameters) in functions.items():
        writes = answer in ("void", "rs_status")
        if "_set_" in name and writes and functions.get(name.replace("_set_", "_", 1), ("int",))[0] in ("void", "rs_status"):
            wrong.append(name.replace("_set_", "_", 1))
        given = [one for one in parameters.split(",")[1:] if re.search(r"\*|\[", one) and "const " not in one]
        if "_get_" in name and not (writes and given):
            wrong.append(name)
    return wrong


def maker_faults(functions: dict[str, tuple[str, str]]) -> list[str]:
    """Makers whose name does not say what they give: `_new` a pointer, `_make` a value, `_create` something in a world."""
    wrong = []
    for name, (answer, parameters) in functions.items():
        pointer = answer.endswith("*") or "**" in parameters
        stem = name.rpartition("_")[0]
        if name.endswith("_new") and not (pointer and {f"{stem}_free", f"{stem}_drop"} & set(functions)):
            wrong.append(name)
        if (name.endswith("_make") and pointer) or re.search(r"_(init|destroy|create|copy_of)$", name):
            wrong.append(name)
    return wrong


def test_getters_and_setters_are_named_alike():
    assert getter_faults(FUNCTIONS) == []


def test_makers_are_named_by_what_they_give():
    assert maker_faults(INNER_FUNCTIONS) == []


def test_public_makers_create_and_give_an_id_or_a_world():
    made = [name for name in FUNCTIONS if re.search(r"_(new|make|init|free)$", name)]
    assert made == []
    for name, (answer, parameters) in FUNCTIONS.items():
        if name.endswith("_create"):
            assert answer == "rs_status", name
            assert re.search(r"(_id \*|\*\*)out$", parameters), name


@pytest.mark.parametrize("path", sorted((ROOT / "raisim_ros").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_python_calls_only_what_is_declared(path):
    called = set(re.findall(r"\blib\.(rs_\w+)", path.read_text(encoding="utf-8")))
    assert called - set(FUNCTIONS) == set()


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("rs_status rs_body_state_get(rs_world *w, rs_body_state *out);", ["rs_body_state_get"]),
        ("rs_status rs_body_set_x(rs_world *w, double x);\nrs_status rs_body_x(rs_world *w, double *x);", ["rs_body_x"]),
        ("rs_status rs_body_set_x(rs_world *w, double x);\ndouble rs_body_x(rs_world *w);", []),
        ("rs_status rs_body_get_x(rs_world *w, double out[3]);", []),
        ("rs_status rs_body_get_x(rs_world *w, int32_t x);", ["rs_body_get_x"]),
    ],
)
def test_faults_of_getters_are_found(tmp_path, text, faults):
    (tmp_path / "header.h").write_text(text)
    assert getter_faults(declared([tmp_path / "header.h"])) == faults


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("rs_grid *rs_grid_make(void);", ["rs_grid_make"]),
        ("rs_grid rs_grid_new(void);\nvoid rs_grid_free(rs_grid *grid);", ["rs_grid_new"]),
        ("rs_grid *rs_grid_new(void);", ["rs_grid_new"]),
        ("rs_status rs_grid_new(int n, rs_grid **out);\nvoid rs_grid_free(rs_grid *grid);", []),
        ("void rs_grid_init(rs_grid *grid);", ["rs_grid_init"]),
        ("rs_grid rs_grid_make(void);", []),
    ],
)
def test_faults_of_makers_are_found(tmp_path, text, faults):
    (tmp_path / "header.h").write_text(text)
    assert maker_faults(declared([tmp_path / "header.h"])) == faults


# What measures the engine from outside: bytes for tests of leaks, points of two shapes for the oracle of collisions, and the
# room that rs_world_read_wires needs.
FOR_OTHERS = {"rs_memory_bytes", "rs_world_collide_shapes", "rs_world_wire_count"}


def unused(functions: dict[str, tuple[str, str]], engine: str, python: str) -> set[str]:
    """Functions that neither the engine itself, beyond their definition, nor the package calls."""
    calls, known = Counter(re.findall(r"\brs_\w+", engine)), set(re.findall(r"\brs_\w+", python))
    return {name for name in functions if calls[name] <= 1 and name not in known}


def test_every_public_function_is_used():
    engine = "".join(COMMENT.sub("", path.read_text(encoding="utf-8")) for path in (ROOT / "csrc").glob("*/*.c"))
    python = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "raisim_ros").rglob("*.py"))
    assert unused(FUNCTIONS, engine, python) == FOR_OTHERS


def test_the_search_finds_what_only_tests_call():
    functions = dict.fromkeys(("rs_a", "rs_b", "rs_c"), ("int", "void"))
    assert unused(functions, "int rs_a(void) {} int rs_b(void) { rs_c(); } int rs_c(void) {}", "lib.rs_b()") == {"rs_a"}
