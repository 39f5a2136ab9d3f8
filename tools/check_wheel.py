# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the newest wheel in a folder holds the whole package and nothing else."""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(folder: str) -> int:
    wheel = max(Path(folder).glob("westwood-*.whl"), key=lambda path: path.stat().st_mtime)
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "westwood").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".so"}
    }
    package |= {f"westwood/scenarios/{path.name}" for path in ROOT.glob("scenarios/*.toml")}
    native = {name for name in names if name.endswith(".so")}
    complaints = [f"missing from the wheel: {name}" for name in sorted(package - names)]
    complaints += [f"not of the package: {name}" for name in sorted(names - package - native)]
    if not native:
        complaints.append("missing from the wheel: the native module")
    print("\n".join(complaints) or f"{wheel.name} is complete")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
