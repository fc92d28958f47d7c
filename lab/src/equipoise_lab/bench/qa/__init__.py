"""The question answering benchmark of "Highlight & Summarize" (Cherubin and Paverd, arXiv 2508.02872).

`items` and `datasets` read questions with their documents, `systems` names the pipelines, `runner` asks and
keeps rows, `metrics` measures, `judging` has answers judged and compared; `bench` runs all of it. `reporting`
makes summary, tables and a page of what a run left, the numbers of the paper beside ours.
"""
