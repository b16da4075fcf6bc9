"""Selects features associated with a target, with a controlled false discovery rate."""

import lazy_loader

__version__ = "0.1.0"

# Public names are listed in __init__.pyi and imported when first used, since scikit-learn,
# numba and matplotlib take long to load.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
