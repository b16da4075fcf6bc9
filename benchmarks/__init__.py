"""Experiments that compare methods, and scripts that time the library; run from a clone.

    python -m benchmarks synthetic | real | speed     experiments as rows that are kept and resumed
    python -m benchmarks yardstick | planted          the same for methods that promise a level
    python -m benchmarks report                       tables and figures of the rows there are
    python -m benchmarks.speed.fit                    one script; `make bench` runs eight of them

========================  ===========================================================
``__main__.py``           the commands
``methods.py``            the one table of methods: **a new method goes here**
``rivals.py``             rivals from other packages, as that table needs them
``data/``                 the public data sets: **a new data set goes into datasets.py**
``grids/``                what to run, as TOML files: designs, sizes, data sets, seeds
``experiments/``          how methods are run and scored: synthetic, planted, prediction
``stores.py``             the CSV files that results are kept in, one row per result
``report/``               means, tables and figures, drawn from the rows alone
``speed/``                scripts that time the library against rivals
``studies/``              scripts behind single choices: what a covariance or recipe does
========================  ===========================================================

A new design goes into `smrmr.simulate`. Results are in ``results/``, and what they say of the paper
is in ``docs/reproducing.md``.
"""
