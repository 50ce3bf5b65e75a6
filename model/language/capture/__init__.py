"""Capture: an action or claim run once on symbolic values, and kept as a graph."""

from model.language.capture.captured import CapturedAction, Write, overlay
from model.language.capture.functions import (
    Parameter,
    capture_action,
    capture_fact,
    capture_property,
    capture_start,
)

__all__ = [
    "CapturedAction",
    "Parameter",
    "Write",
    "capture_action",
    "capture_fact",
    "capture_property",
    "capture_start",
    "overlay",
]
