"""Finds features that are copies of one another, without comparing all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..measures.scaling import unit_scale
from ..types import Indices, Mask, Matrix, Vector

COPY = 1e-8  # columns with |r| above 1 - COPY are copies
PROBES = 4


def find_copies(values: NDArray[Any], by_rank: bool) -> tuple[Indices, Mask]:
    """For each column the first of its copies, and which columns are constant.

    Columns with ties, and with `by_rank` all others, also copy their monotone transforms: these
    have the same normal scores.
    """
    from scipy.stats import rankdata  # takes long to load

    plain = unit_columns(values)
    constant = np.abs(plain).max(axis=0) == 0
    links = [_alike_in_rank(link_copies(plain), values)]
    del plain
    chosen = np.arange(values.shape[1]) if by_rank else np.flatnonzero(have_ties(values))
    if chosen.size:
        ranks = np.empty((len(values), len(chosen)))
        for tile in tiles(len(chosen)):
            ranks[:, tile] = unit_columns(rankdata(values[:, chosen[tile]], axis=0))
        first, second = link_copies(ranks)
        links.append((chosen[first], chosen[second]))
    return representatives(links, values.shape[1]), constant


def _alike_in_rank(links: tuple[Indices, Indices], values: NDArray[Any]) -> tuple[Indices, Indices]:
    """Drop links that one far row makes: where it is far in both, any two columns correlate."""
    from scipy.stats import rankdata

    first, second = links
    used, place = np.unique(np.concatenate(links), return_inverse=True)
    ranks = unit_columns(rankdata(values[:, used], axis=0)) if used.size else np.empty((0, 0))
    a, b = np.split(place, 2)
    alike = np.abs(np.einsum("ij,ij->j", ranks[:, a], ranks[:, b])) > 0.99
    return first[alike], second[alike]


def have_ties(values: NDArray[Any]) -> Mask:
    """Which columns hold some value twice."""
    ordered = np.sort(values, axis=0)
    return np.asarray((ordered[1:] == ordered[:-1]).any(axis=0))


def tiles(p: int) -> list[slice]:
    """Slices of 1,024 columns, so that sorting needs little memory."""
    return [slice(start, start + 1024) for start in range(0, p, 1024)]


def link_copies(columns: Matrix) -> tuple[Indices, Indices]:
    """Pairs of columns that tie together all that correlate by more than 1 - 1e-8 in size.

    `columns` are centred, of norm 1 (or 0: constants copy nothing). Copies lie within 1.5e-4 of
    each other, up to sign, and so do their projections on any direction: sorting by one random
    projection, and looking at the others, leaves few pairs to check.
    """
    n = len(columns)
    rng = np.random.default_rng(0)  # the answer does not depend on the directions
    probes = np.linalg.qr(rng.standard_normal((n, min(PROBES, n))))[0]
    places = columns.T @ probes
    order, first, second = _exact_copies(columns, places[:, 0])
    places = np.abs(places)
    order = order[np.argsort(places[order, 0], kind="stable")]
    reach = 1.01 * np.sqrt(2 * COPY)
    for step in range(1, len(order)):
        a, b = order[:-step], order[step:]
        near = places[b, 0] - places[a, 0] <= reach
        if not near.any():
            break
        near &= (np.abs(places[a] - places[b]) <= reach).all(axis=1)
        a, b = a[near], b[near]
        same = np.abs(np.einsum("ij,ij->j", columns[:, a], columns[:, b])) > 1 - COPY
        first.append(a[same])
        second.append(b[same])
    return np.concatenate(first), np.concatenate(second)


def _exact_copies(columns: Matrix, direction: Vector) -> tuple[Indices, list[Any], list[Any]]:
    """Link columns that agree in ten digits, of which there may be many; return one of each."""
    varied = np.flatnonzero(np.abs(columns).max(axis=0) > 0)
    digits = np.round(columns[:, varied] * np.where(direction[varied] < 0, -1.0, 1.0), 10) + 0.0
    rows = np.ascontiguousarray(digits.T)
    _, leader, group = np.unique(
        rows.view(np.dtype((np.void, 8 * rows.shape[1]))).ravel(),
        return_index=True,
        return_inverse=True,
    )
    alone = np.arange(len(varied)) == leader[group]
    return varied[leader], [varied[~alone]], [varied[leader[group[~alone]]]]


def representatives(links: list[tuple[Indices, Indices]], p: int) -> Indices:
    """For each of p columns the first column of its group of linked ones."""
    first, second = (np.concatenate(ends) for ends in zip(*links, strict=True))
    graph = coo_array((np.ones(len(first), bool), (first, second)), shape=(p, p))
    n_groups, group = connected_components(graph, directed=False)
    leaders = np.full(n_groups, p)
    np.minimum.at(leaders, group, np.arange(p))
    return np.asarray(leaders[group], dtype=np.intp)


def groups_of(leaders: Indices) -> tuple[Indices, ...]:
    """The groups of two or more columns with one leader, each in order."""
    order = np.argsort(leaders, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(leaders[order])) + 1)
    return tuple(part for part in parts if len(part) > 1)


def unit_columns(columns: NDArray[Any]) -> Matrix:
    """Centre each column and divide it by its norm; constants become 0."""
    scaled = unit_scale(columns.T).T
    centred = scaled - scaled.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    noise = 1e-13 * np.sqrt(len(scaled)) * np.abs(scaled).max(axis=0, initial=0.0)
    flat = norms <= noise
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, norms)))


def signs_against(columns: Matrix, leaders: Indices) -> Vector:
    """Sign of the correlation of each column with its leader; 1 for leaders."""
    followers = np.flatnonzero(leaders != np.arange(len(leaders)))
    signs = np.ones(columns.shape[1])
    inner = np.einsum("ij,ij->j", columns[:, followers], columns[:, leaders[followers]])
    signs[followers] = np.where(inner < 0, -1.0, 1.0)
    return signs
