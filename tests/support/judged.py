"""Liveness judged of one model: what must come in the end, and a run that breaks it."""

from __future__ import annotations

from checker.core.liveness.search import LivenessSearch
from checker.core.search.question import Options
from checker.core.traces.trace import check_trace
from checker.core.verdict import Judgement
from checker.lab.experiments.liveness_table import lasso_trace
from model.language.fairness import changed
from model.language.protocol import Model
from properties import choose_liveness


def judge(model: Model, name: str, *changes: str) -> Judgement:
    """The judgement on one property with changed fairness; a run that breaks it replays."""
    prop = choose_liveness(model.protocol, name)
    fairness = changed(model.protocol.fairness, changes)
    options = Options(cross_check=False)
    (judgement,) = LivenessSearch(model, (), (prop,), fairness, options=options).run().liveness
    trace = lasso_trace(model, judgement)
    if trace is not None:
        check_trace(trace)
    return judgement
