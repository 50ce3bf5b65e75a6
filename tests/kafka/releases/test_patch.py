"""A fix goes to the one place that it was written for, or is refused."""

import re
import tomllib
import zipfile
from dataclasses import replace
from importlib.resources import files

import pytest

from checker.kafka.releases import jars, patch
from checker.kafka.releases.patch import Edit, MethodPatch
from model.kafka.protocol import KAFKA
from model.kafka_group.protocol import KAFKA_GROUP
from model.kafka_tiered.protocol import KAFKA_TIERED
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kraft.protocol import KRAFT
from model.language.declare.settings import describe
from model.language.errors import UsageError
from tests.support.tiers import RELEASES, first_and_nightly

PROTOCOLS = (KAFKA, KAFKA_GROUP, KAFKA_TIERED, KAFKA_TRANSACTIONS, KRAFT)

SCALA = """class Cache {
  private[cluster] def rises(seen: Tide): Boolean = {
    val high = mark(seen.level, old)
    note(high)
    if (high) {
      tell()
    }
    high
  }

  def tell(): Unit = {
    note(rises(last))
  }
}
"""
JAVA = """class Cache {
    Map<Integer, int[]> tides() {
        return level(now(), 3);
    }

    private static int level(
        int now,
        int most
    ) {
        return Math.min(now, most);
    }
}
"""


def fix(*edits, source=SCALA, file="a/Cache.scala", method="rises", names=None, looked_at=None):
    if looked_at is None:
        start, end = patch.method_span(source, file.rpartition(".")[2], method, "")
        looked_at = (patch.text_digest(source[start:end]),)
    return MethodPatch("kafka", file, method, looked_at, names or {}, edits)


def test_our_lines_are_what_takes_the_place_and_nothing_else_changes():
    edit = Edit(r"mark\([^)]*?, (?P<here>old)\)", "oldest")
    assert fix(edit).applied(SCALA, "9.9") == SCALA.replace(", old)", ", oldest)")


def test_an_empty_place_is_where_lines_are_put_in():
    edits = (
        Edit(r"(?P<here>)note\(", "look()\n    "),
        Edit(r"note\(high\)(?P<here>)", "\n    go()"),
    )
    told = fix(*edits).applied(SCALA, "9.9")
    assert told == SCALA.replace("    note(high)\n", "    look()\n    note(high)\n    go()\n")


def test_a_name_of_the_release_stands_where_its_pattern_is_asked_for():
    edit = Edit(r"(?P<here>)note\(high", "note({tide}) // {no} such\n    ")
    told = fix(edit, names={"tide": r"rises\((\w+):"}).applied(SCALA, "9.9")
    assert "\n    note(seen) // {no} such\n    note(high)\n" in told


@pytest.mark.parametrize("at, count", [("(?P<here>never)", 0), ("(?P<here>high)", 4)])
def test_a_place_that_is_not_there_once_is_refused(at, count):
    with pytest.raises(UsageError) as told:
        fix(Edit(at, "x")).applied(SCALA, "9.9")
    line = f"rises in a/Cache.scala of Kafka 9.9: {count} places match {at!r}, and it has to be one"
    assert str(told.value) == line


def test_a_place_in_another_method_is_none():
    with pytest.raises(UsageError, match="0 places match"):
        fix(Edit(r"(?P<here>last)", "x")).applied(SCALA, "9.9")


def test_a_name_that_is_not_there_once_is_refused():
    with pytest.raises(UsageError, match="2 places match"):
        fix(Edit("(?P<here>old)", "x"), names={"a": r"(seen)"}).applied(SCALA, "9.9")


def test_a_method_that_nobody_looked_at_is_refused_with_its_digest():
    known = fix(Edit("(?P<here>old)", "new"))
    changed = SCALA.replace("note(high)", "note(!high)")
    with pytest.raises(
        UsageError, match=r"^rises in a/Cache.scala of Kafka 9.9 is none that"
    ) as told:
        known.applied(changed, "9.9")
    digest = str(told.value).rpartition(" ")[2]
    again = fix(*known.edits, looked_at=(digest,))
    assert again.applied(changed, "9.9") == changed.replace("old", "new")


def test_white_space_alone_makes_no_other_method():
    known = fix(Edit("(?P<here>old)", "new"))
    wider = SCALA.replace("note(high)", "note(high)  ").replace("(high)\n", "(high)\n\n")
    assert known.applied(wider, "9.9") == wider.replace("old", "new")


@pytest.mark.parametrize("times", [0, 2])
def test_a_method_that_is_not_there_once_is_refused(times):
    known = fix(Edit("(?P<here>old)", "new"))
    start, end = patch.method_span(SCALA, "scala", "rises", "")
    method = SCALA[start : end + 1]
    with pytest.raises(UsageError, match=f"{times} places match"):
        known.applied(SCALA.replace(method, method * times), "9.9")


def test_two_edits_of_the_same_words_are_refused():
    edits = (Edit("(?P<here>high = mark)", "x"), Edit("(?P<here>mark.seen)", "y"))
    with pytest.raises(UsageError, match="two edits overlap"):
        fix(*edits).applied(SCALA, "9.9")


