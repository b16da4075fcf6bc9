"""The designs: supports as printed, moments of the features, the same seed the same draw."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import LogisticRegression

import smrmr
from smrmr.designs import DESIGNS

PRINTED = {  # paper, section 5.2: support, correlation c, type of the target
    "1.a": ([0, 5], 0.0, "continuous"),
    "1.b": ([0, 10, 20, 30], 0.0, "continuous"),
    "1.c": ([0, 10, 20, 30], 0.5, "continuous"),
    "1.d": (list(range(0, 100, 10)), 0.5, "continuous"),
    "2.a": ([0, 10, 20, 30], 0.5, "continuous"),
    "2.b": ([0, 10, 20, 30], 0.5, "continuous"),
    "2.c": (list(range(0, 100, 10)), 0.5, "continuous"),
    "3.a": ([0, 5], 0.0, "classes"),
    "3.b": (list(range(0, 100, 10)), 0.0, "classes"),
    "3.c": (list(range(0, 100, 10)), 0.5, "classes"),
}

SIGNAL = {  # E[y | x] up to the noise N(0, 1), as printed
    "1.a": lambda x: 4 * x[0] + 8 * x[5],
    "1.b": lambda x: x[0] + 2 * x[10] + 4 * x[20] + 8 * x[30],
    "1.c": lambda x: x[0] + 2 * x[10] + 4 * x[20] + 8 * x[30],
    "1.d": lambda x: sum(x[10 * i] for i in range(10)),
    "2.a": lambda x: (
        5 * x[0] + 2 * np.sin(np.pi * x[10] / 2) + 2 * x[20] * (x[20] > 0) + 2 * np.exp(5 * x[30])
    ),
    "2.b": lambda x: 3 * x[0] + 3 * x[10] ** 3 + 3 / x[20] + 5 * (x[30] > 0),
}


@pytest.mark.parametrize("design", list(PRINTED))
def test_features_and_support_are_as_printed(design):
    support, correlation, target = PRINTED[design]
    p = support[-1] + 10
    data = smrmr.simulate(design, 20_000, p, random_state=1)
    assert data.support.tolist() == support
    assert data.target == target
    lags = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    expected = np.where(lags == 0, 1.0, correlation**lags)
    assert_allclose(np.cov(data.X.T), expected, atol=0.05)


@pytest.mark.parametrize("design", list(SIGNAL))
def test_noise_is_standard_normal(design):
    data = smrmr.simulate(design, 5000, 100, random_state=2)
    noise = data.y - SIGNAL[design](data.X.T)
    assert_allclose(noise.mean(), 0, atol=0.06)
    assert_allclose(noise.std(), 1, atol=0.05)
    assert_allclose(np.quantile(noise, [0.05, 0.95]), [-1.645, 1.645], atol=0.12)


def test_poisson_rate():
    data = smrmr.simulate("2.c", 20_000, 91, random_state=3)
    rate = np.exp(data.X[:, data.support].sum(axis=1))
    low = rate < 5
    assert_allclose(((data.y - rate)[low]).mean(), 0, atol=0.05)
    assert_allclose((((data.y - rate) ** 2 / rate)[low]).mean(), 1, atol=0.15)


@pytest.mark.parametrize("design", ["3.a", "3.b", "3.c"])
def test_classes_are_a_threshold(design):
    data = smrmr.simulate(design, 300, 95, random_state=4)
    assert_array_equal(data.y, data.X[:, data.support].sum(axis=1) > 0)


OWN = {  # E[y | x] of the designs that are not the paper's, from the ten true features
    "interactions": lambda x: sum(np.sign(x[:, 2 * i] * x[:, 2 * i + 1]) for i in range(5)),
    "heavy": lambda x: x.sum(axis=1),
    "skewed": lambda x: x.sum(axis=1),
    "equicorrelated": lambda x: x.sum(axis=1),
    "blocks": lambda x: x.sum(axis=1),
    "curved": lambda x: (x + x**2).sum(axis=1),
    "genotypes": lambda x: x.sum(axis=1),
    "even": lambda x: 2 * np.abs(x).sum(axis=1),
    "mixed": lambda x: sum(2 * np.tanh(2 * x[:, i]) + 2 * np.abs(x[:, i + 5]) for i in range(5)),
    "proxy": lambda x: x.sum(axis=1),
}
TOGETHER = {  # support and E[y | x] where features act together, or the log odds of one class
    "products": ([0, 10, 20, 30], lambda x: x[:, 0] * x[:, 10] + x[:, 20] * x[:, 30]),
    "xor": ([0, 10], lambda x: 2 * np.sign(x[:, 0]) * np.sign(x[:, 10])),
    "xor classes": ([0, 10], lambda x: (x[:, 0] > 0) == (x[:, 10] > 0)),
    "lines and product": ([0, 10, 20, 30], lambda x: x[:, 0] + x[:, 10] + x[:, 20] * x[:, 30]),
}
LOGITS = {"three classes": 3, "six classes": 6}
DRAWN = ("weak", "logistic")  # each draw chooses the support
ODD = {"null", "cos", "variance", "many classes", *LOGITS, *DRAWN, *TOGETHER}  # of other supports
CHAINED = ("even", "mixed", "cos", "variance", "many classes", "null", *LOGITS, *DRAWN)


@pytest.mark.parametrize("design", [*OWN, "null"])
def test_our_designs_answer_to_their_true_features_alone(design):
    data = smrmr.simulate(design, 5000, 120, random_state=5)
    signal = OWN.get(design, lambda x: np.zeros(len(x)))(data.X[:, data.support])
    noise = data.y - signal
    assert data.support.tolist() == (list(range(0, 100, 10)) if design in OWN else [])
    assert data.target == "continuous"
    assert_allclose([noise.mean(), noise.std()], [0, 1], atol=0.05)
    assert np.abs(np.corrcoef(noise, data.X, rowvar=False)[0, 1:]).max() < 0.07


@pytest.mark.parametrize("design", TOGETHER)
def test_designs_of_features_that_act_together(design):
    """Oracle: the formula; noise is standard normal, and classes have none."""
    support, signal = TOGETHER[design]
    data = smrmr.simulate(design, 5000, 40, random_state=5)
    assert data.support.tolist() == support
    noise = data.y - signal(data.X)
    spread = 0.0 if data.target == "classes" else 1.0
    assert_allclose([noise.mean(), noise.std()], [0, spread], atol=0.05)


def test_features_of_our_designs():
    """Oracles: quantiles of the named distributions, and the correlations promised."""

    def ranks(X):
        return np.corrcoef(stats.rankdata(X, axis=0), rowvar=False)

    drawn = {name: smrmr.simulate(name, 20_000, 100, random_state=6).X for name in OWN}
    levels = np.array([0.01, 0.1, 0.5, 0.9, 0.99])
    assert_allclose(
        np.quantile(drawn["heavy"][:, 7], levels), stats.t(2).ppf(levels), rtol=0.1, atol=0.03
    )
    assert_allclose(
        np.quantile(drawn["skewed"][:, 7], levels), stats.lognorm(1).ppf(levels), rtol=0.1
    )
    chained = (
        6 / np.pi * np.arcsin(0.5 / 2)
    )  # Spearman's rho of a normal pair that correlates by 0.5
    for name in ("heavy", "skewed"):
        assert_allclose(ranks(drawn[name][:, 10:12])[0, 1], chained, atol=0.02)
    assert_allclose(np.corrcoef(drawn["equicorrelated"].T)[3, [4, 50, 99]], 0.5, atol=0.03)
    assert_allclose(np.corrcoef(drawn["blocks"].T)[3, [0, 9, 10, 99]], [0.9, 0.9, 0, 0], atol=0.03)
    assert_allclose(np.corrcoef(drawn["curved"][:, 1], drawn["curved"][:, 0] ** 2)[0, 1],
                    np.sqrt(2 / 2.09), atol=0.02)  # fmt: skip
    counts = drawn["genotypes"]
    assert set(np.unique(counts)) == {0.0, 1.0, 2.0}
    share = counts.mean(axis=0) / 2
    assert share.min() > 0.08
    assert share.max() < 0.52
    hardy = np.column_stack([(1 - share) ** 2, 2 * share * (1 - share), share**2])
    found = np.column_stack([(counts == level).mean(axis=0) for level in (0, 1, 2)])
    assert_allclose(found, hardy, atol=0.02)
    linked = np.corrcoef(counts.T)
    assert linked[3, :10].min() > 0.25
    assert np.abs(linked[3, 10:]).max() < 0.05


@pytest.mark.parametrize("design", CHAINED)
def test_neighbours_correlate_by_a_half(design):
    """Oracle: the correlation of 1.c, which halves with every step."""
    X = smrmr.simulate(design, 20_000, 100, random_state=7).X
    assert_allclose(np.cov(X.T)[11, 8:15], 0.5 ** np.abs(np.arange(-3, 4)), atol=0.04)


def test_waves():
    data = smrmr.simulate("cos", 5000, 40, random_state=8)
    noise = data.y - 3 * sum(np.cos(np.pi * data.X[:, k] / 1.5) for k in (0, 10, 20, 30))
    assert (data.support.tolist(), data.target) == ([0, 10, 20, 30], "continuous")
    assert_allclose([noise.mean(), noise.std()], [0, 1], atol=0.05)


def test_variance_alone_depends_on_the_features():
    """Oracle: y over its scale is standard normal and tells nothing of any feature."""
    data = smrmr.simulate("variance", 20_000, 40, random_state=9)
    noise = data.y / np.exp(data.X[:, 0] + data.X[:, 10])
    assert (data.support.tolist(), data.target) == ([0, 10], "continuous")
    assert_allclose(np.quantile(noise, [0.05, 0.5, 0.95]), [-1.645, 0, 1.645], atol=0.05)
    for what in (noise, np.abs(noise)):
        assert np.abs(np.corrcoef(what, data.X, rowvar=False)[0, 1:]).max() < 0.04


def test_proxies_follow_their_feature_and_nothing_else():
    data = smrmr.simulate("proxy", 5000, 101, random_state=10)
    own = data.X[:, data.support + 1] - data.X[:, data.support]
    assert_allclose(own.std(axis=0), 0.1, atol=0.005)
    others = np.corrcoef(own, np.delete(data.X, data.support + 1, axis=1), rowvar=False)[:10, 10:]
    assert np.abs(others).max() < 0.07
    assert smrmr.simulate("proxy", 9, 91, random_state=0).X.shape == (9, 91)


def test_many_classes_are_the_largest_of_ten_sums():
    """Oracle: a loop over rows; every class is as frequent as any other."""
    data = smrmr.simulate("many classes", 2000, 91, random_state=11)
    x = data.X[:, data.support]
    sums = [[row[i] + row[(i + 1) % 10] for i in range(10)] for row in x]
    assert data.y.tolist() == [max(range(10), key=row.__getitem__) for row in sums]
    assert (data.support.tolist(), data.target) == (list(range(0, 100, 10)), "classes")
    assert_allclose(np.bincount(data.y.astype(int)) / 2000, 0.1, atol=0.03)


@pytest.mark.parametrize(("design", "n_classes"), LOGITS.items())
def test_classes_are_drawn_by_a_multinomial_logit(design, n_classes):
    """Oracle: scikit-learn's multinomial logit, whose slopes are as promised, but for a shift."""
    data = smrmr.simulate(design, 20_000, 91, random_state=12)
    places = [[0.6180339887 * (j + 1) * (c + 1) for j in range(10)] for c in range(n_classes)]
    slopes = 1.5 * np.cos(2 * np.pi * np.array(places))
    fitted = LogisticRegression(C=np.inf).fit(data.X[:, data.support], data.y)
    assert_allclose(fitted.coef_, slopes - slopes.mean(axis=0), atol=0.2)
    assert (data.support.tolist(), data.target) == (list(range(0, 100, 10)), "classes")
    assert_allclose(fitted.intercept_, 0, atol=0.2)


