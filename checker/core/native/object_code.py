"""LLVM assembly as code that can be called: compiled for this processor, or from the cache.

Both ways go through the bytes of an object file, so what was kept runs just as what was compiled.
What decides those bytes is in `_key`: the assembly itself, how it is compiled, and for what.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from checker.core.native import kept_code

PLAIN, LOOPS, KERNEL = "plain", "loops", "kernel"
"""How to compile: as it stands; a loop without branches over rows; with all passes."""

_SPEED = {PLAIN: 0, LOOPS: 1, KERNEL: 2}
_GENERATION = {PLAIN: 1, LOOPS: 1, KERNEL: 2}


class ObjectCode:
    """Compiled assembly, as long as this lives. Takes a while unless it was kept; see `is_kept`."""

    def __init__(self, assembly: str | Callable[[], str], how: str, decided_by: str = "") -> None:
        """The assembly, or what writes it and a digest of all that decides what is written."""
        machine = _machine(_GENERATION[how])
        text = "" if decided_by else _text(assembly)
        key = _key(decided_by or text, how)
        code = kept_code.load(key)
        if code is None:
            code = _compiled(text or _text(assembly), how, machine)
            kept_code.store(key, code)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def function(self, name: str, result: Any, *parameters: Any) -> Any:
        """The function of that name, with its types as `ctypes` has them; without the lock."""
        address = self._engine.get_function_address(name)
        return ctypes.CFUNCTYPE(result, *parameters)(address)


def is_kept(assembly: str, how: str) -> bool:
    """Whether the code is in the cache, so that it is at hand at once."""
    return kept_code.load(_key(assembly, how)) is not None


def decided_by(writers: Iterable[ModuleType], *parts: object) -> str:
    """A digest of modules that write assembly, and of all else that decides what they write."""
    digest = hashlib.sha256(repr(parts).encode())
    for writer in writers:
        digest.update(_source(str(writer.__file__)))
    return f"decided by {digest.hexdigest()}"


@cache
def _source(file: str) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()


def _text(assembly: str | Callable[[], str]) -> str:
    return assembly if isinstance(assembly, str) else assembly()


def _compiled(assembly: str, how: str, machine: llvm.TargetMachine) -> bytes:
    module = llvm.parse_assembly(assembly)
    if how != PLAIN:
        options = llvm.create_pipeline_tuning_options(speed_level=_SPEED[how])
        options.loop_vectorization = True
        passes = llvm.create_pass_builder(machine, options)
        passes.getModulePassManager().run(module, passes)
    code: bytes = machine.emit_object(module)
    return code


@cache
def _target() -> tuple[str, str, str]:
    """This processor as LLVM knows it: triple, name and features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.get_default_triple(), llvm.get_host_cpu_name(), features


def _machine(generation: int) -> llvm.TargetMachine:
    """A machine to compile for. An engine that is made with it owns it, so it is not shared."""
    triple, processor, features = _target()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=processor, features=features, opt=generation)


def _key(assembly: str, how: str) -> str:
    """A digest of everything that decides the code."""
    decides = (
        *("code 2", how, _SPEED[how], _GENERATION[how]),
        *(llvmlite.__version__, llvm.llvm_version_info, *_target()),
        assembly,
    )
    return hashlib.sha256(repr(decides).encode()).hexdigest()
