"""Draws the ten designs 1.a-3.c of the paper and 22 more, with their true support."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.special import expit, ndtr

from .problems import Problem, setting
from .settings import as_generator, check_choice
from .types import Indices, Matrix, Vector

Features: TypeAlias = Callable[[int, int, Generator], Matrix]
Response: TypeAlias = Callable[[Matrix, Generator], Vector]

TENS = tuple(range(0, 100, 10))
FOUR = (0, 10, 20, 30)


@dataclass(frozen=True, eq=False)
class Simulation:
    """A draw from a design.

    Attributes
    ----------
    X
        Features, (n, p).
    y
        The target; classes are numbered from 0.
    support
        Positions of the true features.
    target
        How y is to be read: ``"continuous"`` or ``"classes"``.

    Examples
    --------
    >>> from smrmr import simulate
    >>> simulate("1.d", n=5, p=100, random_state=0).support.tolist()
    [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]
    """

    X: Matrix
    y: Vector
    support: Indices
    target: str


@dataclass(frozen=True)
class Design:
    """How features are drawn, and how y comes from the true ones among them.

    `support` holds the positions of the true features, or how many positions each draw chooses.
    """

    support: tuple[int, ...] | int
    features: Features
    respond: Response
    target: str = "continuous"

    @property
    def fewest_features(self) -> int:
        """So many that the true ones are among them."""
        if isinstance(self.support, int):
            return self.support
        return max(self.support, default=0) + 1

    def positions(self, p: int, rng: Generator) -> Indices:
        """Positions of the true features among `p`, in order."""
        if isinstance(self.support, int):
            return np.sort(rng.choice(p, self.support, replace=False))
        return np.array(self.support, dtype=np.intp)


def autoregressive(n: int, p: int, rng: Generator, correlation: float) -> Matrix:
    """Gaussian columns with correlation ``correlation ** |k - l|``, one from the last."""
    X = rng.standard_normal((n, p))
    if correlation:
        fresh = np.sqrt(1 - correlation**2)
        for k in range(1, p):
            X[:, k] = correlation * X[:, k - 1] + fresh * X[:, k]
    return X


_independent: Features = partial(autoregressive, correlation=0.0)
_chained: Features = partial(autoregressive, correlation=0.5)


def _heavy_tailed(n: int, p: int, rng: Generator) -> Matrix:
    """Columns of Student's t with 2 degrees of freedom, whose quantile function is explicit."""
    u = np.clip(ndtr(_chained(n, p, rng)), 1e-12, 1 - 1e-12)
    return np.asarray((2 * u - 1) / np.sqrt(2 * u * (1 - u)))


