"""From the rows of a run to its summary, its tables, its figures and one page."""
