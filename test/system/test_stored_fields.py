"""Snapshots on disk hold every field of the engine's structs: one that is added must be listed, as stored or as left out."""

import re
from pathlib import Path

import pytest

CSRC = Path(__file__).resolve().parents[2] / "csrc"
STORES = ("world/store.c", "model/model_store.c", "soft/soft_store.c")


def code(path: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


HEADERS = "\n".join(code(path) for path in sorted(CSRC.rglob("*.h")))


def members(struct: str) -> dict[str, str]:
    """Names of a struct's members with their types."""
    found = re.search(r"typedef struct (?:\w+ )?\{([^{}]*)\} " + struct + ";", HEADERS)
    assert found, struct
    body = re.sub(r"RS_WORLD_ARRAYS\(\w+\)", world_arrays(), found[1])
    out = {}
    for line in filter(None, (part.strip() for part in body.split(";"))):
        kind, names = re.fullmatch(r"((?:const )?(?:struct )?(?:RS_ARRAY\(\w+\)|\w+))\s+(.*)", line, flags=re.DOTALL).groups()
        for name in names.split(","):
            out[re.sub(r"\[.*|\*", "", name).strip()] = kind
    return out


def world_arrays() -> str:
    rows = re.search(r"#define RS_WORLD_ARRAYS\(X\)(.*?[^\\])\n", HEADERS, flags=re.DOTALL)[1]
    return "".join(f"RS_ARRAY({kind}) {name};" for kind, name in re.findall(r"X\((\w+), (\w+)\)", rows))


def records() -> dict[str, list[str]]:
    """The fields that are listed for each struct."""
    out: dict[str, list[str]] = {}
    for store in STORES:
        text = code(CSRC / store)
        lists = dict(re.findall(r"static const rs_field (\w+)\[\] = \{(.*?)\};", text, flags=re.DOTALL))
        for struct, name in re.findall(r"RS_RECORD\((\w+), (\w+)\)", text):
            out[struct] = re.findall(r"\((?:[\w ]+, )*([\w.]+)\)", lists[name])
            if "RS_WORLD_ARRAYS" in lists[name]:
                out[struct] += re.findall(r"RS_ARRAY\(\w+\) (\w+);", world_arrays())
    return out


RECORDS = records()


def missing(struct: str, listed: list[str]) -> list[str]:
    out = []
    for name, kind in members(struct).items():
        inside = [field.partition(".")[2] for field in listed if field.startswith(f"{name}.")]
        if inside:
            out += [f"{name}.{one}" for one in missing(kind, inside)]
        elif name not in listed:
            out.append(name)
    return out


@pytest.mark.parametrize("struct", sorted(set(RECORDS) - {"int32_t"}))
def test_every_field_of_a_struct_is_listed(struct):
    assert missing(struct, RECORDS[struct]) == []


def test_a_field_that_is_not_listed_is_noticed():
    assert len(RECORDS) > 20
    for left in ("quiet_steps", "listed", "velocity"):
        assert missing("rs_body", [name for name in RECORDS["rs_body"] if name != left]) == [left]
    settings = [name for name in RECORDS["rs_world_data"] if name != "solver.erp2"]
    assert missing("rs_world_data", settings) == ["solver.erp2"]


def mentioned(text: str, names: list[str]) -> list[str]:
    return [name for name in names if re.search(rf"(->|\.){name}\b", text) is None]


def test_every_part_of_a_robot_is_stored_or_made_again():
    store = code(CSRC / "model/model_store.c")
    articulation = code(CSRC / "model/articulation.c")
    laid_out = articulation[articulation.index("lay_out_kept") : articulation.index("lay_out_scratch")]
    made = articulation[articulation.index("look_at_model") :]
    names = list(members("rs_articulation"))
    kept = names[: names.index("placed_at")]  # scratch begins there
    assert mentioned(store + laid_out + made, kept) == []
    derived = {"holders", "q_count", "u_count", "fixed_base", "order", "four_at", "fours", "bytes"}
    assert mentioned(store, [name for name in members("rs_tree_model") if name not in derived]) == []
    assert mentioned(store + laid_out + made, [*kept, "forgotten"]) == ["forgotten"]
