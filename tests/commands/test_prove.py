"""`prove` and `infer` say what was proved, with the exit status for it."""

import pytest
from rich.console import Console

from checker.commands.proof_text import result_text
from checker.core.exits import Exit
from checker.core.proofs.proof import Obligation, Proof
from model.protocols import protocol_named

SMALL = ("--log-size", 2, "--max-records", 2, "--max-leader-epoch", 1)
TINY = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)


def test_a_proof_is_reported_with_all_its_obligations(highwater):
    ended = highwater("prove", "kip320", *SMALL, "--property", "strong_isr", "--json")

    assert ended.status == Exit.OK
    data = ended.json
    assert data["verdict"] == "proved"
    assert data["properties"] == ["strong_isr"]
    assert {o["outcome"] for o in data["obligations"]} == {"proved"}
    assert {"initially", "become_follower"} <= {o["action"] for o in data["obligations"]}
    assert data["counterexample"] is None
    assert not any(o["never_enabled"] for o in data["obligations"])


def test_the_text_ends_with_the_verdict(highwater):
    ended = highwater("prove", "kip320", *TINY, "--property", "strong_isr", "--quiet")

    assert ended.status == Exit.OK
    assert ended.out.rstrip().split("\n\n")[-1].startswith("proved: ")
    assert ended.err == ""


def test_a_cut_off_is_told_with_what_it_holds_from(highwater):
    asked = ("prove", "async_isr", "--max-offset", 1, "--max-version", 1, "--cutoff", "replicas")
    text, data = highwater(*asked, "--quiet"), highwater(*asked, "--json").json

    assert text.status == Exit.OK
    told = data["cut_off"]
    assert told["of"] == "replicas"
    assert "replicas" not in data["bounds"]
    assert told["holds_from"] == 3
    assert told["members"] == max(size for *_, size in told["sizes"])
    assert f"cut-off: {told['members']} replicas." in text.out
    assert "for any number of replicas from 3 on" in " ".join(text.out.split())


def test_what_has_no_cut_off_is_told_with_where_it_falls(highwater):
    asked = ("prove", "async_isr", "--set", "maximal_isr=false", "--cutoff", "replicas")
    ended = highwater(*asked, "--quiet")

    assert ended.status == Exit.NOT_INDUCTIVE
    assert "breaks valid_high_watermark" in " ".join(ended.out.split())


def test_a_proof_is_drawn_and_what_is_none_is_not(highwater, tmp_path):
    asked = ("--property", "strong_isr", "--quiet", "--picture")
    drawn, none = tmp_path / "new" / "drawn.svg", tmp_path / "none.svg"

    ended = highwater("prove", "kip320", *SMALL, *asked, drawn)
    assert (ended.status, ended.err) == (Exit.OK, "")
    assert 'data-name="committed"' in drawn.read_text()

    ended = highwater("prove", "kip279", *SMALL, *asked, none)
    assert ended.status == Exit.NOT_INDUCTIVE
    assert ended.err == "no picture: there is no proof to draw\n"
    assert not none.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("prove", "kip279", "--property", "strong_isr"),
        pytest.param(("prove", "kafka", "--preset", "kafka-4.1"), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_no_line_is_wider_than_a_terminal(highwater, arguments):
    ended = highwater(*arguments)

    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.nightly("three inferences; the tests of inference hold what is found")
def test_inference_prints_what_is_needed_and_on_demand_all(highwater):
    arguments = ("infer", "kip320", *TINY[:6], "--max-leader-epoch", 0, "--property", "strong_isr")

    data = highwater(*arguments, "--json").json
    short, full = highwater(*arguments), highwater(*arguments, "--survivors")

    assert short.status == full.status == Exit.OK
    assert data["follows"] == {"strong_isr": True}
    assert set(data["needed"]) < set(data["survivors"])
    assert words(full.out, "inductive together:") == " ".join(data["survivors"]).split()
    # Which of them are enough is the solver's choice: it may differ between runs.
    enough = words(short.out, "are enough, and inductive by themselves:")
    assert 0 < len(enough) < len(words(full.out, "inductive together:")) / 4
    assert "inductive together:" not in short.out


def words(text, title):
    """The words of the clauses below a title, which may have been folded."""
    return text.split(f"{title}\n")[1].split("\n\n")[0].split()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("prove", "kip320", "--lemma", "nonsense"), "nonsense"),
        (("prove", "kip320", "--unbounded", "--bounded", "3"), "choose one"),
        (("prove", "kip320", "--cutoff", "replicas", "--unbounded"), "choose one"),
        (("prove", "kip320", "--cutoff", "log-size"), "log_size is no number of members"),
        (("prove", "kip320", "--property", "a_record_commits"), "sometimes"),
        (("prove", "kip320", "--timeout", "soon"), "soon"),
        (("infer", "kafka", "--property", "epochs_grow"), "epochs_grow is about steps"),
    ],
)
def test_wrong_usage_is_one_line(highwater, arguments, words):
    ended = highwater(*arguments)

    assert ended.status == Exit.USAGE
    assert words in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.nightly("a third of a minute for words that a cheaper test has in part")
