"""Runs `python -m smrmr` as the command `smrmr`."""

from .cli.commands import main

main()
