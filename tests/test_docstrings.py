"""Every public name says what it is, what it takes, gives and refuses, and shows how it is used.

Oracle: the signatures. Public names are found by walking the package, so that a new one is asked
for its docstring the day it is added. That the examples are true is checked by running them, as
doctests of the modules they stand in.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pytest

import smrmr

ORDER = ["Parameters", "Attributes", "Returns", "Raises", "Warns", "Notes", "Examples"]
LISTS = ("Parameters", "Attributes", "Returns", "Raises", "Warns")  # of terms and their meaning
HELD = ("Selection", "Axes | None", "bool")  # types that are neither data nor settings, hence refuse little
LITERAL = re.compile(r"``.+?``|:\w+:`[^`]+`", re.DOTALL)
NAME = re.compile(r"(?<![`\w])`([^`\n]+)`(?!`)")


@dataclass(frozen=True)
class Public:
    """A public name: a function or a class, or a method or property of `owner`."""

    name: str
    thing: Any
    owner: type | None = None
    doc: str = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "doc", inspect.cleandoc(self.function.__doc__ or ""))

    @property
    def function(self):
        """What holds signature and docstring: of properties and class methods the function."""
        return next(
            (
                getattr(self.thing, inside)
                for inside in ("fget", "func", "__func__")
                if not inspect.isfunction(self.thing) and hasattr(self.thing, inside)
            ),
            self.thing,
        )

    @property
    def is_property(self):
        return isinstance(self.thing, property | cached_property)

    @property
    def parameters(self):
        """Names in the signature, without the object itself."""
        if is_protocol(self.thing):
            return []
        names = [*inspect.signature(self.function).parameters]
        return names[1:] if self.owner and names[0] in ("self", "cls") else names

    @property
    def returns(self):
        return self.function.__annotations__.get("return")


def is_protocol(thing):
    return getattr(thing, "_is_protocol", False)


def listed(module):
    return [(name, getattr(module, name)) for name in module.__all__]


def walk():
    """Public names: those of the package, of its public modules, and what their functions return."""
    found = {}
    for name, thing in listed(smrmr):
        some = listed(thing) if inspect.ismodule(thing) else [(name, thing)]
        found |= {id(one): one for _, one in some if callable(one)}
    functions = [one for one in found.values() if inspect.isfunction(one)]
    found |= {id(one): one for one in map(returned_by, functions) if own(one)}
    for thing in found.values():
        name = f"{thing.__module__}.{thing.__name__}"
        yield Public(name, thing)
        if inspect.isclass(thing):
            for inside in dir(thing):
                part = inspect.getattr_static(thing, inside)
                if not inside.startswith("_") and not inspect.isclass(part):
                    public = Public(f"{name}.{inside}", part, thing)
                    if own(public.function):  # not what scikit-learn adds, nor settings
                        yield public


def returned_by(function):
    """The class of what a function returns, whether its annotations are texts or not."""
    given = function.__annotations__.get("return")
    return vars(inspect.getmodule(function)).get(given) if isinstance(given, str) else given


def own(thing):
    return str(getattr(thing, "__module__", "")).split(".")[0] == "smrmr"


def sections_of(doc):
    """Text by the heading above it; what comes before the first heading has none."""
    parts = re.split(r"^(\w[\w ]+)\n-+$\n?", doc, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def terms_of(section):
    """Terms of a list and what stands below each of them."""
    parts = re.split(r"^(\S.*)$\n?", section, flags=re.MULTILINE)
    return {
        term.lstrip("*"): meaning.strip()
        for line, meaning in zip(parts[1::2], parts[2::2], strict=True)
        for term in line.split(", ")
    }


def documented_above(public):
    """The same method of a class above or of a protocol, which says what it takes and gives."""
    name = public.name.split(".")[-1]
    return [
        parent
        for parent in (public.owner.__mro__[1:] if public.owner else ())
        if own(parent) and "Parameters" in (getattr(vars(parent).get(name), "__doc__", "") or "")
    ]


def problems_of(public):
    """What is wrong with a docstring, in words."""
    sections = sections_of(public.doc)
    is_class, alone = inspect.isclass(public.thing), public.owner is None
    lists = {name: terms_of(sections.get(name, "")) for name in LISTS}
    wrong = []

    def need(condition, problem):
        if not condition:
            wrong.append(problem)

    first = public.doc.split("\n\n")[0]
    need(first.endswith("."), "it begins with one sentence")
    known = [name for name in ORDER if name in sections]
    need([*sections][1:] == known, f"sections {[*sections][1:]}: {known} is the order")
    for name in LISTS:
        need(all(lists[name].values()), f"every term of {name} is followed by its meaning")
    asked, told = public.parameters, [*lists["Parameters"]]
    if is_class:
        told += [name for name in lists["Attributes"] if name in asked]
        beside = [name for name in lists["Attributes"] if name not in asked]
        need(all(exists_in(public.thing, name) for name in beside), f"of {beside} some do not exist")
    if not (documented_above(public) and not told):
        need(sorted(told) == sorted(asked), f"documented are {told}, in the signature {asked}")
        gives = not is_class and not public.is_property and (asked or alone)
        if gives and public.returns not in (None, "None"):
            need("Returns" in sections, "it returns something: what?")
    if alone:
        need(">>> " in sections.get("Examples", ""), "an example")
        checks = hasattr(public.thing, "__post_init__") if is_class else not only_held(public)
        need("Raises" in sections or not checks, "what it refuses, and what to change then")
    for name in lists["Raises"]:
        need(is_exception(name, BaseException), f"{name} is no exception")
    for name in NAME.findall(LITERAL.sub("", public.doc)):
        need(is_known(name, public), f"`{name}` is neither a parameter nor a name")
    return wrong + markup_problems(public.doc)


def only_held(public):
    hints = public.function.__annotations__
    return all(str(getattr(hints[name], "__name__", hints[name])) in HELD for name in hints if name != "return")


def is_exception(name, kind):
    found = getattr(builtins, name, None) or resolved(name)
    return inspect.isclass(found) and issubclass(found, kind)


def exists_in(owner, name):
    """Whether objects have it: as a field, a property, or once they are fitted."""
    return hasattr(owner, name) or (name.endswith("_") and hasattr(fitted(owner), name))


def is_known(name, public):
    """Whether a name is a parameter, something of the class, or public, and so can be looked up."""
    own_names = [*public.parameters, public.name.split(".")[-1]]
    if public.owner is not None:
        own_names += [*Public("", public.owner).parameters, *dir(public.owner)]
    if inspect.isclass(public.thing):
        own_names += dir(public.thing)
    is_own = name in own_names or (
        name.endswith("_") and hasattr(public.owner or public.thing, "fit")
        and hasattr(fitted(public.owner or public.thing), name)
    )
    return is_own or resolved(name) is not None


def resolved(name):
    """What a dotted name stands for, from the package or from anything that can be imported."""
    for start in ("smrmr", *(module for module, _ in MODULES), ""):
        parts = [part for part in f"{start}.{name}".split(".") if part]
        for n in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:n]))
                for part in parts[n:]:
                    found = getattr(found, part)
                return found
            except (ImportError, AttributeError):
                continue
    return None


MODULES = [(one.__name__, one) for _, one in listed(smrmr) if inspect.ismodule(one)]


def fitted(estimator, known={}):  # noqa: B006 fitted once
    """An estimator after `fit`, whose attributes end in an underscore."""
    if estimator not in known:
        data = smrmr.simulate("1.a", n=60, p=12, random_state=0)
        known[estimator] = estimator().fit(data.X, data.y)
    return known[estimator]


def markup_problems(doc):
    """Signs that mean something else in reStructuredText, outside of literals, formulas, examples."""
    text = re.sub(r"^ *>>> .*(\n.+)*", "", doc, flags=re.MULTILINE)
    text = re.sub(r"^ *\.\. math::.*(\n\n?[ ]+.*)*", "", text, flags=re.MULTILINE)
    text = NAME.sub("", LITERAL.sub("", text))
    text = re.sub(r"^\*{1,2}\w+$", "", text, flags=re.MULTILINE)  # **settings, in a signature
    signs = re.findall(r"(?<!\\)[`|*]", text)
    references = re.findall(r"\b\w+_\b(?=[\s,.;:)])", re.sub(r"^\S.*$", "", text, flags=re.MULTILINE))
    lists = re.findall(r"^(?![-\s]).+\n- ", text, flags=re.MULTILINE)
    return [f"markup: {found}" for found in (*signs, *references, *lists)]


PUBLIC = [*walk()]


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public.name.removeprefix("smrmr."))
def test_docstring_fits_the_signature(public):
    assert problems_of(public) == []
