"""Compiles loops with numba: without the GIL, cached on disk where the disk allows it."""

import gc
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import event
from numba.extending import intrinsic

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(function: Loop) -> Loop:
    """Compile `function` on first call and keep the machine code for the next process.

    Parallel work is joblib threads over blocks, so loops release the GIL and never start threads
    of their own. A read-only installation has no place for the cache: then every process compiles
    for itself.
    """
    return _compile(function, {"contract"})


def compiled_inside(function: Loop) -> Loop:
    """Compile `function` for other loops to call: without what Python needs to call it."""
    return _compile(function, {"contract"}, no_cpython_wrapper=True)


def compiled_reordering(function: Loop) -> Loop:
    """Compile `function` as `compiled` does, free to sum in another order, which is faster."""
    return _compile(function, {"contract", "reassoc", "nsz"})


def _compile(function: Loop, fastmath: set[str], **more: Any) -> Loop:
    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath} | more
    options["no_cfunc_wrapper"] = True  # C does not call them, and wrappers take long to compile
    try:
        return cast(Loop, njit(cache=True, **options)(function))
    except RuntimeError:  # numba found no writable cache directory
        return cast(Loop, njit(cache=False, **options)(function))


class _NoCollection(event.Listener):  # type: ignore[misc]
    """Pauses the search for garbage while numba compiles, which makes much that stays in use.

    Each search goes through all modules that are loaded; they took a sixth of a first fit. numba
    compiles in one thread at a time, one function inside another.
    """

    depth, was_enabled = 0, False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.was_enabled:
            gc.enable()


event.register("numba:compile", _NoCollection())


def _popcount(_context: Any, _word: Any) -> Any:
    """Count the bits set in a 64-bit word, as one machine instruction."""

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), emit


popcount: Callable[[Any], Any] = cast(Any, intrinsic)(_popcount)


def _power_of_two(_context: Any, _shifted: Any) -> Any:
    """Return 2 ** k for the float k + 1.5 * 2 ** 52, whose lowest bits are the integer k."""

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        bits = builder.shl(builder.bitcast(arguments[0], word), word(52))
        return builder.bitcast(builder.add(bits, word(1023 << 52)), ir.DoubleType())

    return types.float64(types.float64), emit


power_of_two: Callable[[Any], Any] = cast(Any, intrinsic)(_power_of_two)


ONE = np.uint64(1)
"""A typed 1: shifting a plain Python int would fall back to signed arithmetic."""