def _sharing(n: int, p: int, rng: Generator, correlation: float, block: int | None) -> Matrix:
    """Gaussian columns that correlate within blocks, each through a factor of its own."""
    size = block or p
    factors = rng.standard_normal((n, -(-p // size))).repeat(size, axis=1)[:, :p]
    own = rng.standard_normal((n, p))
    return np.asarray(np.sqrt(correlation) * factors + np.sqrt(1 - correlation) * own)


def _curved(n: int, p: int, rng: Generator) -> Matrix:
    """Every column 10 i + 1 is the square of the one before it, and noise."""
    X = rng.standard_normal((n, p))
    roots = np.arange(0, min(p - 1, 100), 10)
    X[:, roots + 1] = X[:, roots] ** 2 + 0.3 * X[:, roots + 1]
    return X


def _with_proxies(n: int, p: int, rng: Generator) -> Matrix:
    """Every column 10 i + 1 is the one before it, and a little noise."""
    X = _chained(n, p, rng)
    originals = np.arange(0, min(p - 1, 100), 10)
    X[:, originals + 1] = X[:, originals] + 0.1 * rng.standard_normal((n, len(originals)))
    return X


def _genotypes(n: int, p: int, rng: Generator) -> Matrix:
    """Counts 0, 1, 2 of an allele of frequency 0.1 to 0.5, linked in blocks of ten."""
    scores = ndtr(_sharing(2 * n, p, rng, correlation=0.7, block=10))
    # multiples of the golden ratio spread frequencies evenly, the same in every draw
    alleles = scores < 0.1 + 0.4 * (np.arange(p) * 0.6180339887 % 1)
    return np.asarray(alleles[:n].astype(np.float64) + alleles[n:])


def _noisy(signal: Callable[[Matrix], Vector]) -> Response:
    return lambda x, rng: signal(x) + rng.standard_normal(len(x))


def _linear(*slopes: float) -> Response:
    return _noisy(lambda x: x @ np.array(slopes))


def _smooth_and_steep(x: Matrix) -> Vector:
    signal = 5 * x[:, 0] + 2 * np.sin(np.pi * x[:, 1] / 2) + 2 * np.maximum(x[:, 2], 0)
    return np.asarray(signal + 2 * np.exp(5 * x[:, 3]))


def _poles_and_steps(x: Matrix) -> Vector:
    return np.asarray(3 * x[:, 0] + 3 * x[:, 1] ** 3 + 3 / x[:, 2] + 5 * (x[:, 3] > 0))


def _same_sign(x: Matrix) -> Vector:
    """Pairs of features that carry no information alone."""
    return np.asarray(np.sign(x[:, ::2] * x[:, 1::2]).sum(axis=1))


def _is_same_sign(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(_same_sign(x) > 0, dtype=np.float64)


def _lines_and_product(x: Matrix) -> Vector:
    return np.asarray(x[:, 0] + x[:, 1] + x[:, 2] * x[:, 3])


def _steps_and_even(x: Matrix) -> Vector:
    return np.asarray(2 * np.tanh(2 * x[:, :5]).sum(axis=1) + 2 * np.abs(x[:, 5:]).sum(axis=1))


def _poisson(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(rng.poisson(np.exp(x.sum(axis=1))), dtype=np.float64)


def _spread(x: Matrix, rng: Generator) -> Vector:
    """Features that say how far y is from 0, and nothing of where it is."""
    return np.asarray(np.exp(x.sum(axis=1)) * rng.standard_normal(len(x)))


def _exceeds_one(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(np.exp(x.sum(axis=1)) > 1, dtype=np.float64)


def _largest_sum(x: Matrix, rng: Generator) -> Vector:
    """The largest of ten scores, each the sum of two features: every feature is in two scores."""
    return np.asarray((x + np.roll(x, -1, axis=1)).argmax(axis=1), dtype=np.float64)


def _logit(n_classes: int) -> Response:
    """One of some classes by a multinomial logit, with slopes between -1.5 and 1.5."""
    # multiples of the golden ratio spread slopes evenly, the same in every draw
    places = np.outer(np.arange(1, 11), np.arange(1, n_classes + 1)) * 0.6180339887
    slopes = 1.5 * np.cos(2 * np.pi * places)

    def respond(x: Matrix, rng: Generator) -> Vector:
        scores = x @ slopes + rng.gumbel(size=(len(x), n_classes))
        return np.asarray(scores.argmax(axis=1), dtype=np.float64)

    return respond


def _signed_sum(x: Matrix, rng: Generator) -> Vector:
    """The sum of all features, each with a sign drawn at random."""
    return np.asarray(x @ rng.choice((-1.0, 1.0), x.shape[1]))


def _weak(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(_signed_sum(x, rng) + 3 * rng.standard_normal(len(x)))


def _logistic(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(rng.random(len(x)) < expit(_signed_sum(x, rng)), dtype=np.float64)


_sum_of_ten: Response = _linear(*[1] * 10)

DESIGNS: dict[str, Design] = {
    "1.a": Design((0, 5), _independent, _linear(4, 8)),
    "1.b": Design(FOUR, _independent, _linear(1, 2, 4, 8)),
    "1.c": Design(FOUR, _chained, _linear(1, 2, 4, 8)),
    "1.d": Design(TENS, _chained, _sum_of_ten),
    "2.a": Design(FOUR, _chained, _noisy(_smooth_and_steep)),
    "2.b": Design(FOUR, _chained, _noisy(_poles_and_steps)),
    "2.c": Design(TENS, _chained, _poisson),
    "3.a": Design((0, 5), _independent, _exceeds_one, "classes"),
    "3.b": Design(TENS, _independent, _exceeds_one, "classes"),
    "3.c": Design(TENS, _chained, _exceeds_one, "classes"),
    "interactions": Design(TENS, _independent, _noisy(_same_sign)),
    "heavy": Design(TENS, _heavy_tailed, _sum_of_ten),
    "skewed": Design(TENS, lambda n, p, rng: np.exp(_chained(n, p, rng)), _sum_of_ten),
    "equicorrelated": Design(TENS, partial(_sharing, correlation=0.5, block=None), _sum_of_ten),
    "blocks": Design(TENS, partial(_sharing, correlation=0.9, block=10), _sum_of_ten),
    "curved": Design(TENS, _curved, _noisy(lambda x: (x + x**2).sum(axis=1))),
    "genotypes": Design(TENS, _genotypes, _sum_of_ten),
    "null": Design((), _chained, _linear()),
    "even": Design(TENS, _chained, _noisy(lambda x: 2 * np.abs(x).sum(axis=1))),
    "mixed": Design(TENS, _chained, _noisy(_steps_and_even)),
    "cos": Design(FOUR, _chained, _noisy(lambda x: 3 * np.cos(np.pi * x / 1.5).sum(axis=1))),
    "variance": Design((0, 10), _chained, _spread),
    "proxy": Design(TENS, _with_proxies, _sum_of_ten),
    "many classes": Design(TENS, _chained, _largest_sum, "classes"),
    "three classes": Design(TENS, _chained, _logit(3), "classes"),
    "six classes": Design(TENS, _chained, _logit(6), "classes"),
    "products": Design(FOUR, _independent, _noisy(lambda x: (x[:, ::2] * x[:, 1::2]).sum(axis=1))),
    "xor": Design((0, 10), _independent, _noisy(lambda x: 2 * _same_sign(x))),
    "xor classes": Design((0, 10), _independent, _is_same_sign, "classes"),
    "lines and product": Design(FOUR, _independent, _noisy(_lines_and_product)),
    "weak": Design(10, _chained, _weak),
    "logistic": Design(10, _chained, _logistic, "classes"),
}


def simulate(
    design: str, n: int, p: int, *, random_state: int | Generator | None = None
) -> Simulation:
    r"""Draw `n` samples of `p` features and a target from a design.

    In the designs of the paper features are :math:`N(0, \Sigma)` with
    :math:`\sigma_{kl} = c^{|k-l|}`; noise is :math:`N(0, 1)`, none in 3.a to 3.c. Paper: section
    5.2, with a Poisson rate of exp(sum) in 2.c, where the printed rate could be negative.

    In the others ten features are true, 0, 10, ..., 90, and y is their sum and noise unless said
    otherwise: ``"interactions"`` (y adds the signs of five products, features are
    independent), ``"heavy"`` (t with 2 degrees of freedom) and ``"skewed"`` (log-normal), both
    with the order of neighbours that correlate by 0.5, ``"equicorrelated"`` (all by 0.5),
    ``"blocks"`` (of ten, by 0.9), ``"curved"`` (features 1, 11, ... are the squares of 0, 10, ...
    and noise; y adds x + x²), ``"genotypes"`` (0, 1, 2; blocks of ten linked) and ``"null"`` (no
    feature is true).

    In the last ones features correlate by 0.5 as in 1.c: ``"even"`` (y adds :math:`2 |x|`),
    ``"mixed"`` (the first five as :math:`2 \tanh(2x)`, the last five as :math:`2 |x|`), ``"cos"``
    (true are 0, 10, 20, 30; y adds :math:`3 \cos(\pi x / 1.5)`), ``"variance"`` (true are 0 and 10;
    y is noise times exp of their sum), ``"proxy"`` (features 1, 11, ... are 0, 10, ... and noise of
    standard deviation 0.1), ``"many classes"`` (y is the largest of ten sums without noise: of
    features 0 and 10, of 10 and 20, ..., of 90 and 0), ``"three classes"`` and ``"six classes"``
    (a multinomial logit of the ten). In ``"weak"`` and ``"logistic"`` each draw chooses the ten
    positions and the signs of the ten slopes of 1: y is the signed sum and noise of standard
    deviation 3, or one of two classes whose log-odds are the signed sum.

    In four more some features matter only together, and features are independent: ``"products"``
    (y adds :math:`x_0 x_{10} + x_{20} x_{30}`), ``"xor"`` (twice the sign of :math:`x_0 x_{10}`),
    ``"xor classes"`` (the classes are its signs, without noise) and ``"lines and product"``
    (:math:`x_0 + x_{10} + x_{20} x_{30}`).

    Parameters
    ----------
    design
        ``"1.a"`` to ``"1.d"`` are linear, ``"2.a"`` to ``"2.c"`` non-linear, ``"3.a"`` to ``"3.c"``
        have classes; the others are named above.
    n, p
        Numbers of samples and features; `p` must reach the last true feature (index 5 to 90),
        or hold ten where each draw chooses them.
    random_state
        Seed or generator. The same seed gives the same draw.

    Returns
    -------
    Simulation
        Features, target, and which features are true.

    Raises
    ------
    ValueError
        If the design is not known, `n` and `p` are no whole numbers large enough for it, or
        `random_state` cannot seed a generator.

    Examples
    --------
    >>> from smrmr import simulate
    >>> data = simulate("3.a", n=8, p=6, random_state=1)
    >>> data.X.shape, data.support.tolist(), data.target
    ((8, 6), [0, 5], 'classes')
    """
    check_choice("design", design, tuple(DESIGNS))
    chosen = DESIGNS[design]
    if not (isinstance(n, Integral) and isinstance(p, Integral)):
        raise Problem(f"{setting('n', n)} and {setting('p', p)} must be whole numbers.")
    if n < 1 or p < chosen.fewest_features:
        raise Problem(
            f"{n} samples of {p} features were requested.",
            f"Design {design} needs at least 1 sample and {chosen.fewest_features} features, so "
            "that its true ones are among them.",
        )
    rng = as_generator(random_state)
    X = chosen.features(n, p, rng)
    support = chosen.positions(p, rng)
    return Simulation(X, chosen.respond(X[:, support], rng), support, chosen.target)
