"""Lists the kinds of target: a new one is its own file and a line here."""

from .classes import Classes
from .numbers import Numbers, Outputs
from .ordinal import Ordinal
from .protocol import TargetKind
from .survival import Survival

# "auto" asks them from the last to the first
KINDS: dict[str, TargetKind] = {
    kind.alias: kind for kind in (Numbers(), Outputs(), Classes(), Ordinal(), Survival())
}
