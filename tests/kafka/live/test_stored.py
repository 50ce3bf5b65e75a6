"""What is saved is read back; what was cut or edited is refused; names can be left out."""

import json
from dataclasses import replace

import pytest

from checker.kafka.live.anonymous import anonymous
from checker.kafka.live.snapshot import Setting, Unread
from checker.kafka.live.stored import as_json, is_snapshot, read
from model.language.errors import UsageError
from tests.support.told import broker, partition, told, topic

CLUSTER = told(
    topic("orders", partition(isr=(1,), leader=None, elr=(0,))),
    topic("payments", partition()),
    brokers=(broker(0, settings={"broker.rack": Setting("rack-0", "X")}), broker(1, rack=None)),
    quorum=None,
    unread=(Unread("the quorum", "no permission"),),
)


def test_what_is_saved_is_read_back(tmp_path):
    (tmp_path / "s").write_text(as_json(CLUSTER))
    assert is_snapshot(tmp_path / "s")
    assert read(tmp_path / "s") == CLUSTER
    (tmp_path / "other").write_text("process.roles=broker\n")
    assert not is_snapshot(tmp_path / "other") and not is_snapshot(tmp_path / "none")


@pytest.mark.parametrize(
    "edit, words",
    [
        (lambda text: text[:500], "is no whole snapshot: "),
        (lambda text: text.replace('"highwater_snapshot": 1', '"highwater_snapshot": 2'), "valid"),
        (lambda text: text.replace('"isr"', '"irs"'), "isr is missing in topics[0].partitions[0]"),
        (
            lambda text: text.replace('"port": 9092', '"port": "a"'),
            "brokers[0].port is 'a', and no",
        ),
        (lambda text: text.replace('"quorum": null', '"quorum": 3'), "quorum is 3, and no dict"),
    ],
)
def test_what_was_cut_or_edited_is_refused_in_one_line(tmp_path, edit, words):
    (tmp_path / "s").write_text(edit(as_json(CLUSTER)))
    with pytest.raises(UsageError) as refused:
        read(tmp_path / "s")
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_without_names_none_is_left_and_the_rest_is_the_same():
    text = as_json(anonymous(CLUSTER))
    names = ("orders", "payments", "host-0", "rack-0", "/disk", "an-id")
    assert [name for name in names if name in text] == []
    found = anonymous(CLUSTER)
    assert [t.partitions for t in found.topics] == [t.partitions for t in CLUSTER.topics]
    assert found.brokers[0].settings["broker.rack"].value == found.brokers[0].rack
    assert replace(found, topics=(), brokers=(), cluster_id="") == replace(
        CLUSTER, topics=(), brokers=(), cluster_id=""
    )
    assert json.loads(text)["brokers"][1]["rack"] is None
