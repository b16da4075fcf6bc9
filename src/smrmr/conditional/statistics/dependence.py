"""Statistics of any dependence between residuals, functions of ranks alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...types import Vector
from .null import covariance_tail
from .pairs import ResidualPairs
from .rank_covariances import covariance_of_ranks, rank_table

LINEAR_PART = 0.6  # of the statistic where it is large, which adjusting makes larger


@dataclass(frozen=True)
class ProjectionCorrelation:
    """Projection correlation of r with e, ``"pc"`` for short.

    Its null depends on the number of rows alone; r and e have lost as many dimensions as they are
    adjusted for, which makes the linear part of it larger, and that is 0.6 of it.

    Parameters
    ----------
    weight, weight_with_abs
        Weight in the combination of p-values, and where absolute values of features helped the fit
        of the target.

    Examples
    --------
    >>> from smrmr.conditional import ProjectionCorrelation
    >>> ProjectionCorrelation(weight=0.4).alias
    'pc'
    """

    weight: float = 0.35
    weight_with_abs: float = 0.25
    alias: ClassVar[str] = "pc"
    only_mean: ClassVar[bool] = False
    all_columns: ClassVar[bool] = False

    def p_values(self, pairs: ResidualPairs) -> Vector:
        """One p-value for each pair of residuals.

        Parameters
        ----------
        pairs
            Residuals of features and target.

        Returns
        -------
        ndarray
            p-values, (k,).
        """
        n = pairs.n_rows
        left = (n - LINEAR_PART * pairs.rank) / n
        return covariance_tail(self._covariance(pairs) * left, n, self.alias)

    def _covariance(self, pairs: ResidualPairs) -> Vector:
        return pairs.projection_covariance


@dataclass(frozen=True)
class KernelIndependence(ProjectionCorrelation):
    """HSIC of normal scores of r and e in the place of projection correlation, ``"hsic"``.

    It is cautious below 100 rows.

    Parameters
    ----------
    weight, weight_with_abs
        Weight in the combination of p-values, and where absolute values of features helped the fit
        of the target.

    Examples
    --------
    >>> from smrmr.conditional import KernelIndependence
    >>> KernelIndependence().alias
    'hsic'
    """

    alias: ClassVar[str] = "hsic"

    def _covariance(self, pairs: ResidualPairs) -> Vector:
        table = rank_table(self.alias, pairs.n_rows)
        return covariance_of_ranks(pairs.target_ranks_by_feature, *table)


@dataclass(frozen=True)
class DistanceCorrelation(KernelIndependence):
    """Distance correlation of normal scores in the place of projection correlation, ``"dcor"``.

    It is cautious below 100 rows.

    Parameters
    ----------
    weight, weight_with_abs
        Weight in the combination of p-values, and where absolute values of features helped the fit
        of the target.

    Examples
    --------
    >>> from smrmr.conditional import DistanceCorrelation
    >>> DistanceCorrelation().alias
    'dcor'
    """

    alias: ClassVar[str] = "dcor"
