"""What `make release` puts into `dist/`, and what it refuses."""

import json
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support.extras import needed_by_all
from tests.support.scripts import script

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_changelogs_first_release_is_the_version():
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    script("release").check_changelog(changelog, PROJECT["version"])
    with pytest.raises(SystemExit, match=r"says 9\.9\.9, docs/changelog\.md 0"):
        script("release").check_changelog(changelog, "9.9.9")


def test_two_wheels_are_the_same_only_byte_by_byte(tmp_path):
    for name, content in (("a", b"one"), ("b", b"one"), ("c", b"two")):
        (tmp_path / name).write_bytes(content)
    script("release").check_same(tmp_path / "a", tmp_path / "b")
    with pytest.raises(SystemExit, match="builds another a than"):
        script("release").check_same(tmp_path / "a", tmp_path / "c")


@pytest.mark.slow
def test_a_release_is_an_sdist_its_wheel_and_what_that_brings_along(tmp_path):
    tools = tmp_path / "tools"
    venv.create(tools, with_pip=True)
    python, into = tools / "bin" / "python", tmp_path / "dist"
    needed = PROJECT["optional-dependencies"]["release"]
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "-c", ROOT / "constraints.txt", *needed], check=True)
    into.mkdir()
    (into / "highwater_kafka-0.0.9-py3-none-any.whl").write_bytes(b"an earlier build")
    done = subprocess.run(
        [python, ROOT / "scripts" / "release.py", "--into", into],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    start = f"{PROJECT['name'].replace('-', '_')}-{PROJECT['version']}"
    bill, wheel, sdist = f"{start}.cdx.json", f"{start}-py3-none-any.whl", f"{start}.tar.gz"
    assert {path.name for path in into.iterdir()} == {bill, wheel, sdist}
    with zipfile.ZipFile(into / wheel) as opened:
        assert "highwater/model/kafka/state.py" in opened.namelist()
    told = json.loads((into / bill).read_text())
    assert told["metadata"]["component"]["name"] == PROJECT["name"]
    listed = {component["name"].lower().replace("_", "-") for component in told["components"]}
    assert listed == {name.lower().replace("_", "-") for name in needed_by_all()}
    assert str(tmp_path) not in (into / bill).read_text()
    assert sys.prefix not in (into / bill).read_text()
