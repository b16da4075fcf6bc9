"""SmRMR and its rivals as scikit-learn selectors."""
