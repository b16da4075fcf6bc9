"""Credible sets. Oracles: numerical integration, laws of symmetry, planted carriers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import smrmr.layers.credible_sets as module
from smrmr.layers.credible_sets import (
    EFFECT_VARIANCES,
    ROW_WEIGHT,
    CredibleSet,
    credible_sets,
    inclusion_probabilities,
    log_factors,
)


def standardised(values):
    values = values - values.mean(axis=1, keepdims=True)
    return values / values.std(axis=1, keepdims=True)


def centred(values):
    return values - values.mean(axis=1, keepdims=True)


def look_alikes(rng, m, n, likeness=0.9):
    shared = np.sqrt(likeness) * rng.standard_normal(n)
    return standardised(shared + np.sqrt(1 - likeness) * rng.standard_normal((m, n)))


def bent_column(z):
    """What the absolute value adds to z, by a regression."""
    design = np.stack([np.ones_like(z), z], axis=1)
    size = np.abs(z)
    return standardised((size - design @ np.linalg.lstsq(design, size, rcond=None)[0])[None])[0]


def integral(y, columns, g):
    """Of the density of y over effects of columns and the noise, by sums over a fine grid.

    y has lost its mean, and with it a degree of freedom.
    """
    b = np.linspace(-7, 7, 141)
    effects = np.array(list(product(b, repeat=len(columns))))
    squares = np.sum((y - effects @ columns) ** 2, axis=-1)
    sizes = np.sum(effects**2, axis=-1)
    total = 0.0
    for sigma in np.exp(np.linspace(-3, 5, 161)):  # even on the scale of its prior
        prior = np.exp(-sizes / (2 * g * sigma**2)) / np.sqrt(2 * np.pi * g * sigma**2) ** len(
            columns
        )
        total += np.sum(prior * sigma ** (1 - len(y)) * np.exp(-squares / (2 * sigma**2)))
    return total * (b[1] - b[0]) ** len(columns)


@pytest.mark.parametrize("which", [2, 3])
def test_factors_are_integrals_over_effect_and_noise(which, rng):
    """Oracle: numerical integration of the densities with and without an effect."""
    n, g = 9, EFFECT_VARIANCES[which]
    z = look_alikes(rng, 1, n)[0]
    columns = np.stack([z, bent_column(z)])
    y = centred((0.9 * z + 0.6 * columns[1] + rng.standard_normal(n))[None])[0]
    P = columns @ y
    W, G = np.outer(P, P) / (y @ y), n * np.eye(2)
    found = log_factors(G[None], W[None], 1, n - 1, np.array([True]))[0, :, which]
    null = integral(y, np.empty((0, n)), g)
    wanted = [np.log(integral(y, columns[:k], g) / null) for k in (1, 2)]
    assert_allclose(found, wanted, rtol=1e-4)


def literal_log_factor(X, Y, g, nu):
    """With all n by n matrices: the rows of Y have covariance I + g X'X, the noise integrated."""
    spread = np.eye(X.shape[1]) + g * X.T @ X
    with_effect, without = np.linalg.det(Y @ np.linalg.solve(spread, Y.T)), np.linalg.det(Y @ Y.T)
    return -len(Y) / 2 * np.log(np.linalg.det(spread)) - nu / 2 * np.log(with_effect / without)


def test_factors_of_several_adjusted_columns_are_those_of_whole_matrices(rng):
    """Oracle: determinants of n by n matrices, of columns adjusted for another one."""
    n, nu = 30, 20.0
    X, Y, u = (centred(rng.standard_normal((k, n))) for k in (2, 3, 1))
    X, Y = (rows - (rows @ u.T / (u @ u.T)) @ u for rows in (X, Y))
    P = X @ Y.T
    W, G = P @ np.linalg.solve(Y @ Y.T, P.T), X @ X.T
    straight, bent = log_factors(G[None], W[None], 3, nu, np.array([True]))[0]
    assert_allclose(straight, [literal_log_factor(X[:1], Y, g, nu) for g in EFFECT_VARIANCES])
    assert_allclose(bent, [literal_log_factor(X, Y, g, nu) for g in EFFECT_VARIANCES])


def literal_posterior(Z, E):
    """Of a single effect: every member, form and variance one after the other."""
    n = Z.shape[1]
    logs = np.empty((len(Z), 2, len(EFFECT_VARIANCES)))
    for j, z in enumerate(Z):
        for k, X in enumerate((z[None], np.stack([z, bent_column(z)]))):
            for i, g in enumerate(EFFECT_VARIANCES):
                logs[j, k, i] = literal_log_factor(X, E, g, ROW_WEIGHT * (n - 1))
    weights = np.exp(logs - logs.max())
    return weights.sum(axis=(1, 2)) / weights.sum()


