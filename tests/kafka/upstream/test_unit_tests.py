"""A class of tests is cut to those of one finding, and to what they stand on."""

from __future__ import annotations

import pytest

from checker.kafka.upstream import unit_tests
from checker.kafka.upstream.unit_tests import LICENSE, sources_of, unit_files
from model.language.errors import UsageError

JAVA = """package org.apache.kafka.tide;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tides. */
public class TideTest {
    private static final int HIGH = 1, LOW = 0;
    private Map<String, List<Integer>> levels;

    private final Uuid unused = Uuid.randomUuid();

    @BeforeEach
    public void setUp() {
        levels = levels();
    }

    @Test
    public void testHigh() {
        assertEquals(HIGH, level("high"));
    }

    @Test
    public void testLow() {
        assertTrue(isLow());

        assertTrue(isLow());
    }

    /** Not `isLow`. */
    private int level(String name) {
        return levels.get(name).get(0);
    }

    private Map<String, List<Integer>> levels() { return Map.of(); }

    private boolean isLow() {
        return level("low") == LOW;
    }
}
"""
SCALA = """package kafka.tide

import kafka.tide.Levels.{high, low}
import org.junit.jupiter.api.Test

import scala.jdk.CollectionConverters._

/** Tides. */
class TideTest extends Sea with SeaCalls {
  private val (first, second) = (1, 2)

  @Test
  def testHigh(): Unit = {
    rises(first)

    rises(high)
  }

  @Test
  def testLow(): Unit =
    falls(low)

  private def rises(level: Int): Unit = level.asJava

  private def falls(level: Int): Unit = ()
}
"""


@pytest.fixture
def unit(tmp_path, monkeypatch):
    monkeypatch.setattr(unit_tests, "UNIT", tmp_path)
    return tmp_path


def cut(*wanted):
    return unit_files("TideTest", "4.3.1", list(wanted), "sea")


def test_the_other_tests_go_with_what_only_they_use(unit):
    (unit / "TideTest.java").write_text(JAVA)
    (file,) = cut("testHigh")
    assert file.path == "sea/src/test/java/org/apache/kafka/tide/TideTest.java"
    assert file.text.startswith(LICENSE + "package org.apache.kafka.tide;\n\nimport org.junit")
    for gone in ("testLow", "isLow() {", "assertTrue", "Uuid", "unused"):
        assert gone not in file.text, gone
    for kept in ("int HIGH = 1", "@BeforeEach\n", "setUp", "levels() {", "level(String name) {"):
        assert kept in file.text, kept
    assert "java.util.Map;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;" in (
        file.text
    )
    assert file.text.endswith("    }\n}\n") or file.text.endswith("}\n}\n")


def test_a_helper_that_helpers_use_stays(unit):
    (unit / "TideTest.java").write_text(JAVA)
    (file,) = cut("testLow")
    assert "isLow() {" in file.text and "level(String name) {" in file.text
    assert "testHigh" not in file.text and "assertEquals" not in file.text
    assert "assertTrue(isLow());\n\n        assertTrue(isLow());" in file.text


def test_scala_is_cut_in_the_same_way_and_the_file_for_the_release_goes_with_it(unit):
    (unit / "TideTest.scala").write_text(SCALA)
    for since in ("3.9", "4.2", "4.10"):
        (unit / f"SeaCalls-{since}.scala").write_text(f"package kafka.sea\n\ntrait C {{ {since} }}")
    file, calls = cut("testHigh")
    assert file.path == "sea/src/test/scala/unit/kafka/tide/TideTest.scala"
    assert "import kafka.tide.Levels.high\n" in file.text
    assert "falls" not in file.text and "testLow" not in file.text
    assert "CollectionConverters._" in file.text and "private val (first, second)" in file.text
    assert calls.path == "sea/src/test/scala/unit/kafka/sea/SeaCalls.scala"
    assert [s.stem for s in sources_of("TideTest", "4.3.1")] == ["TideTest", "SeaCalls-4.2"]
    assert [s.stem for s in sources_of("TideTest", "4.10.0")] == ["TideTest", "SeaCalls-4.10"]


def test_a_test_or_a_class_that_is_not_there_is_told(unit):
    (unit / "TideTest.java").write_text(JAVA)
    with pytest.raises(UsageError, match="docs/findings/unit has no testEbb"):
        cut("testHigh", "testEbb")
    with pytest.raises(UsageError, match=r"has no MoonTest: run this in a checkout"):
        sources_of("MoonTest", "4.3.1")
