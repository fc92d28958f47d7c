"""The question answering benchmark of "Highlight & Summarize" (Cherubin and Paverd, arXiv 2508.02872).

`items` and `datasets` read questions with their documents, `systems` names the pipelines, `runner` asks and
keeps rows, `metrics` measures, `judging` has answers judged and compared; `bench` runs all of it. `numbers` and
`report` make summary, tables and figures of what a run left, the numbers of the paper beside ours.
"""
