"""Kinds of target, one file each; `registry` lists them."""
