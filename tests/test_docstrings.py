"""Every public name says what it is, what it takes, gives and refuses, and shows how it is used.

Oracle: the signatures, and names that can be looked up. Public names are found by walking the
package, so that a new one is asked for its docstring the day it is added. That the examples are
true is checked where they stand: they are doctests.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
from contextlib import suppress
from functools import cache, cached_property
from typing import Any, NamedTuple

import pytest

import smrmr

ORDER = ["Parameters", "Attributes", "Returns", "Raises", "Warns", "Notes", "Examples"]
LISTS = ORDER[:5]  # of terms, each followed by its meaning
HARMLESS = ("Selection", "Axes | None", "bool")  # types of arguments that nobody gets wrong
LITERAL = re.compile(r"``.+?``|:\w+:`[^`]+`", re.DOTALL)
NAME = re.compile(r"(?<![`\w])`([^`\n]+)`(?!`)")
TERM = re.compile(r"^\S.*$(?=\n +\S)", re.MULTILINE)


class Public(NamedTuple):
    """A public name: a function or a class, or a method or property of `owner`."""

    name: str
    thing: Any
    owner: type | None = None

    @property
    def function(self):
        """What holds signature and docstring; of properties and class methods their function."""
        wrapped = {property: "fget", cached_property: "func", classmethod: "__func__"}
        return getattr(self.thing, wrapped.get(type(self.thing), ""), self.thing)

    @property
    def doc(self):
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def parameters(self):
        """Names in the signature, without that of the object itself."""
        if getattr(self.thing, "_is_protocol", False):
            return []
        names = [*inspect.signature(self.function).parameters]
        return names[1:] if self.owner else names


def walk():
    """Functions and classes that are public, what these functions return, and all members."""
    found = {}
    for name, thing in listed(smrmr):
        some = listed(thing) if inspect.ismodule(thing) else [(name, thing)]
        found |= {id(one): one for _, one in some}
    returned = [returned_by(one) for one in found.values() if inspect.isfunction(one)]
    found |= {id(one): one for one in returned if is_own(one)}
    for thing in found.values():
        name = f"{thing.__module__}.{thing.__name__}"
        yield Public(name, thing)
        for inside in dir(thing) if inspect.isclass(thing) else ():
            member = Public(f"{name}.{inside}", inspect.getattr_static(thing, inside), thing)
            if not inside.startswith("_") and is_own(member.function):  # not scikit-learn's
                yield member


def listed(module):
    return [(name, getattr(module, name)) for name in module.__all__]


def returned_by(function):
    """The class of what a function returns, whether its annotations are texts or not."""
    given = function.__annotations__["return"]
    return vars(inspect.getmodule(function)).get(given) if isinstance(given, str) else given


def is_own(thing):
    return str(getattr(thing, "__module__", "")).split(".")[0] == "smrmr"


def sections_of(doc):
    """Text by the heading above it; what comes before the first heading has none."""
    parts = re.split(r"^(\w[\w ]+)\n-+$\n?", doc, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def terms_of(section):
    """Terms of a list, and what stands below each of them."""
    parts = re.split(r"^(\S.*)$\n?", section, flags=re.MULTILINE)
    return {
        term.lstrip("*"): meaning.strip()
        for line, meaning in zip(parts[1::2], parts[2::2], strict=True)
        for term in line.split(", ")
    }


def problems_of(public):
    """What is wrong with a docstring, in words."""
    sections = sections_of(public.doc)
    terms = {name: terms_of(sections.get(name, "")) for name in LISTS}
    said = {
        "it begins with a sentence": public.doc.split("\n\n")[0].endswith("."),
        f"sections are those of {ORDER}, in that order": (
            [*sections][1:] == [name for name in ORDER if name in sections]
        ),
        "every term of a list has a meaning": all(all(one.values()) for one in terms.values()),
        **parameters_and_returns(public, sections, terms),
        **{f"{name} is an exception": is_exception(name) for name in terms["Raises"]},
        **{
            f"`{name}` is a parameter or a name": is_known(name, public)
            for name in NAME.findall(LITERAL.sub("", public.doc))
        },
    }
    if public.owner is None:
        careful = inspect.isclass(public.thing) and hasattr(public.thing, "__post_init__")
        careful |= inspect.isfunction(public.thing) and not is_harmless(public.thing)
        said["there is an example"] = ">>> " in sections.get("Examples", "")
        said["it says what is refused"] = "Raises" in sections or not careful
    return [text for text, holds in said.items() if not holds] + markup_problems(public.doc)


def parameters_and_returns(public, sections, terms):
    """Whether what a name takes and gives is told; classes may tell of fields as attributes."""
    asked, told = public.parameters, [*terms["Parameters"]]
    if not told and is_told_above(public):
        return {}
    beside = [name for name in terms["Attributes"] if name not in asked]
    told += [name for name in terms["Attributes"] if name in asked]
    gives = getattr(public.function, "__annotations__", {}).get("return") not in (None, "None")
    first_line_says_it = public.owner is not None and not asked
    return {
        f"parameters {asked} are told, not {told}": sorted(asked) == sorted(told),
        f"objects have {beside}": all(has(public.thing, name) for name in beside),
        "it says what is returned": "Returns" in sections or not gives or first_line_says_it,
    }


def is_told_above(public):
    """Whether the same method of a class above, or of a protocol, says what it takes and gives."""
    above = public.owner.__mro__[1:] if public.owner else ()
    same = [vars(parent).get(public.name.split(".")[-1]) for parent in above if is_own(parent)]
    return any("Parameters\n" in (method.__doc__ or "") for method in same if method)


def is_harmless(function):
    hints = {k: v for k, v in function.__annotations__.items() if k != "return"}
    return all(getattr(hint, "__name__", hint) in HARMLESS for hint in hints.values())


def is_exception(name):
    found = getattr(builtins, name, None) or resolved(name)
    return inspect.isclass(found) and issubclass(found, BaseException)


def is_known(name, public):
    """Whether a name is a parameter, belongs to the class, or can be looked up."""
    owner = public.owner or (public.thing if inspect.isclass(public.thing) else None)
    fields = [] if owner is None else Public("", owner).parameters
    own = name in (*public.parameters, *fields) or (owner is not None and has(owner, name))
    return own or resolved(name) is not None


def has(owner, name):
    """Whether objects have an attribute: by their class, or once they are fitted."""
    fits = name.endswith("_") and hasattr(owner, "fit")
    return hasattr(owner, name) or (fits and hasattr(fitted(owner), name))


@cache
def fitted(estimator):
    data = smrmr.simulate("1.a", n=60, p=12, random_state=0)
    return estimator().fit(data.X, data.y)


@cache
def resolved(name):
    """What a name stands for: a public one, or with its path any that can be imported."""
    *path, last = name.split(".")
    places = [smrmr, *(thing for _, thing in listed(smrmr) if inspect.ismodule(thing))]
    if path:
        places = [resolved(".".join(path))]
    with suppress(ImportError):
        return importlib.import_module(name)
    return next((getattr(place, last) for place in places if hasattr(place, last)), None)


def markup_problems(doc):
    """Signs that mean something else in reStructuredText than they seem to."""
    text = re.sub(r"^ *>>> .*(\n.+)*", "", doc, flags=re.MULTILINE)
    text = re.sub(r"^ *\.\. math::.*(\n\n? +.*)*", "", text, flags=re.MULTILINE)
    text = TERM.sub("", NAME.sub("", LITERAL.sub("", text)))
    signs = re.findall(r"(?<!\\)[`|*]", text)
    references = re.findall(r"\b\w+_(?=[\s,.;:)])", text)
    lists = re.findall(r"^(?![-\s]).+\n- .*", text, flags=re.MULTILINE)
    return [f"markup: {found}" for found in (*signs, *references, *lists)]


PUBLIC = [*walk()]


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public.name)
def test_docstring_fits_the_signature(public):
    assert problems_of(public) == []


def test_all_kinds_are_found():
    names = {public.name for public in PUBLIC}
    assert {
        "smrmr.pipeline.select",
        "smrmr.anndata.select",
        "smrmr.paper.solver.lla.Solution",  # which a function returns
        "smrmr.selection.selection.Selection.at",
        "smrmr.selection.selection.Selection.q_values",
        "smrmr.paper.filter.KnockoffFilter.paper",
        "smrmr.selector.SmRMR.transform",
        "smrmr.data.sources.ColumnSource.read",
    } <= names
    assert not any("set_output" in name for name in names)


def share(count: int, whole: int) -> float:
    """Share of a whole.

    Parameters
    ----------
    count, whole
        Numbers, of which `whole` is the larger; see `smrmr.select`.

    Returns
    -------
    float
        Between ``0`` and :math:`|1|`.

    Raises
    ------
    ZeroDivisionError
        If `whole` is 0.

    Examples
    --------
    >>> share(1, 2)
    0.5
    """
    return count / whole


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Share of a whole.", "Share of a whole"),
        ("count, whole\n", "count\n"),
        ("count, whole\n", "count, whole, rest\n"),
        ("    Numbers, of which", "Numbers, of which"),
        ("Returns\n-------\nfloat\n    Between ``0`` and :math:`|1|`.\n\n", ""),
        ("Raises\n------\nZeroDivisionError\n    If `whole` is 0.\n\n", ""),
        ("ZeroDivisionError", "ZeroError"),
        (">>> ", ""),
        ("Raises\n------\n", "Fails\n-----\n"),
        ("`smrmr.select`", "`smrmr.selekt`"),
        ("`whole` is 0", "`hole` is 0"),
        ("`whole` is 0", "`whole is 0"),
        ("`whole` is 0", "|whole| is 0"),
        ("`whole` is 0", "whole* is 0"),
        ("`whole` is 0", "whole_ is 0"),
        ("Share of a whole.\n", "Share of a whole.\n\nOf\n- this\n"),
    ],
)
def test_broken_docstrings_are_found(old, new, monkeypatch):
    good = inspect.cleandoc(share.__doc__)
    assert problems_of(Public("share", share)) == []
    assert old in good
    monkeypatch.setattr(share, "__doc__", good.replace(old, new))
    assert problems_of(Public("share", share)) != []


def test_docutils_reads_them_without_complaint():
    """Oracle: docutils, which Sphinx reads them with, where it is installed."""
    docutils = pytest.importorskip("docutils.core")
    nodes = importlib.import_module("docutils.nodes")
    for public in PUBLIC:
        text = TERM.sub(lambda term: re.sub(r"([*_])", r"\\\1", term[0]), public.doc)
        quiet = {"report_level": 2, "halt_level": 5, "warning_stream": False}
        read = docutils.publish_doctree(text, settings_overrides=quiet)
        assert [m.astext() for m in read.findall(nodes.system_message)] == [], public.name
