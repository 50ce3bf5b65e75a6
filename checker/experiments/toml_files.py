"""Files that people write for this project are TOML: read in one way, refused in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from model.language.errors import UsageError


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a TOML file; `UsageError` if it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
