"""Prints what the layers of an answer cost: seconds of their stages beside those of the fit.

    python -m benchmarks.speed.layers

Layers are the tests of features alone, which the fit needs as well, credible sets and the panel
without its accuracy; the last column is the panel with accuracy, over the whole fit without it.
"""

from __future__ import annotations

from smrmr import Recipe, select, simulate

CASES = {
    "1.d, 100 x 100": ("1.d", 100, 100),
    "1.d, 100 x 5,000": ("1.d", 100, 5000),
    "1.d, 500 x 5,000": ("1.d", 500, 5000),
    "blocks, 200 x 800": ("blocks", 200, 800),
    "3.b, 200 x 300": ("3.b", 200, 300),
    "many classes, 300 x 300": ("many classes", 300, 300),
}


def main():
    print("| case | fit | alone | credible sets | panel | layers | with accuracy |")
    print("|---|---|---|---|---|---|---|")
    for name, (design, n, p) in CASES.items():
        data = simulate(design, n, p, random_state=0)
        y = data.y if data.target == "continuous" else data.y.astype(str)
        plain, full = Recipe(target=data.target), Recipe(target=data.target, accuracy=True)
        runs = [select(data.X, y, plain).seconds for _ in range(4)][1:]  # the first one compiles
        stages = {stage: min(run[stage] for run in runs) for stage in runs[0]}
        total = sum(stages.values())
        alone, sets, panel = (stages[stage] for stage in ("alone", "credible sets", "panel"))
        with_accuracy = sum(select(data.X, y, full).seconds.values())
        print(
            f"| {name} | {total:.2f} s | {alone / total:.1%} | {sets / total:.1%} "
            f"| {panel / total:.1%} | {(alone + sets + panel) / total:.1%} "
            f"| {with_accuracy / total:.1f}x |"
        )


if __name__ == "__main__":
    main()
