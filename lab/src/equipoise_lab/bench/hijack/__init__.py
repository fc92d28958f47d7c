"""The tool hijack benchmark: can a question make a model call a tool, and which model?

Of "Highlight & Summarize" (Cherubin and Paverd, arXiv 2508.02872), section 8.1 and Table 8. `bench.bench` runs all
of it: `cases` and `inbox` read, `bench.systems` builds pipelines whose models know the tool, `records` says what is
kept and scored, `report` counts and shows.
"""
