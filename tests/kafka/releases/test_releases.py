"""What is brought or compiled once: whole or not at all, and by names that are checked."""

import threading
import tomllib
from pathlib import Path

import pytest

from checker.kafka.releases import cache, compile, jars, jdk
from model.language.errors import UsageError

KNOWN = "4.1.0"


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HIGHWATER_CACHE", str(tmp_path))
    return tmp_path


def test_what_is_kept_is_made_once(own_cache):
    made = []

    def make(directory):
        made.append(directory)
        (directory / "file").write_text("whole")

    first = cache.kept("a/b", make)
    assert cache.kept("a/b", make) == first == own_cache / "a" / "b"
    assert len(made) == 1
    assert [path.name for path in (own_cache / "a").iterdir()] == ["b"]
    assert (first / "file").read_text() == "whole"


def test_what_could_not_be_made_is_not_kept(own_cache):
    def fail(directory):
        (directory / "half").write_text("")
        raise UsageError("no")

    with pytest.raises(UsageError):
        cache.kept("a/b", fail)
    assert list((own_cache / "a").iterdir()) == []


def test_two_that_make_the_same_at_once_both_get_a_whole_one(own_cache):
    together = threading.Barrier(2, timeout=10)

    def make(directory):
        together.wait()
        (directory / "file").write_text("whole")

    threads = [threading.Thread(target=cache.kept, args=("a", make)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in own_cache.iterdir()] == ["a"]
    assert (own_cache / "a" / "file").read_text() == "whole"


def test_releases_are_pinned_in_order():
    numbers = [tuple(map(int, version.split("."))) for version in jars.releases()]
    assert numbers == sorted(set(numbers))
    assert jars.newest() == jars.releases()[-1]
    assert jars.newest(with_sources=True) == "4.3.1"
    assert jars.at_least("3.10.0", "3.9.2")
    assert not jars.at_least("3.9.2", "3.10.0")


def test_an_unknown_release_is_refused_with_the_nearest(own_cache):
    with pytest.raises(UsageError, match=r"'4\.1\.9'.*did you mean '4\.1\.[0-9]'.*3\.5\.0"):
        jars.release("4.1.9")
    assert list(own_cache.iterdir()) == []


@pytest.mark.parametrize("tool, package", [("java", "jdk"), ("javac", "jdk"), ("maven", "maven")])
def test_a_missing_tool_is_named_with_what_to_install(monkeypatch, tmp_path, tool, package):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    jdk._of_the_jdk.cache_clear()
    with pytest.raises(UsageError, match=rf"apt-get install .*{package}"):
        getattr(jdk, tool)()


def test_an_old_java_is_refused_with_its_version(monkeypatch, tmp_path):
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    jdk._of_the_jdk.cache_clear()
    with pytest.raises(UsageError, match=r"17 or newer, and JAVA_HOME=.* has 8: install"):
        jdk.java()


def test_a_tool_that_fails_is_told_in_one_line():
    with pytest.raises(UsageError) as told:
        jdk.run_tool(["sh", "-c", "echo first; echo an ERROR here; exit 3"], "the tool")
    assert str(told.value) == "the tool: an ERROR here (exit status 3)"


@pytest.mark.parametrize("alone", [False, True])
def test_a_jar_alone_is_brought_though_what_it_needs_cannot_be(own_cache, monkeypatch, alone):
    asked = []

    def bring(command, doing):
        pom = Path(command[command.index("--file") + 1]).read_text()
        asked.append(("<artifactId>*</artifactId>" in pom, "-DincludeScope=runtime" in command))

    monkeypatch.setattr(jars, "maven", lambda: "mvn")
    monkeypatch.setattr(jars, "run_tool", bring)
    jars.artifacts("tools", ["group:tools:1"], alone=alone)
    assert asked == [(alone, not alone)]


def test_other_sources_or_another_release_are_compiled_anew(tmp_path):
    source = tmp_path / "A.java"
    release = jars.Release(KNOWN, tmp_path)

    def digest(text, *, release=release, also=""):
        source.write_text(text)
        return compile._digest("java", release, [source], also)

    kept = digest("class A {}")
    assert kept == digest("class A {}")
    others = {
        digest("class A { }"),
        digest("class A {}", release=jars.Release("4.1.1", tmp_path)),
        digest("class A {}", also="patch"),
    }
    assert kept not in others and len(others) == 3


def test_versions_are_pinned_in_one_file_alone():
    root = Path(jars.__file__).parent
    pinned = tomllib.loads((root / "versions.toml").read_text())
    assert pinned["maven"]["dependency_plugin"]
    assert [path for path in root.rglob("*.py") if KNOWN in path.read_text()] == []


def test_sources_of_both_languages_are_compiled_into_one_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HIGHWATER_CACHE", str(tmp_path / "cache"))
    release = jars.Release("9.9", tmp_path)
    for suffix in ("java", "scala"):
        (tmp_path / suffix / "a").mkdir(parents=True)
        (tmp_path / suffix / "a" / f"{suffix}.class").touch()
        (tmp_path / f"Here.{suffix}").touch()
        one = tmp_path / suffix
        monkeypatch.setattr(compile, f"compile_{suffix}", lambda *_, also, one=one: one)
    sources = [tmp_path / "Here.scala", tmp_path / "Here.java"]
    made = compile.compile_any(release, sources)
    assert {path.name for path in made.rglob("*.class")} == {"java.class", "scala.class"}
    assert compile.compile_any(release, sources[:1]) == tmp_path / "scala"


@pytest.mark.kafka
def test_java_and_scala_are_compiled_against_a_release(tmp_path):
    release = jars.release(KNOWN)
    java, scala = tmp_path / "Here.java", tmp_path / "There.scala"
    java.write_text("class Here { kafka.cluster.Partition partition; }")
    scala.write_text("class There { var partition: kafka.cluster.Partition = null }")
    assert (compile.compile_java(release, [java]) / "Here.class").is_file()
    assert (compile.compile_scala(release, [scala]) / "There.class").is_file()
    java.write_text("class Here { Nothing partition; }")
    with pytest.raises(UsageError, match=r"javac against Kafka 4\.1\.0: .*Here\.java:1: error"):
        compile.compile_java(release, [java])
