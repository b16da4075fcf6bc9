"""Decides whether a folder may be written to, before anything is computed."""

from pathlib import Path

ANSWER = "selection.json"  # without which a folder holds no answer of ours
BEGINS = b'{"selected": '  # as Selection.to_json writes it


def check_folder(folder: Path, overwrite: bool = False) -> None:
    """Refuse a file, what is not ours, and an earlier answer unless it may be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder} is a file. Name a folder, which is made if need be.")
    if not folder.exists() or all(path.name.startswith(".smrmr-") for path in folder.iterdir()):
        return
    path = folder / ANSWER
    ours = path.is_file() and path.read_bytes().startswith(BEGINS)
    if not (ours and overwrite):
        found = "files that are no answer of smrmr, and is left alone. Name"
        if ours:
            found = "an earlier answer. Say --overwrite to replace it, or name"
        raise ValueError(f"the folder {folder} holds {found} another folder with --out.")
