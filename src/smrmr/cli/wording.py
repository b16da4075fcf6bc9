"""Says by options what messages say by arguments: ``--jobs 0`` for ``n_jobs=0``.

Messages are written for Python, where most of the code is used. This is the one place that turns
them into those of the command line; what a command has no option for stays as it is, such as a
setting within ``--control "tests(guard=false)"``.
"""

import re
from collections.abc import Mapping
from shlex import quote

RENAMED = {  # arguments whose option has another name
    "target": "target_type",
    "n_jobs": "jobs",
    "n_draws": "draws",
    "random_state": "seed",
}
PYTHON_ALONE = (  # what only Python offers, or says for both
    r" \([^()]*(?:in Python|on the command line)\)",
    r", or an object that has '\w+'",
    r", a numpy Generator,? or None",
)
QUOTED = r"(?<!\w)'[^']*'|(?<!\w)\"[^\"]*\""
VALUE = rf"{QUOTED}|\.\.\.|-?\d+(?:\.\d+)?(?:e-?\d+)?|\w+|\[[^\]]*\]|\([^()]*\)"
BOTH_WAYS = re.compile(r"(--[a-z-]+)(?: \S+)? \((\1[^()]*)\)")  # what the option is, and again


def by_options(message: str, options: Mapping[str, str]) -> str:
    """The message with options in the place of arguments; `options` are those of the command.

    >>> options = {"jobs": "--jobs", "on_empty": "--on-empty"}
    >>> by_options("n_jobs=0 is not a number. Use on_empty='none', not relax.", options)
    '--jobs 0 is not a number. Use --on-empty none, not relax.'
    """
    known = {name: options[name] for name in options if name not in RENAMED}
    known |= {name: options[option] for name, option in RENAMED.items() if option in options}
    if not known:
        return message
    for pattern in PYTHON_ALONE:
        message = re.sub(pattern, "", message)
    names = "|".join(map(re.escape, known))
    bare = "|".join(re.escape(name) for name in known if "_" in name) or "(?!)"
    pattern = rf"\b(?P<name>{names})=(?P<value>{VALUE})|(?<=no setting )'(?P<lacking>{names})'"
    pattern += rf"|{QUOTED}"
    pattern += rf"|(?<![\w/.-])(?P<bare>{bare})(?![\w/=-]|\.\w)"

    def said(match: re.Match[str]) -> str:
        if alone := match["bare"] or match["lacking"]:
            return known[alone]
        if not match["name"]:
            return match[0]  # in quotation marks: the user's own words
        return f"{known[match['name']]} {_typed(match['value'])}".rstrip()

    return BOTH_WAYS.sub(r"\2", re.sub(pattern, said, message))


def _typed(value: str) -> str:
    """A value of Python as it is typed on the command line; a flag that is on needs none."""
    if value in ("True", "..."):
        return ""
    if value == "None":
        return "none"
    return quote(value[1:-1]) if value[0] in "'\"" else value
