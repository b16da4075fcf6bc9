"""The penalised mRMR problem and its solution."""

from .lla import Solution, SolutionPath, lambda_max, loss, solution_path, solve
from .penalties import L1, MCP, PENALTIES, SCAD, NoPenalty, Penalty, as_penalty

__all__ = [
    "L1",
    "MCP",
    "PENALTIES",
    "SCAD",
    "NoPenalty",
    "Penalty",
    "Solution",
    "SolutionPath",
    "as_penalty",
    "lambda_max",
    "loss",
    "solution_path",
    "solve",
]
