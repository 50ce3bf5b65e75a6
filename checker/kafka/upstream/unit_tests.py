"""A finding's unit tests as files of Kafka's tree: its own tests, and of the rest what they use.

A class in `docs/findings/unit` has the tests of several findings, as they share what they stand on.
Its parts are told apart by blank lines and indentation, as in Kafka's style.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from checker.core.files import COUNTEREXAMPLES
from checker.kafka.releases.jars import at_least
from model.language.errors import UsageError

UNIT = COUNTEREXAMPLES.parent / "docs" / "findings" / "unit"

LICENSE = """\
/*
 * Licensed to the Apache Software Foundation (ASF) under one or more
 * contributor license agreements. See the NOTICE file distributed with
 * this work for additional information regarding copyright ownership.
 * The ASF licenses this file to You under the Apache License, Version 2.0
 * (the "License"); you may not use this file except in compliance with
 * the License. You may obtain a copy of the License at
 *
 *    http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
"""
"""What every source file of Kafka begins with."""

_INDENT = {".java": 4, ".scala": 2}
_PLACE = {".java": "src/test/java", ".scala": "src/test/scala/unit"}
_KEPT = re.compile(r"@(BeforeEach|AfterEach)\b")
_GROUPS = ("kafka.", "org.apache.kafka.", "com.", "net.", "org.", "java.", "javax.", "")


@dataclass(frozen=True)
class UnitFile:
    """A file of tests: where it stands in Kafka's tree, and its text."""

    path: str
    text: str


def sources_of(name: str, version: str) -> list[Path]:
    """The file of that class, then those for this release of what it names.

    Such a file ends with the first release that it is for: `PartitionCalls-4.2.scala`.
    """
    found = [path for suffix in _INDENT if (path := UNIT / f"{name}{suffix}").is_file()]
    if not found:
        raise UsageError(f"docs/findings/unit has no {name}: run this in a checkout of Highwater")
    text = found[0].read_text(encoding="utf-8")
    helpers: dict[str, list[str]] = {}
    for path in UNIT.glob(f"*-*{found[0].suffix}"):
        helper, _, since = path.stem.partition("-")
        if re.search(rf"\b{helper}\b", text) and at_least(version, since):
            helpers.setdefault(helper, []).append(since)
    for helper, firsts in sorted(helpers.items()):
        found.append(UNIT / f"{helper}-{max(firsts, key=_numbers)}{found[0].suffix}")
    return found


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def package_of(source: Path) -> str:
    """The package of a source file."""
    match = re.search(r"^package ([\w.]+)", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert match is not None
    return match[1]


def unit_files(name: str, version: str, wanted: Iterable[str], folder: str) -> list[UnitFile]:
    """The class with the wanted tests alone, and what it stands on.

    `folder` is that of the module in Kafka's tree, such as `storage`.
    """
    first, *others = sources_of(name, version)
    files = [(first, _with_tests(first.read_text("utf-8"), first.suffix, frozenset(wanted)))]
    files += [(path, path.read_text("utf-8")) for path in others]
    return [
        UnitFile(
            "/".join((
                folder, _PLACE[path.suffix], package_of(path).replace(".", "/"),
                path.stem.partition("-")[0] + path.suffix,
            )),
            LICENSE + _with_used_imports(text, path.suffix),
        )
        for path, text in files
    ]  # fmt: skip


def _with_tests(text: str, suffix: str, wanted: frozenset[str]) -> str:
    """The source without the other tests, and without what only those use.

    Raises `UsageError` if one of the wanted tests is not there.
    """
    indent = " " * _INDENT[suffix]
    start = re.search(r"^(public |final |private )*class .*\{\n", text, re.MULTILINE)
    assert start is not None
    head, body = text[: start.end()], text[start.end() : text.rindex("}")].strip("\n")
    parts = re.split(rf"\n\n(?={indent}\S)", body)
    names = [set(_declared(part, indent, suffix)) for part in parts]
    if missing := wanted - set().union(*names):
        raise UsageError(f"docs/findings/unit has no {', '.join(sorted(missing))}")
    kept = {
        place for place, part in enumerate(parts)
        if (names[place] & wanted if "@Test" in part else _KEPT.search(part))
    }  # fmt: skip
    used = _words(head).union(*(_words(parts[place]) for place in kept))
    while more := {
        place for place, part in enumerate(parts)
        if place not in kept and "@Test" not in part and names[place] & used
    }:  # fmt: skip
        kept |= more
        used = used.union(*(_words(parts[place]) for place in more))
    return head + "\n\n".join(parts[place] for place in sorted(kept)) + "\n}\n"


def _declared(part: str, indent: str, suffix: str) -> Iterator[str]:
    """The names that a part of a class declares."""
    for line in re.findall(rf"^{indent}(\S.*)$", _code(part), re.MULTILINE):
        if suffix == ".scala":
            for names in re.findall(r"\b(?:def|val|var|object|class) (\w+|\([^)]*\))", line):
                yield from re.findall(r"\w+", names)
        elif match := re.search(r"(?:^|\s)(\w+)(?= ?[=;(])", re.sub(r"@\w+(\(.*?\))? *", "", line)):
            yield from re.findall(r"(\w+)(?= ?[=;,(])", line) if ";" in line else [match[1]]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", _code(text)))


def _code(text: str) -> str:
    """The text without comments."""
    return re.sub(r"/\*.*?\*/|(?<![:\"])//[^\n]*", "", text, flags=re.DOTALL)


def _with_used_imports(text: str, suffix: str) -> str:
    """The source with the imports that it uses; of Java in the groups that Kafka's build wants."""
    package, _, rest = text.partition("\n\n")
    lines = [line for line in rest.splitlines() if line.startswith("import ")]
    code = "\n".join(line for line in rest.splitlines() if not line.startswith("import "))
    used = _words(code)
    if suffix == ".scala":
        blocks = [_used(block.splitlines(), used) for block in _blocks(rest)]
    else:
        kept = _used(lines, used)
        static = sorted(line for line in kept if line.startswith("import static "))
        blocks = [*_grouped(line for line in kept if line not in static), static]
    imports = "\n\n".join("\n".join(block) for block in blocks if block)
    return f"{package}\n\n{imports}\n\n{code.strip(chr(10))}\n"


def _blocks(rest: str) -> list[str]:
    return [block for block in rest.split("\n\n") if block.startswith("import ")]


def _used(lines: Iterable[str], used: set[str]) -> list[str]:
    return [now for line in lines if (now := _import_of(line, used))]


def _import_of(line: str, used: set[str]) -> str:
    """The import with the names that are used; empty if none is."""
    if match := re.fullmatch(r"(import .*\.)\{(.*)\}", line):
        names = [name for name in match[2].split(", ") if name in used]
        one = names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
        return match[1] + one if names else ""
    last = line.rstrip(";").rpartition(".")[2]
    return line if last == "_" or last in used else ""


def _grouped(lines: Iterable[str]) -> list[list[str]]:
    """By the first of the groups that an import is of."""
    blocks: list[list[str]] = [[] for _ in _GROUPS]
    for line in sorted(lines, key=lambda line: line.rstrip(";")):
        name = line.removeprefix("import ")
        blocks[next(i for i, group in enumerate(_GROUPS) if name.startswith(group))].append(line)
    return blocks
