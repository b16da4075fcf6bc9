"""Names the arrays, tables and few callables that every stage takes and returns."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
else:

    class _Pandas:
        """pandas, loaded when something of it is first used: that takes half a second."""

        def __getattr__(self, name):
            return getattr(import_module("pandas"), name)

    pd = _Pandas()

__all__ = ["Data", "Indices", "Kernel", "Mask", "Matrix", "Progress", "Vector", "pd"]

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

Data: TypeAlias = Any
"""What users pass as X or y: arrays, nested lists, sparse matrices, tables of any library."""

Kernel: TypeAlias = Callable[[Matrix, Matrix], Matrix]
"""A user's kernel: points (a, d) and (b, d) in, their (a, b) kernel matrix out."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``; `stage` names the work."""
