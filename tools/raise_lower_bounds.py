"""Raise the lower bounds of the requirements to the oldest version that is pinned for any supported Python.

    python3 tools/raise_lower_bounds.py [--dry-run]

What is pinned is what the tests ran with. Bounds are written with two parts (1.24), and are never lowered.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = (*(f"tools/requirements/{name}.txt" for name in ("runtime", "features", "test", "colcon")), "setup.cfg")
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([0-9][^\s;\\]*)", re.MULTILINE)
_BOUND = re.compile(r"(?<![\w.-])([A-Za-z][A-Za-z0-9._-]*)>=([0-9][0-9.]*)")


def parts(version: str) -> tuple[int, ...]:
    """The leading numbers of a version."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def pinned_versions(locks: list[str]) -> dict[str, tuple[int, ...]]:
    """The oldest pinned version of each package."""
    versions: dict[str, tuple[int, ...]] = {}
    for text in locks:
        for name, version in _PIN.findall(text):
            key = name.lower().replace("_", "-")
            versions[key] = min(versions.get(key, parts(version)), parts(version))
    return versions


def raised(text: str, versions: dict[str, tuple[int, ...]]) -> str:
    """`text` with higher lower bounds."""

    def bound(match: re.Match[str]) -> str:
        pinned = versions.get(match.group(1).lower().replace("_", "-"), ())[:2]
        if not pinned or pinned <= parts(match.group(2)):
            return match.group()
        return f"{match.group(1)}>={'.'.join(map(str, pinned))}"

    return _BOUND.sub(bound, text)


def main() -> int:
    """Write the files, or with --dry-run tell which ones would change."""
    parser = argparse.ArgumentParser(description="Raise the lower bounds of the requirements to what is pinned.")
    parser.add_argument("--dry-run", action="store_true", help="only tell what would change")
    dry = parser.parse_args().dry_run
    versions = pinned_versions([path.read_text() for path in sorted((ROOT / "tools/requirements/lock").glob("*.txt"))])
    for name in PLACES:
        path = ROOT / name
        text = path.read_text()
        new = raised(text, versions)
        if new != text:
            changed = sum(a != b for a, b in zip(text.splitlines(), new.splitlines(), strict=True))
            print(f"{name}: {changed} bounds raised")
            if not dry:
                path.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
