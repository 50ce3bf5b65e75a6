"""`cases --write` makes anew what is generated: steps, pages, and the tables of releases."""

import shutil

from tests.commands.conftest import ROOT

CASE = "ladder/truncate_to_high_watermark-strong_isr"


def test_what_has_been_spoilt_is_written_as_it_was(highwater, tmp_path):
    folder, page = tmp_path / "cases" / "one", tmp_path / "cases" / "matrix" / "presets.md"
    shutil.copytree(ROOT / "counterexamples" / CASE, folder)
    stored = {path.name: path.read_text() for path in folder.iterdir()}
    spoilt = stored["case.toml"].replace('"leader_write(', '"leader_wrote(')
    assert spoilt != stored["case.toml"]
    (folder / "case.toml").write_text(spoilt)
    (folder / "README.md").write_text("")
    page.parent.mkdir()
    current = (ROOT / "counterexamples" / "matrix" / "presets.md").read_text()
    spoilt = current.replace("| `kafka-2.1` | `fetch.fenced", "| `kafka-2.1` | `fetch.unfenced")
    assert spoilt != current
    page.write_text(spoilt)

    ended = highwater("cases", tmp_path / "cases", "--write", "--json")
    assert ended.status == 0
    (row,) = ended.json["cases"]
    assert row["cross_check"]["claims"] >= 1
    assert row["cross_check"]["tried"] > row["cross_check"]["taken"] > 100
    assert {path.name: path.read_text() for path in folder.iterdir()} == stored
    assert page.read_text() == current
