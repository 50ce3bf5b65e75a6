"""A store in an object store: nothing is lost with a run, and what is wrong is said in one line."""

import json
import subprocess
import time
from unittest import mock

import pytest

from checker.core.search.explore import Limits
from checker.core.stores.query import query_duckdb
from checker.core.stores.ready_queries import ready_query
from checker.core.stores.store import MARKER, Store
from tests.support.object_store import KEY, object_store
from tests.support.processes import highwater_command
from tests.support.stores import distributed, model_named, plain

pytestmark = [pytest.mark.slow, pytest.mark.spark]

DEPTH = 15
LOCAL, SPARK = (), ("--engine", "spark", "--master", "local[2]", "--partitions", "3")


@pytest.fixture(scope="module")
def objects(tmp_path_factory, session):
    workers = mock.patch.dict(session.sparkContext.environment, KEY)
    with object_store(tmp_path_factory.mktemp("objects") / "log") as found, workers:
        yield found


def _begun_until(objects, name, depth, *arguments):
    """A search into the object store, as the level of that depth gets whole."""
    asked = ("explore", "kip320", *arguments, "--store", objects.uri(name), "--quiet")
    process = subprocess.Popen(
        highwater_command(*asked), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not objects.has(f"{name}/levels/level={depth}/{MARKER}"):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    return process


def _failed(*arguments):
    """What a command says that must fail for what it was given: one line."""
    done = subprocess.run(
        highwater_command(*arguments), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr


@pytest.mark.parametrize(("name", "engine", "killed"), [("local", LOCAL, 4), ("spark", SPARK, 11)])
def test_a_search_that_is_killed_goes_on(objects, session, name, engine, killed):
    """The one that was killed by either engine goes on with Spark, and ends as one whole does."""
    process = _begun_until(objects, name, killed, "--depth", str(DEPTH), *engine)
    process.kill()
    process.communicate()
    model = model_named("kip320")
    place = objects.uri(name)
    assert killed < len(Store.open(place).levels) <= DEPTH, "it was killed too late"
    expected = plain(model, limits=Limits(depth=DEPTH))
    found = distributed(place, model, session, 3, limits=Limits(depth=DEPTH), hand_over=20_000)
    assert found == expected
    store = Store.open(place)
    assert not store.unfinished
    known = {f"states/{name}/{store.place(*each)}" for each in store.files()}
    assert known == {path for path in objects.names(name) if path.endswith(".parquet")}
    answer = query_duckdb(store, model, ready_query("levels", []), 100)
    assert answer.rows == list(enumerate(expected["levels"]))
    stuck = "SELECT count(*) FROM states WHERE number < 0 OR level > 15"
    assert query_duckdb(store, model, stuck, 1).rows == [(0,)]


def test_the_local_search_goes_on_too_and_its_store_is_asked(objects):
    process = _begun_until(objects, "twice", 5, "--depth", "9")
    process.kill()
    process.communicate()
    asked = ("kip320", "--depth", "9", "--store", objects.uri("twice"), "--resume", "--json")
    done = subprocess.run(
        highwater_command("explore", *asked, "--quiet"), capture_output=True, check=False
    )
    expected = plain(model_named("kip320"), limits=Limits(depth=9))["levels"]
    assert json.loads(done.stdout)["levels"] == expected
    query = highwater_command("query", objects.uri("twice"), "--ready", "levels", "--json")
    told = subprocess.run(query, capture_output=True, check=True)
    assert [row["states"] for row in json.loads(told.stdout)["rows"]] == expected


def test_a_bucket_that_is_not_there(objects):
    told = _failed("explore", "kip320", "--store", objects.uri("a", bucket="nowhere"), "--quiet")
    assert told.startswith("error: cannot make the directory s3://")
    assert "Bucket 'nowhere' not found" in told
    assert told.count("\n") == 1


def test_a_server_that_goes(tmp_path):
    """In the middle of a search, and before one."""
    with object_store(tmp_path / "log") as objects:
        process = _begun_until(objects, "a", 5)
        objects.process.kill()
        _, told = process.communicate()
        assert process.returncode == 2
        assert told.startswith("error: cannot ")
        assert "NETWORK_CONNECTION" in told and told.count("\n") == 1
        again = _failed("explore", "kip320", "--store", objects.uri("a"), "--resume", "--quiet")
        assert "NETWORK_CONNECTION" in again and again.count("\n") == 1
