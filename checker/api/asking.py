"""Questions from a script or a notebook: `explore`, `simulate`, `prove`, `graph`, `explain`, `run`.

The commands ask the same engines the same way; these functions take values where commands take
options, and return an `Answer`, which shows itself, a graph, or a trace: see `docs/api.md`. An
engine is imported when it is asked for: in a browser's Python there is neither NumPy nor LLVM.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.api.question import Question, asks
from checker.core.amounts import counted
from checker.core.search.allowance import Allowance
from checker.core.search.limits import Limits, Progress
from checker.core.search.question import Options
from checker.core.traces.itf_values import state_of
from checker.core.traces.trace import Trace, TraceVerdict, build_trace
from checker.distribution import require
from model.language.errors import UsageError, unknown_name
from model.language.naming import instance_words
from model.language.protocol import Model, Protocol
from properties import Property, Sense, lemmas_of

if TYPE_CHECKING:
    import networkx as nx

    from checker.core.graphs.losses import Losses
    from checker.core.verdict import Exploration
    from checker.kafka.guarantees.answer import Answer as OperatorsAnswer
    from checker.kafka.guarantees.quorum import QuorumAnswer
    from checker.lab.explanations.explanation import Explanation

_ENGINES = ("local", "reference")
_CONTENT = ("exhausted", "bounded", "sampled", "proved")


@dataclass(frozen=True)
class Answer:
    """What was found out about a model.

    `verdict` is one of those in `docs/architecture.md`, such as `violated` or `exhausted`. `traces`
    show the violations, each replayed on the reference engine. `result` is what the engine found in
    full. True where nothing was found and the verdict says so much, as in
    `assert highwater.explore("kip320")`: `unknown` and `not_inductive` are false, as `violated` is.
    """

    model: Model
    verdict: str
    traces: tuple[Trace, ...]
    result: Any

    def __bool__(self) -> bool:
        return not self.traces and self.verdict in _CONTENT

    @property
    def summary(self) -> str:
        """The answer in one line."""
        name = self.model.protocol.name
        if self.traces:
            found = ((t.property or "deadlock", counted(t.depth, "step")) for t in self.traces)
            told = ", ".join(f"{what} after {steps}" for what, steps in found)
            return f"{name}: {self.verdict}: {told}"
        states = getattr(self.result, "distinct_states", None)
        known = f", {counted(states, 'state')}" if states is not None else ""
        return f"{name}: {self.verdict}{known}{self._scope}"

    @property
    def _scope(self) -> str:
        """For which sizes a proof holds, and which bounds it keeps at 0."""
        if self.verdict != "proved":
            return ""
        if not self.result.unbounded:
            return " within bounds on sizes"
        off = ", ".join(name.replace("_", " ") for name in self.result.bounds)
        return " for all sizes" + (f", with no {off}" if off else "")

    def __str__(self) -> str:
        from checker.telling.report.text import render_text

        return "\n\n".join([*(render_text(trace) for trace in self.traces), self.summary])

    def _repr_html_(self) -> str:
        """What notebooks show: the summary, and each trace to unfold."""
        from checker.telling.report.text import render_text

        parts = [f"<p><b>{html.escape(self.summary)}</b></p>"]
        for trace in self.traces:
            title, text = html.escape(trace.property or "deadlock"), html.escape(render_text(trace))
            parts.append(f"<details><summary>{title}</summary><pre>{text}</pre></details>")
        return "".join(parts)


@asks
def explore(
    question: Question,
    *,
    depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    keep_going: bool = False,
    deadlock: bool = False,
    symmetry: bool = False,
    workers: int = 1,
    engine: str = _ENGINES[0],
    on_progress: Callable[[Progress], None] | None = None,
) -> Answer:
    """Search every reachable state, breadth first, up to a limit or to the end.

    `protocol` is one, or its name, as commands take it. `engine` is `local`, or `reference`: slow,
    without symmetry and workers, and all that it needs is Python. `on_progress` is told now and
    then how far the search is. `UsageError` for what does not exist.
    """
    model = question.model
    how = Options(keep_going=keep_going, deadlock=deadlock, symmetry=symmetry, workers=workers)
    limits = Limits(depth, max_states, max_seconds)
    result = _search(engine, model, question.asked, limits, how, on_progress)
    traces = [build_trace(model, v.steps, v.property) for v in result.violations]
    if result.deadlock is not None:
        traces.append(build_trace(model, result.deadlock, verdict=TraceVerdict.DEADLOCK))
    return Answer(model, str(result.verdict), tuple(traces), result)


def _search(
    engine: str,
    model: Model,
    chosen: tuple[Property, ...],
    limits: Limits,
    how: Options,
    on_progress: Callable[[Progress], None] | None,
) -> Exploration:
    """What the engine of that name finds; `UsageError` if there is none, or it cannot do that."""
    if engine not in _ENGINES:
        raise unknown_name("engine", engine, _ENGINES)
    if engine == "reference":
        from checker.core.search.textbook import TextbookExplorer

        if how.symmetry or how.workers != 1:
            raise UsageError("symmetry and workers go with engine='local'")
        return TextbookExplorer(model, chosen, limits, how, on_progress).run()
    from checker.core.search.explore import Explorer

    return Explorer(model, chosen, limits, how, on_progress).run()


def run(
    protocol: Protocol | str,
    steps: Iterable[str],
    settings: Mapping[str, Any] | None = None,
    *,
    preset: str | None = None,
    property: Property | str | None = None,
    start: Mapping[str, Any] | None = None,
    **bounds: int,
) -> Trace:
    """Take steps, each written as traces name it: `leader_write(leader=r0)`; the trace of them.

    With a `property` the end must show what that is about, such as its violation. `start` is a
    state as traces write states. `UsageError` for what does not exist, `RejectedError` for a step
    that is not enabled, or an end that does not show it.
    """
    model = Question(protocol, settings, preset, bounds=bounds).model
    known = {instance_words(model, instance): instance for instance in model.instances}
    actions = [action.name for action in model.protocol.actions]
    taken = []
    for step in steps:
        if step not in known:
            action = step.partition("(")[0]
            alike = [name for name in known if name.startswith(f"{action}(")]
            raise unknown_name(f"step of {model.protocol.name}", step, alike or actions)
        taken.append(known[step])
    begin = None if start is None else state_of(model, dict(start))
    return build_trace(model, taken, property, start=begin)


@asks
def simulate(
    question: Question,
    *,
    walks: int | None = None,
    steps: int = 100,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Answer:
    """Walk at random: 16,384 walks, unless limited otherwise. Violations are made short."""
    from checker.core.search.minimise import minimise
    from checker.core.search.simulate import Budget, Simulator

    model, chosen = question.model, question.asked
    count = 16_384 if walks is None and max_seconds is None else walks
    simulator = Simulator(model, chosen, seed, Budget(count, max_seconds, steps))
    result = simulator.run()
    traces = []
    for violation in result.violations:
        short = minimise(model, violation.steps, violation.property, simulator.engine)
        traces.append(build_trace(model, short.steps, violation.property))
    return Answer(model, str(result.verdict), tuple(traces), result)


@asks
def prove(
    question: Question,
    *,
    unbounded: bool = False,
    timeout: float = 60.0,
) -> Answer:
    """Prove by induction, within bounds or for all sizes, with the protocol's lemmas. Needs Z3.

    `timeout` is for each query, in seconds. The trace of `not_inductive` begins in a state that may
    be unreachable: it is no bug.
    """
    require("prove needs Z3", "z3")
    from checker.core.proofs.bounded.induction import Induction, InductionOptions
    from checker.core.proofs.proof_report import trace_of
    from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction

    model = question.model
    claims = tuple(prop for prop in question.asked if prop.sense is Sense.ALWAYS)
    lemmas = lemmas_of(model.protocol)
    attempt: Any = (
        UnboundedInduction(model, claims, lemmas, timeout)
        if unbounded
        else Induction(model, claims, lemmas, InductionOptions(timeout))
    )
    result = attempt.run()
    trace = trace_of(result)
    return Answer(model, str(result.verdict), () if trace is None else (trace,), result)


@asks
def graph(
    question: Question,
    *,
    quotient: str | Iterable[str] = (),
    depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
) -> nx.MultiDiGraph[int]:
    """The reachable states and the steps between them, as a networkx graph with attributes.

    With `quotient`, names of views or fields, one node for all states that these show alike. The
    attributes of nodes, arrows and the graph are those that `highwater graph --format` writes.
    `UsageError` if it is too large for networkx.
    """
    from checker.core.graphs.export import as_networkx
    from checker.core.graphs.tables import quotient as quotient_of
    from checker.core.graphs.tables import whole
    from checker.core.graphs.views import chosen_cells, split_view

    found = _losses(question, Limits(depth, max_states, max_seconds))
    names = split_view(quotient) if isinstance(quotient, str) else tuple(quotient)
    if not names:
        return as_networkx(whole(found))
    return as_networkx(quotient_of(found, chosen_cells(question.model, names)))


@asks
def losses(
    question: Question,
    *,
    depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
) -> Losses:
    """Where in the state graph the properties may still be kept, by state; see `docs/graph.md`."""
    return _losses(question, Limits(depth, max_states, max_seconds))


def _losses(question: Question, limits: Limits) -> Losses:
    from checker.core.graphs.built import build
    from checker.core.graphs.losses import find_losses

    model = question.model
    wanted = question.named or tuple(p for p in question.asked if p.sense is Sense.ALWAYS)
    built = build(model, wanted, limits)
    return find_losses(built, wanted, model.protocol.fairness)


def explain(
    trace: Trace | str | Path,
    *,
    protocol: str | None = None,
    search: bool = True,
    max_seconds: float | None = None,
    max_states: int | None = None,
) -> Explanation:
    """Why a trace ends as it does, and what would have prevented it; printed, it tells so.

    `trace` is one of an answer, or what the command takes: a file, or a stored counterexample, by
    its folder or name; `protocol` says of which protocol of one's own. `UsageError` if it cannot be
    read, `RejectedError` if it does not replay.
    """
    from checker.lab.experiments.cases import accepted_trace
    from checker.lab.explanations.explanation import explain as explanation_of
    from checker.lab.explanations.searches import SECONDS, STATES

    found = trace if isinstance(trace, Trace) else accepted_trace(Path(trace), protocol)
    limit = Allowance(SECONDS if max_seconds is None else max_seconds, max_states or STATES)
    return explanation_of(found, search, limit)


def ask(
    kafka: str,
    *files: str | Path,
    settings: Mapping[str, Any] | None = None,
    replicas: int | None = None,
    racks: str | None = None,
    mode: str | None = None,
    topic: str | None = None,
    rolling_restart: bool = False,
    upgrade_to: str | None = None,
    min_isr_to: int | None = None,
    max_seconds: float | None = None,
    budget: Allowance | None = None,
    on_search: Callable[[str], None] = lambda _: None,
    **numbers: int,
) -> OperatorsAnswer:
    """What a cluster of a release can lose under some faults, what stops, what would prevent it.

    `files` are Kafka's own: properties, or what its tools printed. `numbers` are faults, such as
    `crashes=1`, and sizes, such as `max_records=1`. Printed, the answer tells all; it is true where
    nothing is lost. `UsageError` for what cannot be asked; see `docs/ask.md`.
    """
    from checker.kafka.guarantees.answer import answer
    from checker.kafka.guarantees.budgets import BUDGETS
    from checker.kafka.guarantees.cluster import describe_cluster
    from checker.kafka.guarantees.faults import Faults
    from checker.kafka.guarantees.releases import target_named
    from checker.kafka.guarantees.verdicts import SECONDS, STATES

    given = {name: str(value) for name, value in (settings or {}).items()}
    cluster = describe_cluster(
        kafka, [Path(file) for file in files], given, replicas=replicas, racks=racks, mode=mode,
        topic=topic,
    )  # fmt: skip
    budgets = {name: value for name, value in numbers.items() if name in BUDGETS}
    sizes = {name: value for name, value in numbers.items() if name not in BUDGETS}
    target = None if upgrade_to is None else target_named(upgrade_to, cluster.release)
    faults = Faults(budgets, rolling_restart, target, min_isr_to, sizes)
    limit = budget or Allowance(SECONDS if max_seconds is None else max_seconds, STATES)
    return answer(cluster, faults, limit, on_search)


def ask_controllers(
    kafka: str,
    *files: str | Path,
    controllers: int | None = None,
    settings: Mapping[str, Any] | None = None,
    max_seconds: float | None = None,
    budget: Allowance | None = None,
    on_search: Callable[[str], None] = lambda _: None,
    **numbers: int,
) -> QuorumAnswer:
    """What the controllers' quorum of a release can lose under some faults, and what prevents it.

    `files` are properties; `controllers` how many vote, unless a file says; `settings` those of
    `kraft`; `numbers` faults, such as `power_losses=1`, and sizes, such as `appends=1`. Printed,
    the answer tells all; it is true where nothing is lost. `UsageError` for what cannot be asked;
    see `docs/ask.md`.
    """
    from checker.kafka.guarantees.controllers import describe_controllers
    from checker.kafka.guarantees.quorum import answer
    from checker.kafka.guarantees.verdicts import SECONDS, STATES

    given = {name: str(value) for name, value in (settings or {}).items()}
    quorum = describe_controllers(kafka, [Path(file) for file in files], given, controllers)
    limit = budget or Allowance(SECONDS if max_seconds is None else max_seconds, STATES)
    return answer(quorum, numbers, limit, on_search)
