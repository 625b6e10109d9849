"""Build the source archive and, from it, the wheel, and print their hashes.

    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) python tools/build_distributions.py FOLDER
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Build into the folder that is given."""
    folder = Path(sys.argv[1]).absolute()
    os.umask(0o022)  # wheels keep the permissions of files
    # Compilers write the folder they work in into what they make.
    environment = {**os.environ, "CFLAGS": f"{os.environ.get('CFLAGS', '')} -g0"}
    sdist = [sys.executable, "setup.py", "-q", "sdist", "--dist-dir", str(folder)]
    subprocess.run(sdist, cwd=ROOT, env=environment, check=True)
    archive = max(folder.glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(folder), str(archive)]
    subprocess.run(wheel, env=environment, check=True)
    for path in sorted(folder.iterdir()):
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