@pytest.mark.parametrize("q", [1, 3])
def test_probabilities_are_those_of_a_literal_posterior(q, rng):
    """Oracle: all members, forms and variances, with whole matrices."""
    Z = look_alikes(rng, 6, 40)
    E = centred(0.7 * Z[2] + rng.standard_normal((q, 40)))
    (found,) = credible_sets(Z, E)
    assert_allclose(found.probabilities, literal_posterior(Z, E), rtol=1e-6)
    assert 0.3 < found.probabilities.max() < 0.99


@pytest.fixture
def three_targets(rng):
    Z = look_alikes(rng, 12, 150)
    slopes = np.array([[1.5, 0.6, 0.0], [0.0, -0.8, 1.2]])
    E = centred(slopes.T @ Z[[4, 9]] + rng.standard_normal((3, 150)))
    return Z, E, [one.probabilities for one in credible_sets(Z, E)]


def test_scale_rotation_and_copies_of_the_target_change_nothing(three_targets, rng):
    """Law: what counts is the space that the columns of the target span."""
    Z, E, wanted = three_targets
    assert len(wanted) == 2
    mixed = rng.standard_normal((3, 3)) @ E
    for same in (
        1e6 * E,
        np.array([[1e-9], [1], [1e9]]) * E,
        E + 7,
        mixed,
        np.concatenate([E, mixed]),
    ):
        found = credible_sets(Z, same)
        assert_allclose([one.probabilities for one in found], wanted, atol=1e-5)


def test_signs_and_order_of_members_change_nothing_else(three_targets, rng):
    """Law: probabilities and sets go with their members."""
    Z, E, wanted = three_targets
    turned = Z * rng.choice([-1, 1], (12, 1))
    assert_allclose([one.probabilities for one in credible_sets(turned, E)], wanted, atol=1e-6)
    order = rng.permutation(12)
    for before, after in zip(credible_sets(Z, E), credible_sets(Z[order], E), strict=True):
        assert_allclose(after.probabilities, before.probabilities[order], atol=1e-6)
        assert order[after.members].tolist() == before.members.tolist()


def test_blocks_of_members_change_nothing(three_targets, monkeypatch):
    """Law: how many members are looked at together does not matter."""
    Z, E, wanted = three_targets
    monkeypatch.setattr(module, "MAX_BLOCK_VALUES", 5 * Z.shape[1])
    assert_allclose([one.probabilities for one in credible_sets(Z, E)], wanted, atol=1e-9)


def test_a_set_is_the_smallest_that_reaches_the_level(rng):
    """Oracle: the definition."""
    Z = look_alikes(rng, 30, 100)
    E = centred(0.5 * Z[[3]] + rng.standard_normal((1, 100)))
    sizes = []
    for level in (0.5, 0.8, 0.95):
        (found,) = credible_sets(Z, E, level)
        p = found.probabilities
        assert p.sum() == pytest.approx(1)
        assert p[found.members].sum() >= level
        assert p[found.members[:-1]].sum() < level
        assert (np.diff(p[found.members]) <= 0).all()
        assert p[found.members].min() >= np.delete(p, found.members).max()
        sizes.append(len(found.members))
    assert sizes == sorted(set(sizes))


def test_one_clear_carrier_is_found(rng):
    """Oracle: the planted carrier, of effect 2."""
    Z = look_alikes(rng, 20, 200)
    (found,) = credible_sets(Z, centred(2 * Z[[13]] + rng.standard_normal((1, 200))))
    assert found.members.tolist() == [13]
    assert found.probabilities[13] > 0.999


@pytest.mark.parametrize("signs", [(1, 1), (1, -1)])
def test_two_clear_carriers_have_a_set_each(signs, rng):
    """Oracle: the planted carriers, whose effects add up or work against each other."""
    Z = look_alikes(rng, 20, 300)
    E = centred(2 * np.array([signs]) @ Z[[13, 5]] + rng.standard_normal((1, 300)))
    found = credible_sets(Z, E)
    assert sorted(one.members.tolist() for one in found) == [[5], [13]]
    inclusion = inclusion_probabilities(found)
    assert_allclose(inclusion[[5, 13]], 1, atol=1e-3)
    assert np.delete(inclusion, [5, 13]).max() < 0.01


