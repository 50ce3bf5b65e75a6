"""The page of the site on which one tries Highwater, and what Python has in the browser for it.

Pyodide is Python for browsers. npm brings the pinned bytes; without npm there is no page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from html import escape
from importlib.util import find_spec
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parents[1]
OWN = Path(__file__).resolve().parent / "site" / "try"
EXAMPLE = "docs/examples/register.py"
TRY = "docs/try.md"
BOUNDS = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}
"""With which one begins to try the ladder: small, and old rungs lose records."""
TRIED = (
    "model/*.py", "model/language/**/*.py", "model/ladder/*.py", "properties/*.py",
    "properties/ladder/**/*.py", "checker/*.py", "checker/api/*.py", "checker/core/*.py",
    "checker/core/engines/*.py", "checker/core/search/*.py", "checker/core/traces/*.py",
    "checker/telling/*.py", "checker/telling/causes/*.py", "checker/telling/report/**/*",
)  # fmt: skip
"""What Python has in the browser, besides what users import and `LIBRARIES`."""
LIBRARIES = ("jinja2", "markupsafe")
PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "pyodide-lock.json",
           "python_stdlib.zip")  # fmt: skip
"""What a browser needs of the package."""


class NotToBeHadError(Exception):
    """What the page to try Highwater on needs cannot be had here; the message says why."""


def write_try(folder: Path) -> None:
    """Put into a folder what the page runs. `NotToBeHadError` if Pyodide cannot be had."""
    write_python(folder)
    write_archive(folder / "highwater.zip")
    for file in (OWN / "try.js", OWN / "worker.js", ROOT / EXAMPLE):
        shutil.copy(file, folder / file.name)


def write_python(folder: Path) -> None:
    """Put Python for browsers, Pyodide, into a folder: the pinned bytes, which npm brings."""
    pin = json.loads((OWN / "pyodide.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="highwater-npm-") as place:
        command = ["npm", "pack", "--ignore-scripts", f"{pin['name']}@{pin['version']}"]
        try:
            done = subprocess.run(
                command, cwd=place, check=False, capture_output=True, text=True, timeout=300
            )
        except FileNotFoundError:
            raise NotToBeHadError("there is no npm") from None
        except subprocess.TimeoutExpired:
            raise NotToBeHadError("npm takes too long") from None
        if done.returncode != 0:
            raise NotToBeHadError(f"npm brings no {command[-1]}")
        (packed,) = Path(place).glob("*.tgz")
        digest = hashlib.sha512(packed.read_bytes()).digest()
        if pin["integrity"] != f"sha512-{base64.b64encode(digest).decode()}":
            raise SystemExit(f"build_site: {command[-1]} is not what pyodide.json pins")
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(packed) as archive:
            for name in PYODIDE:
                member = archive.extractfile(f"package/{name}")
                assert member is not None
                (folder / name).write_bytes(member.read())


def write_archive(archive: Path) -> None:
    """Write what Python has in the browser: the same archive for the same files."""
    found = {path: path.relative_to(ROOT) for each in TRIED for path in ROOT.glob(each)}
    users = ROOT / "checker" / "public"
    found |= {path: path.relative_to(users) for path in users.rglob("*.py")}
    for name in LIBRARIES:
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None  # dependencies of ours
        place = Path(spec.origin).parent
        found |= {path: path.relative_to(place.parent) for path in place.rglob("*.py")}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path, name in sorted(found.items(), key=lambda each: each[1].as_posix()):
            if path.is_file() and "__pycache__" not in path.parts:
                entry = zipfile.ZipInfo(name.as_posix())  # without its time
                packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


def try_page() -> str:
    """The page on which one tries Highwater."""
    from model.ladder import LADDER

    protocols = [
        f'<option value="{each.name}">{escape(each.name)}: {escape(each.words)}</option>'
        for each in LADDER
    ]
    bounds = [
        f'<label title="{escape(each.words)}">{each.name.replace("_", " ")} <input type="number" '
        f'name="{each.name}" min="{each.minimum}" max="9" value="{BOUNDS[each.name]}" required>'
        "</label>"
        for each in LADDER[0].bounds
    ]
    form = Template((OWN / "page.html").read_text(encoding="utf-8")).substitute(
        protocols="\n".join(protocols), bounds="\n".join(bounds)
    )
    return f"""# Try it

The reference engine, in your browser: it visits about two thousand states a second, so bounds are
small. Nothing leaves this page, and nothing is installed. [Write a
protocol](writing_a_protocol.md) of your own: it begins as the register of that page, which loses
nothing until you change `setting(True` to `setting(False`.

{form}
Python is [Pyodide](https://pyodide.org), under the MPL 2.0.
"""
