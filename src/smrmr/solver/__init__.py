"""The penalised mRMR problem and its solution."""
