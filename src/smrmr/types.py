"""Names the arrays, and the few callables, that every stage takes and returns."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
