"""What the stored rows say: means with standard errors, tables, figures."""
