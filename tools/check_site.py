"""Tell which links of a built site lead nowhere: `make docs` runs it.

    python tools/check_site.py build/site
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse


def broken_links(site: Path) -> list[str]:
    """Links between pages, to files and to parts of pages that are not there, each with the page that has it."""
    site = site.resolve()
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html"))}
    marks = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    broken = []
    for page, text in pages.items():
        for link in sorted(set(re.findall(r'(?:href|src)="([^"]*)"', text))):
            parts = urlparse(link)
            if parts.scheme or parts.netloc:
                continue
            start = site if parts.path.startswith("/") else page.parent
            target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            mark = unquote(parts.fragment)
            lost = bool(mark) and not mark.startswith("__") and mark not in marks.get(target, {mark})
            if not target.exists() or lost:
                broken.append(f"{page.relative_to(site)}: {link}")
    return broken


def main(site: str) -> int:
    """Print them; 1 when there are any."""
    found = broken_links(Path(site))
    for line in found:
        print(f"broken link: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
