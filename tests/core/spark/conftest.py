"""One Spark session for all tests."""

import pytest


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    from checker.core.spark.session import start_session

    log = tmp_path_factory.mktemp("spark") / "spark.log"
    session = start_session("local[2]", log, {"spark.sql.warehouse.dir": str(log.parent)})
    yield session
    session.stop()
