"""Reads the options of a command: typed, from a settings file, or of a run taken up again."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer
from typer.core import TyperCommand

from ..docstrings import parameters_of
from .terminal import RENAMED, clear_errors, naming

if TYPE_CHECKING:
    from ..recipe import Recipe

KINDS: dict[Any, tuple[str, tuple[type, ...]]] = {  # of options in a settings file
    **dict.fromkeys((str, Path), ("a text in quotes", (str,))),
    float: ("a number", (int, float)),
    int: ("a whole number", (int,)),
    bool: ("true or false", (bool,)),
    list[str]: ("a list of texts in quotes", (list,)),
}
STAGES = ("measure", "penalty", "lam", "screening", "knockoffs", "draws", "rule")
BY_OPTION = {option: name for name, option in RENAMED.items()}
ROOT = Path(__file__).parent.parent
DESCRIBED = (  # what has settings that are options, where they are described; the last one counts
    ("trials/plan.py", "plan"),
    ("trials/check.py", "check"),
    ("pipeline.py", "select"),
    ("paper/filter.py", "KnockoffFilter"),
    ("conditional/controller.py", "ConditionalTests"),
    ("recipe.py", "Recipe"),
    ("data/dataset.py", "read_data"),
    *(("cli/shared.py", bundle) for bundle in ("reading", "computing", "knowing", "running")),
    ("cli/actions.py", "select_features"),
)
NOT_IN_FILES = {"file", "config", "resume"}
WHERE_AND_HOW = ("jobs", "scheduler", "json", "quiet", "out", "overwrite")  # no part of the answer


class EachOptionOnce(TyperCommand):
    """Refuses an option that is given twice, of which the last would win unseen, or as empty text.

    Its messages name its options, and errors that users can mend are one line.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command; options go by their long names."""
        options = [option for option in self.params if option.param_type_name == "option"]
        flags = {str(o.name): (max(o.opts, key=len), str(o.metavar or "")) for o in options}
        with naming(flags), clear_errors():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; an option without a text of its own is a setting."""
        options: list[Any] = [one for one in self.params if one.param_type_name == "option"]
        for option in options:
            option.help = option.help or setting_helps().get(option.name)
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Count the options before they are read, and look at what they hold."""
        for option in self.params:
            if option.param_type_name != "option" or option.multiple:
                continue
            given = [arg for arg in args if arg.split("=")[0] in option.opts]
            if len(given) > 1:
                name = given[0].split("=")[0]
                raise typer.BadParameter(f"{name} was given {len(given)} times. Give it once.", ctx)
        left = super().parse_args(ctx, args)
        for option in self.params:
            given = ctx.params.get(str(option.name))
            if given == "" or (isinstance(given, list | tuple) and "" in given):
                name = max(option.opts, key=len)
                raise typer.BadParameter(
                    f"{name} was given no value. Give one, or leave it out.", ctx
                )
        return left


@cache
def setting_helps() -> dict[str, str]:
    """First sentences of what docstrings say of settings, by the names of their options.

    They are read from the source: importing it takes seconds.
    """
    helps: dict[str, str] = {}
    for file, name in DESCRIBED:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        (thing,) = (node for node in ast.walk(tree) if getattr(node, "name", None) == name)
        renamed = RENAMED if name != "read_data" else {}
        for setting, text in parameters_of(ast.get_docstring(thing)).items():  # type: ignore[arg-type]
            sentence = re.split(r"(?<=\.)\s", " ".join(text.split()))[0]
            plain = re.sub(r"``\"?(.*?)\"?``|`(.*?)`", r"\1\2", sentence)
            helps[renamed.get(setting, setting)] = plain
    return helps


def recipe_of(options: dict[str, Any]) -> Recipe:
    """What to do, from the options of a command; groups of features are in no option."""
    from ..controllers import as_control
    from ..recipe import Recipe
    from ..settings import change_strategy

    named = {f.name: options.get(RENAMED.get(f.name, f.name), f.default) for f in fields(Recipe)}
    asked = {name: options[name] for name in STAGES if options[name] is not None}
    changes = {BY_OPTION.get(name, name): value for name, value in asked.items()}
    control = as_control(named["control"])
    if named["control"] == "auto" and not set(changes) <= {f.name for f in fields(control)}:
        control = as_control("knockoffs")  # where the choice is ours, one with these settings
    named |= {"control": change_strategy(control, changes), "feature_groups": None}
    named |= {"only": options["only"] or None, "partners": options["partners"] or "all"}
    return Recipe(**named | ({} if options["event"] is None else {"target": "survival"}))


def configured(context: typer.Context, hints: dict[str, Any]) -> dict[str, Any]:
    """Options of the command line, then of the file, then the defaults."""
    options = dict(context.params)
    config = options["config"]
    if config is None:
        return options
    for name, value in read_toml(Path(config)).items():  # older typer keeps the text
        key = name.replace("-", "_")
        if key not in set(options) - NOT_IN_FILES:
            known = ", ".join(sorted(set(options) - NOT_IN_FILES)).replace("_", "-")
            raise ValueError(f"{config}: {name!r} is not an option. Options are {known}.")
        if not _typed(context, key):
            options[key] = _checked(hints[key], name, value, config)
    return options


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file; what is none is refused."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from None


def _typed(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _checked(hint: Any, name: str, value: Any, config: Path) -> Any:
    """A value of the settings file, if it is of the kind that the command line takes."""
    wanted, types = next(KINDS[kind] for kind in (*get_args(hint), hint) if kind in KINDS)
    items = value if type(value) is list else ()
    if type(value) not in types or any(type(item) is not str for item in items):
        raise ValueError(f"{config}: {name} = {value!r} must be {wanted}.")
    return value


def keep_command(options: dict[str, Any]) -> None:
    """Write down what was asked, for `--resume`; a run that has begun keeps what began it."""
    from ..data.files.packed import STANDARD_INPUT
    from ..data.joining import place_of
    from ..runs.checkpoints import ABOUT, COMMAND, check_free
    from ..runs.files import replacing

    if str(options["file"]) == STANDARD_INPUT:
        raise ValueError("--run-dir needs a file that can be read again: save the table, not -.")
    folder = Path(options["run_dir"])
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / ABOUT).exists():
        return
    check_free(folder)
    kept = {name: value for name, value in options.items() if name not in ("config", "resume")}
    for name in ("file", "out", "run_dir"):  # resuming may start elsewhere
        kept[name] = None if kept[name] is None else str(Path(kept[name]).absolute())
    for name in ("pheno", "covar"):
        if kept[name] is not None:
            file, sheet = place_of(kept[name], Path(kept["file"]))
            kept[name] = f"{file.absolute()}{'' if sheet is None else f':{sheet}'}"
    with replacing(folder / COMMAND) as unfinished:
        unfinished.write_text(json.dumps(kept, default=str, indent=1), encoding="utf-8")


def resumed(context: typer.Context, folder: Path) -> dict[str, Any]:
    """The options that a run was started with; only where and how it is computed may change.

    A folder that the run was allowed to write to may hold its own answer by now.
    """
    from ..runs.checkpoints import COMMAND

    path = folder / COMMAND
    try:
        options = {**context.params, **json.loads(path.read_text(encoding="utf-8"))}
    except (OSError, ValueError):
        raise ValueError(
            f"{folder} holds no run of smrmr select. Start one: smrmr select FILE --run-dir DIR"
        ) from None
    typed = [name for name in context.params if name != "resume" and _typed(context, name)]
    for name in typed:
        if name not in WHERE_AND_HOW:
            option = "FILE" if name == "file" else f"--{name.replace('_', '-')}"
            raise ValueError(f"--resume takes up a run as it was: leave out {option}.")
        options[name] = context.params[name]
    options["overwrite"] = options["overwrite"] or "out" not in typed
    return options | {"run_dir": folder}  # which may have been moved
