"""Which experiments to run: our grids as TOML files, and how any grid is read."""