def test_a_bent_and_a_straight_carrier_have_a_set_each(rng):
    """Oracle: the planted carriers."""
    Z = look_alikes(rng, 20, 300)
    E = 3 * np.abs(Z[[13]]) + 2 * Z[[5]] + rng.standard_normal((1, 300))
    assert sorted(one.members.tolist() for one in credible_sets(Z, E)) == [[5], [13]]


def test_a_carrier_of_two_values_hides_no_bent_one(rng):
    """Oracle: the planted carriers, of which only one has an absolute value to adjust for."""
    Z = look_alikes(rng, 20, 300)
    Z[:19] = standardised(np.sign(Z[:19] - 0.5))
    E = 3 * Z[[5]] + np.abs(Z[[19]]) + rng.standard_normal((1, 300))
    assert sorted(one.members.tolist() for one in credible_sets(Z, E)) == [[5], [19]]


def test_a_second_carrier_is_found_beside_copies_of_the_first(rng):
    """Oracle: the planted carriers; one has copies, turned over or not, that average out."""
    Z = look_alikes(rng, 20, 300)
    Z[6] = -Z[13]
    E = 2 * Z[[13]] + 2 * Z[[5]] + rng.standard_normal((1, 300))
    assert sorted(one.members.tolist() for one in credible_sets(Z, E)) == [[5], [6, 13]]


@pytest.mark.parametrize("seed", [54, 160, 193])
def test_sets_are_of_different_members(seed):
    """Law: two effects that may well have the same carrier are not told as two.

    With these seeds effects of opposite sign settle on the same two members, each with half of the
    probability.
    """
    rng = np.random.default_rng(seed)
    Z = look_alikes(rng, 15, 300)
    Z = standardised((Z > 0.3) * 1.0 + (Z > 1.2))
    E = 0.7 * (Z[[0]] - Z[[1]]) + rng.standard_normal((1, 300))
    (found,) = credible_sets(Z, E)
    assert {0, 1} & set(found.members.tolist())


def test_effects_are_settled_given_each_other(rng, monkeypatch):
    """Law: finding an effect again changes nothing; effects that do not settle are not told."""
    Z = look_alikes(rng, 20, 200)
    E = 1.5 * Z[[13]] + 1.2 * Z[[5]] + rng.standard_normal((1, 200))
    forms, Y = module._Forms.of(Z), module.orthonormal(centred(E))
    first = module._find_effect(forms, Y, [])
    start = [first, module._find_effect(forms, Y, [first])]
    effects = module._settled(forms, Y, start)
    for effect, other in (effects, effects[::-1]):
        again = module._find_effect(forms, Y, [other])
        assert_allclose(again.probabilities, effect.probabilities, atol=1e-4)
    assert np.abs(first.probabilities - effects[0].probabilities).max() > 0.01
    assert len(credible_sets(Z, E)) == 2
    monkeypatch.setattr(module, "MOST_TURNS", 1)
    assert len(credible_sets(Z, E)) == 1


def test_three_clear_carriers_have_a_set_each(rng):
    """Oracle: the planted carriers of several columns of the target."""
    Z = look_alikes(rng, 15, 400)
    E = centred(2 * Z[[1, 7, 11]] + rng.standard_normal((3, 400)))
    found = credible_sets(Z, E)
    assert sorted(one.members.tolist() for one in found) == [[1], [7], [11]]


def test_inclusion_is_the_chance_of_any_effect():
    """Oracle: by hand."""
    sets = [CredibleSet(np.array([0]), np.array(p)) for p in ([0.9, 0.1, 0.0], [0.5, 0.2, 0.3])]
    assert_allclose(inclusion_probabilities(sets), [0.95, 0.28, 0.3])


def test_forms_are_columns_and_their_averages(rng):
    """Oracle: regressions of absolute values, one member after the other."""
    Z = look_alikes(rng, 5, 80)
    forms = module._Forms.of(Z)
    columns = np.stack([Z, [bent_column(z) for z in Z]], axis=1)
    R = centred(rng.standard_normal((3, 80)))
    assert_allclose(forms.products(R), columns @ R.T, atol=1e-9)
    p = np.array([0.1, 0.6, 0.05, 0.05, 0.2])
    likeness = Z @ Z[1] / 80
    averages = (p * likeness) @ columns[:, 0], p @ columns[:, 1]
    assert_allclose(forms.expected(p), averages, atol=1e-9)


