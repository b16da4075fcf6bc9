"""Checks that rows are independent: repeated rows, rows alike their neighbours, populations."""
