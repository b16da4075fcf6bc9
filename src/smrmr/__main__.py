"""Runs `python -m smrmr` as the command `smrmr`."""

from .cli import main

main()
