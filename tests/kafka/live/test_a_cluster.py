"""A real cluster, which the project's own harness starts: what it tells is read as it is."""

import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient

from checker.kafka.affected.judge import Concern, answered
from checker.kafka.cluster.cluster import Cluster
from checker.kafka.cluster.news import News
from checker.kafka.cluster.processes import Processes
from checker.kafka.cluster.programs import programs
from checker.kafka.cluster.proxy import Proxy
from checker.kafka.live.admin import connected, read_cluster
from checker.kafka.live.dangers import judge
from checker.kafka.live.facts import facts_of_cluster
from checker.kafka.live.groups import groups_of
from checker.kafka.live.stored import as_json, read
from model.kafka.settings.eligible_replicas import ELR_FEATURE
from tests.support.tiers import nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clusters")]

SECONDS = 20.0
YES, MAYBE, NO = Concern.AFFECTED, Concern.UNKNOWN, Concern.UNAFFECTED


@pytest.fixture(params=[2, nightly("five brokers take a minute and 1.3 GiB", 5)])
def cluster(request):
    """Brokers of 4.3.1 with two directories each, in a rack each, and a controller."""
    news = News()
    with ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="highwater-")).resolve()
        processes = stack.enter_context(Processes(directory, False, news))
        proxy = Proxy(news, directory / "proxy.log")
        stack.callback(proxy.close)
        settings = {"broker.rack": "rack-{node}"}
        found = Cluster(programs("4.3.1"), processes, proxy, news, request.param, settings, 2)
        found.begin()
        yield found


def test_what_a_cluster_tells_is_read_as_it_is(cluster, tmp_path):
    address = cluster.address(0)
    client = KafkaAdminClient(bootstrap_servers=[address], request_timeout_ms=20_000)
    names = [f"t{n}" for n in range({2: 1, 5: 20}[len(cluster.brokers)])]
    client.create_topics({name: {"assignments": {0: [0, 1], 1: [1, 0]}} for name in names})
    client.wait_for_topics(names)
    client.close()
    cluster.shut_down(1)
    cluster.wait_until_down(1)

    def told():
        with connected([address], {}, SECONDS) as reader:
            found = read_cluster(reader, None, SECONDS)
        return found if all(p.isr == (0,) for _, p in found.partitions) else None

    found = cluster.news.wait(told, 60)
    assert sorted(names) == [topic.name for topic in found.topics]
    topic = found.topics[-1]
    first, second = topic.partitions
    assert (first.replicas, first.isr, first.elr, first.offline) == ((0, 1), (0,), (1,), (1,))
    assert (second.leader, second.elr) == (0, (1,))
    assert topic.settings["min.insync.replicas"].value == "2"
    assert topic.settings["min.insync.replicas"].source.startswith(("DYNAMIC_D", "STATIC_B"))
    assert (found.line, found.level, found.features[ELR_FEATURE]) == ("4.3", "4.3-IV0", 1)
    assert [(b.id, b.rack, b.fenced) for b in found.brokers] == [
        (n, f"rack-{n}", n == 1) for n in cluster.brokers
    ]
    assert [(each.error, Path(each.path)) for each in found.brokers[0].directories] == [
        ("", disk) for disk in cluster.log_dirs[0]
    ]
    assert [voter.id for voter in found.quorum.voters] == list(cluster.quorum.controllers)
    assert [each.words for each in found.unread] == [
        "log directories and settings of broker 1: fenced"
    ]
    assert [danger.rule.name for danger in judge(found).found] == ["single_controller"]
    assert [group.partitions for group in groups_of(found)] == [2 * len(names)]
    concerns = {r.numbers: r.concern for r in answered(facts_of_cluster(found)).rows}
    expected = {"0023": YES, "0005": YES, "0022": NO, "0001": NO, "0015": MAYBE, "0003": NO}
    assert {number: concerns[number] for number in expected} == expected
    (tmp_path / "s").write_text(as_json(found))
    assert read(tmp_path / "s") == found
