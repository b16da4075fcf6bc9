from . import anndata as anndata
from . import association as association
from . import conditional as conditional
from . import data as data
from . import measures as measures
from . import paper as paper
from . import report as report
from . import rivals as rivals
from . import testing as testing
from .association import associate as associate
from .association import redundancy as redundancy
from .association import relevance as relevance
from .conditional import ConditionalTests as ConditionalTests
from .decision import Decision as Decision
from .designs import simulate as simulate
from .example_table import load_example as load_example
from .independence import test as test
from .pipeline import select as select
from .recipe import Recipe as Recipe
from .selection import Selection as Selection
from .selector import SmRMR as SmRMR
from .trials import check as check
from .trials import plan as plan

__version__: str