@pytest.mark.parametrize("design", DRAWN)
def test_every_draw_chooses_ten_positions(design):
    """Oracle: each of 20 positions is among ten drawn in half of the draws."""
    supports = [smrmr.simulate(design, 3, 20, random_state=seed).support for seed in range(400)]
    assert all(len(set(s.tolist())) == 10 and (np.diff(s) > 0).all() for s in supports)
    assert_allclose(np.bincount(np.concatenate(supports), minlength=20) / 400, 0.5, atol=0.1)
    with pytest.raises(ValueError, match="10 features"):
        smrmr.simulate(design, 3, 9)


def test_weak_is_linear_with_random_signs():
    """Oracle: least squares on the true features: slopes of 1 or -1, noise of 3."""
    draws = [smrmr.simulate("weak", 20_000, 60, random_state=seed) for seed in range(4)]
    slopes = np.empty((4, 10))
    for data, slope in zip(draws, slopes, strict=True):
        x = data.X[:, data.support]
        slope[:] = np.linalg.lstsq(x, data.y, rcond=None)[0]
        noise = data.y - x @ slope.round()
        assert_allclose([noise.mean(), noise.std()], [0, 3], atol=0.07)
        others = np.delete(data.X, data.support, axis=1)
        assert np.abs(np.corrcoef(noise, others, rowvar=False)[0, 1:]).max() < 0.04
    assert_allclose(np.abs(slopes), 1, atol=0.12)
    assert 8 < (slopes > 0).sum() < 32


