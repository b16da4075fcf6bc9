"""Does what `smrmr check` and `smrmr plan` ask for: fits of tables with planted effects."""

from __future__ import annotations

import sys
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..problems import Problem, setting
from . import shared
from .actions import file_and_folder, read_with_recipe, show_path, with_source, workers_of
from .options import recipe_of
from .outputs import PLAN, check_folder, json_of, write_outputs, write_plan
from .tables import known_of_rows, name_of, target_of, word_or_features
from .terminal import begin, console, keeping, terminal_progress

if TYPE_CHECKING:
    from ..data.dataset import Dataset
    from ..selection import Selection
    from ..trials.effects import Effects
    from ..trials.run import Budget


def check_table(options: dict[str, Any]) -> None:
    """Select from a table, plant effects into it, write the answer into a folder and show it."""
    file, folder = file_and_folder("check", options)
    console.quiet = options["quiet"]
    begin(f"Reading {file}")
    with keeping(options["run_dir"]):
        found = _checked(file, options)
    report = write_outputs(found, folder, options["overwrite"])
    checked = found.table_check
    assert checked is not None
    if options["json"]:
        tables = {"power": checked.to_frame(), "levels": checked.levels()}
        sys.stdout.write(json_of(checked, tables) + "\n")
        return
    if not options["quiet"]:
        from ..power.words import words_of_check
        from .display import paragraphs, show_levels, show_power

        paragraphs(words_of_check(checked))
        show_power(checked, by_rows=False)
        show_levels(checked)
    show_path("Report", report, options["quiet"])


def _checked(file: Path, options: dict[str, Any]) -> Selection:
    """What is selected from a table, with its check, which is first: its faults are told soon."""
    from ..trials.effects import STRENGTHS

    effects, budget = _trials_of(options, STRENGTHS)
    data, recipe = read_with_recipe(file, options)
    from ..data.study import read_study
    from ..pipeline import select_from
    from ..runs.checkpoints import checkpoints_in
    from ..runs.identity import identity_of
    from ..trials.check import check_from

    study = read_study(
        data.X,
        target_of(data, options),
        recipe.target,
        **known_of_rows(data, options),
        always_keep=recipe.always_keep,
        only=recipe.only,
        partners=recipe.partners,
    )
    effects, seed = _planted_on(effects, data, options), options["seed"]
    trials, selecting = _folders_in(options["run_dir"])
    with terminal_progress() as progress, workers_of(options["scheduler"]):
        checked = check_from(study, recipe, seed, effects, budget, progress, trials)
        settings, repeatable = recipe.settings, recipe.controller.repeatable
        about = identity_of(study, settings, repeatable, seed) if selecting else {}
        with checkpoints_in(selecting, about):
            found = select_from(study, recipe, seed, progress)
    return replace(with_source(found, data), table_check=checked)


def _folders_in(run_dir: Any) -> tuple[Path | None, Path | None]:
    """Where finished trials and the work of the selection are kept: folders of their own."""
    if run_dir is None:
        return None, None
    from ..runs.checkpoints import check_free

    folder = Path(run_dir)
    trials, selecting = folder / "trials", folder / "selection"
    if folder.exists() and not trials.exists():
        check_free(folder)
    return trials, selecting


def plan_rows(options: dict[str, Any]) -> None:
    """Plan a study from a pilot table or a few numbers, write the plan and show it."""
    file = None if options["file"] is None else Path(options["file"])
    folder = Path(
        options["out"] or ("smrmr-plan" if file is None else f"smrmr-{name_of(file)}-plan")
    )
    check_folder(folder, options["overwrite"], PLAN)
    console.quiet = options["quiet"]
    begin("Planning" if file is None else f"Reading {file}")
    from ..trials.plan import STRENGTH, plan, refuse_both

    effects, budget = _trials_of(options, STRENGTH)

    numbers = ("p", "correlation", "class_shares", "event_share")
    known: dict[str, Any] = {name: options[name] for name in numbers if options[name] is not None}
    if file is None:
        _refuse_without_table(options)
        recipe = recipe_of(options)
    else:
        refuse_both(**known)
        data, recipe = read_with_recipe(file, options)
        effects = _planted_on(effects, data, options)
        known = {"X": data.X, "y": target_of(data, options), **known_of_rows(data, options)}
        del known["coordinates"]  # of which a selection is made, not a plan
    with (
        keeping(options["run_dir"]),
        terminal_progress() as progress,
        workers_of(options["scheduler"]),
    ):
        found = plan(
            recipe=recipe,
            rng=options["seed"],
            **known,
            **vars(effects),
            **vars(budget),
            n_rows=options["n_rows"],
            progress=progress,
            run_dir=options["run_dir"],
        )
    written = write_plan(found, folder, options["overwrite"])
    if options["json"]:
        sys.stdout.write((written.parent / PLAN).read_text(encoding="utf-8") + "\n")
        return
    if not options["quiet"]:
        from ..power.words import words_of_plan
        from .display import paragraphs, show_power

        paragraphs(words_of_plan(found))
        show_power(found, by_rows=True)
    show_path("Plan", written, options["quiet"])


def _trials_of(options: dict[str, Any], by_default: Any) -> tuple[Effects, Budget]:
    """What to plant and when to stop, as far as it can be told without the table."""
    from ..trials.effects import Effects
    from ..trials.run import Budget

    strengths = by_default if options["strengths"] is None else options["strengths"]
    return (
        Effects(options["forms"], strengths, options["n_effects"]),
        Budget(options["fits"], options["minutes"], options["precision"]),
    )


def _planted_on(effects: Effects, data: Dataset, options: dict[str, Any]) -> Effects:
    """The effects, on the features that were named."""
    named = word_or_features(data, options["plant_on"] or ["all"], ("all", "clusters"))
    return replace(effects, plant_on=named)


def _refuse_without_table(options: dict[str, Any]) -> None:
    """Refuse options that are about a table, where there is none."""
    defaults = {
        name: parameter.default
        for bundle in (shared.reading, shared.knowing)
        for name, parameter in signature(bundle).parameters.items()
    }
    for name in ("target", "plant_on", *defaults):
        if options[name] and options[name] != defaults.get(name):
            named = "read_data.target" if name == "target" else name
            raise Problem(
                f"{setting(named)} is about a pilot table, and there is none.",
                cure="Name the table, or leave it out.",
            )