def test_the_last_digit_decides_nothing():
    """Law: probabilities that differ by rounding alone are ties, and sums may fall short by it."""
    tied = module._smallest_set(np.array([0.2, 0.4 - 1e-13, 0.4 + 1e-13]), 0.9)
    assert tied.members.tolist() == [1, 2, 0]
    assert len(module._smallest_set(np.full(10, 0.1), 0.8).members) == 8


def test_copies_share_probability_and_stand_in_order(rng):
    """Law: equal members, turned over or not, are equally probable; ties go by position."""
    Z = look_alikes(rng, 8, 200)
    Z[6], Z[1] = Z[4], -Z[4]
    (found,) = credible_sets(Z, centred(2 * Z[[4]] + rng.standard_normal((1, 200))))
    assert_allclose(found.probabilities[[1, 4, 6]], 1 / 3, rtol=1e-3)
    assert found.members.tolist() == [1, 4, 6]


@pytest.mark.parametrize("shape", [np.abs, np.square, lambda z: np.abs(z - 0.3)])
def test_a_bent_carrier_is_found(shape, rng):
    """Oracle: the planted carrier, which is hardly correlated with the target."""
    Z = look_alikes(rng, 20, 300)
    E = 2 * standardised(shape(Z[[13]])) + rng.standard_normal((1, 300))
    (found,) = credible_sets(Z, centred(E))
    assert found.members.tolist() == [13]


def test_members_of_two_values_have_one_form(rng):
    """Oracle: the literal posterior of straight forms alone, as no absolute value adds anything."""
    Z = standardised((look_alikes(rng, 6, 60) > 0.7) * 1.0)
    E = centred(0.3 * Z[[2]] + rng.standard_normal((1, 60)))
    (found,) = credible_sets(Z, E)
    logs = [
        [literal_log_factor(z[None], E, g, ROW_WEIGHT * 59) for g in EFFECT_VARIANCES] for z in Z
    ]
    weights = np.exp(logs).sum(axis=1)
    assert_allclose(found.probabilities, weights / weights.sum(), rtol=1e-6)


def test_classes_find_their_carrier(rng):
    """Oracle: the member that decides between four classes, which have a rank of three."""
    Z = look_alikes(rng, 20, 400)
    scores = np.outer([-4, -2, 2, 4], Z[13]) + rng.gumbel(size=(4, 400))
    E = centred((scores.argmax(axis=0) == np.arange(4)[:, None]) * 1.0)
    (found,) = credible_sets(Z, E)
    assert found.members[0] == 13
    assert len(found.members) <= 3


def test_noise_names_nobody(rng):
    """Law: without association one set comes back, and it is as wide as chance allows.

    With nothing to tell them apart, 95% of 20 members are 19.
    """
    for _ in range(20):
        Z = look_alikes(rng, 20, 100)
        (found,) = credible_sets(Z, centred(rng.standard_normal((1, 100))))
        assert len(found.members) >= 12
    (found,) = credible_sets(Z, np.zeros((1, 100)))
    assert found.members.tolist() == list(range(19))


def test_a_perfect_fit_leaves_nothing_to_explain(rng):
    """Law: rounding errors are no second effect."""
    Z = look_alikes(rng, 20, 100)
    (found,) = credible_sets(Z, Z[[13]])
    assert found.members.tolist() == [13]
    classes = centred((np.arange(3)[:2, None] == rng.integers(0, 3, 100)) * 1.0)
    found = credible_sets(np.concatenate([standardised(classes), Z]), classes)
    assert sorted(one.members.tolist() for one in found) == [[0], [1]]
    (alone,) = credible_sets(Z[:1], Z[[13]])
    assert alone.members.tolist() == [0]
    assert_allclose(alone.probabilities, 1)


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.3, 0.5, 1.0])
@pytest.mark.parametrize(("m", "likeness", "n"), [(8, 0.9, 100), (40, 0.95, 200)])
@pytest.mark.parametrize("shape", [np.positive, np.abs], ids=["straight", "bent"])
def test_sets_hold_the_carrier_as_often_as_they_say(shape, m, likeness, n, effect):
    """Oracle: the level, within three standard errors; one carrier seldom has two sets."""
    rng, held, second = np.random.default_rng(11), [], []
    for _ in range(300):
        Z = look_alikes(rng, m, n, likeness)
        carrier = rng.integers(m)
        E = effect * standardised(shape(Z[[carrier]])) + rng.standard_normal((1, n))
        found = credible_sets(Z, centred(E))
        held.append(any(carrier in one.members for one in found))
        second.append(len(found) > 1)
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(held))
    assert np.mean(second) <= 0.05