def test_logistic_has_log_odds_of_a_signed_sum():
    """Oracle: scikit-learn's logistic regression, whose slopes are 1 or -1, and intercept 0."""
    data = smrmr.simulate("logistic", 20_000, 60, random_state=13)
    fitted = LogisticRegression(C=np.inf).fit(data.X, data.y)
    true = np.isin(np.arange(60), data.support)
    assert data.target == "classes"
    assert_allclose(np.abs(fitted.coef_[0, true]), 1, atol=0.1)
    assert_allclose(fitted.coef_[0, ~true], 0, atol=0.1)
    assert_allclose(fitted.intercept_, 0, atol=0.1)
    assert len(set(np.sign(fitted.coef_[0, true]))) == 2


@pytest.mark.parametrize("design", ["2.a", "weak"])
def test_same_seed_same_draw(design):
    a, b = (smrmr.simulate(design, 30, 40, random_state=7) for _ in range(2))
    assert_array_equal(a.X, b.X)
    assert_array_equal(a.y, b.y)
    assert_array_equal(a.support, b.support)
    assert (smrmr.simulate(design, 30, 40, random_state=8).X != a.X).any()


def test_bad_designs_are_refused():
    assert set(DESIGNS) == set(PRINTED) | set(OWN) | ODD
    with pytest.raises(ValueError, match=r"'1\.a', '1\.b'"):
        smrmr.simulate("4.z", 10, 10)
    with pytest.raises(ValueError, match="91 features"):
        smrmr.simulate("1.d", 10, 90)
    for n in (10.5, "10"):
        with pytest.raises(ValueError, match="whole numbers"):
            smrmr.simulate("1.a", n, 50)
    with pytest.raises(ValueError, match="1 sample"):
        smrmr.simulate("1.a", 0, 90)