def test_a_proof_for_all_sizes_says_what_stays_off_and_what_was_set(highwater):
    settings = ("--set", "broker.epoch.checked=false")
    arguments = ("prove", "kafka", "--unbounded", "--property", "one_leader_per_epoch", *settings)

    text, data = highwater(*arguments).out, highwater(*arguments, "--json").json

    head = " ".join(text.split("\n\n")[0].split())
    assert "--power-losses" in head and "broker.epoch.checked=false" in head
    assert "replicas" not in head and "every value of the other bounds" in head
    assert data["bounds"]["power_losses"] == 0 and "replicas" not in data["bounds"]


def test_a_proof_for_all_sizes_names_the_options_of_what_is_off_and_says_how_to_see_a_step():
    model = protocol_named("kafka").model({"crashes": 1})
    obligations = [Obligation("broker_crash", "isr_has_it")]
    for unbounded in (True, False):
        proof = Proof(model, (), unbounded=unbounded, obligations=obligations)
        text = " ".join(result_text(proof, None, None, Console(width=100)).split())
        off = text.partition("what they count never happens: ")[2].partition(" properties")[0]
        assert ("--power-losses" in off.split(", ")) is unbounded
        assert "--crashes" not in off.split(", ") and "--replicas" not in off
        assert ("run it without --unbounded" in text) is unbounded


def test_a_bounded_check_that_looked_at_nothing_says_so(highwater):
    ended = highwater("prove", "kip320", "--bounded", 2, "--timeout", 0)

    assert ended.status == Exit.LIMIT
    assert "no run" in ended.out and "-1" not in ended.out


def test_two_solvers_are_told_and_questions_go_into_an_empty_directory(highwater, tmp_path):
    sizes = ("--replicas", 2, "--max-offset", 1, "--max-version", 1, "--no-cross-check")
    asked = ("prove", "async_isr", *sizes, "--solver", "both", "--smtlib", tmp_path)
    answer = highwater(*asked, "--json").json
    assert (answer["verdict"], answer["solver"]) == ("proved", "both")
    assert answer["questions_written"] == len(list(tmp_path.iterdir()))
    assert set(answer["solver_seconds"]) == {"z3", "cvc5"}

    again = highwater(*asked)
    assert again.status == Exit.USAGE
    assert "has questions of another proof: choose a new directory" in again.err


def test_certificates_are_counted_and_go_into_an_empty_directory(highwater, tmp_path):
    sizes = ("--replicas", 2, "--max-offset", 1, "--max-version", 1, "--no-cross-check")
    asked = ("prove", "async_isr", *sizes, "--certificate", tmp_path)
    answer = highwater(*asked, "--json").json
    assert answer["verdict"] == "proved"
    assert answer["certificates"] == len(list(tmp_path.glob("*.drup"))) > 0
    assert "certificates are written and checked" in " ".join(
        highwater(*asked[:-1], tmp_path / "new").out.split()
    )

    again = highwater(*asked)
    assert again.status == Exit.USAGE
    assert "has certificates of another proof: choose a new directory" in again.err
