"""Makes tables of pandas from columns."""

from typing import Any

import numpy as np

from ..types import pd


def frame_of(columns: dict[str, Any]) -> Any:
    """A DataFrame; text as objects, since names may hold what text of pandas 3 cannot."""
    for name, values in columns.items():
        if np.asarray(values).dtype.kind in "OU":
            columns[name] = pd.Series(list(values), dtype=object)
    return pd.DataFrame(columns)