@pytest.mark.parametrize(
    "method, first, last", [("tides", "Map<", "3);"), ("level", "private", "most);")]
)
def test_a_java_method_is_its_declaration_and_no_call(method, first, last):
    start, end = patch.method_span(JAVA, "java", method, "")
    lines = JAVA[start:end].split("\n")
    assert lines[0].strip().startswith(first) and lines[-2].endswith(last) and lines[-1] == "    }"


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Sources that Maven would bring: those of one file."""
    monkeypatch.setenv("HIGHWATER_CACHE", str(tmp_path))

    def publish(version, text):
        directory = tmp_path / "jars" / f"kafka-{version}-sources"
        directory.mkdir(parents=True)
        with zipfile.ZipFile(directory / "a.jar", "w") as jar:
            jar.writestr("a/Cache.scala", text)

    return publish


def test_edits_of_two_methods_of_a_file_are_both_made(published, monkeypatch):
    published("9.9", SCALA)
    first = fix(Edit("(?P<here>old)", "new"))
    second = fix(Edit("(?P<here>last)", "next"), method="tell")
    monkeypatch.setattr(patch, "fixes", lambda: {"0000": patch.Fix("", (first, second))})
    changed = SCALA.replace("old", "new").replace("last", "next")
    assert patch.patched_sources("9.9", "0000") == {"a/Cache.scala": changed}


def test_an_edit_for_some_releases_is_made_in_those_alone(published, monkeypatch):
    edits = {"new": {"since": "9.9"}, "mended": {"before": "9.9"}}
    bounded = tuple(
        replace(fix(Edit("(?P<here>old)", lines)), **bounds) for lines, bounds in edits.items()
    )
    monkeypatch.setattr(patch, "fixes", lambda: {"0000": patch.Fix("", bounded)})
    for version, lines in (("9.8.1", "mended"), ("9.9", "new"), ("9.10", "new")):
        published(version, SCALA)
        changed = SCALA.replace("old", lines)
        assert patch.patched_sources(version, "0000") == {"a/Cache.scala": changed}


def test_an_edit_that_also_fits_where_earlier_releases_have_the_method_is_laid_there(
    published, monkeypatch
):
    known = fix()
    text = (
        '[[methods]]\nmodule = "kafka"\nfile = "b/Cache.scala"\nmethod = "rises"\nsince = "9.9"\n'
        f'looked_at = ["{known.looked_at[0]}"]\n'
        'earlier = { module = "kafka", file = "a/Cache.scala" }\n'
        '[[methods.edits]]\nat = "(?P<here>old)"\nlines = "new"\n'
    )
    newer, older = patch.read_fix(text).methods
    assert (newer.file, newer.since, newer.before) == ("b/Cache.scala", "9.9", "")
    assert (older.file, older.since, older.before) == ("a/Cache.scala", "", "9.9")
    published("9.8", SCALA)
    monkeypatch.setattr(patch, "fixes", lambda: {"0000": patch.read_fix(text)})
    changed = SCALA.replace("old", "new")
    assert patch.patched_sources("9.8", "0000") == {"a/Cache.scala": changed}


def test_a_file_that_the_release_does_not_have_is_named(published, monkeypatch):
    published("9.9", SCALA)
    other = MethodPatch("kafka", "b/Cache.scala", "rises", (), {}, ())
    monkeypatch.setattr(patch, "fixes", lambda: {"0000": patch.Fix("", (other,))})
    with pytest.raises(
        UsageError, match=r"^Kafka 9\.9 has no b/Cache\.scala, which the fix changes$"
    ):
        patch.patched_sources("9.9", "0000")


def test_an_unknown_finding_is_refused_with_those_that_have_a_fix():
    with pytest.raises(UsageError, match=r"no fix is called '0100'.*0001, 0002"):
        patch.patched_sources(jars.newest(), "0100")


def test_a_fix_is_found_by_its_finding_its_name_or_both_and_never_by_guess():
    by_number = patch.fix_named("0018")
    assert by_number is patch.fix_named("elr-of-an-unregistered-broker")
    assert by_number is patch.fix_named("0018-elr-of-an-unregistered-broker")
    with pytest.raises(UsageError, match=r"finding 0008 has 2 fixes: valid are 0008-fetch-noted"):
        patch.fix_named("0008")


def test_a_release_without_published_sources_is_refused_with_one_that_has_them():
    with pytest.raises(UsageError, match=r"^no sources of Kafka 4\.4\.0 .* newest are of 4\.3\.1"):
        patch.patched_sources("4.4.0", "0001")


def test_every_fix_can_be_read_and_says_what_it_does():
    texts = {
        path.name: path for path in files("checker.kafka.releases").joinpath("patches").iterdir()
    }
    assert {name.removesuffix(".toml") for name in texts} == set(patch.fixes())
    for fix in (fix for fix in patch.fixes().values() if fix.setting):
        protocol = next(p for p in PROTOCOLS if fix.setting in describe(p.settings))
        protocol.model({}, {fix.setting: fix.value})
    for name, text in texts.items():
        told = text.read_text("utf-8")
        assert told.startswith("# ") and re.fullmatch(r"\d{4}(-[a-z]+)+\.toml", name)
        for method in tomllib.loads(told)["methods"]:
            assert all(re.fullmatch(r"[0-9a-f]{16}", digest) for digest in method["looked_at"])
            for edit in method["edits"]:
                assert re.compile(edit["at"]).groupindex == {"here": 1}


LOOKED_AT = first_and_nightly(RELEASES, "4.3.1", "4.2.1", "4.1.1", "4.1.0", "4.0.1", "3.9.1")


@pytest.mark.kafka
@pytest.mark.parametrize("version", LOOKED_AT)
@pytest.mark.parametrize("finding", ["0001", "0002"])
def test_the_fixes_of_a_partition_fit_every_release_since_3_9(version, finding):
    ((name, text),) = patch.patched_sources(version, finding).items()
    assert name == "kafka/cluster/Partition.scala"
    added = {"0001": "isNewLeader || ", "0002": "pendingChange"}
    assert {key: text.count(word) for key, word in added.items()} == {
        "0001": int(finding == "0001"),
        "0002": 2 * int(finding == "0002"),
    }
