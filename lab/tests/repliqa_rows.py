"""Rows with all columns of ServiceNow/repliqa, of our own writing."""

STORY = """NASA opens a weather museum

The museum in Tulsa opens on 4 May 2024. Dr. Ann Okoro, who knows no rival, leads it from May to June.
Visitors pay nothing on Sundays."""
OPENING = "The museum in Tulsa opens on 4 May 2024."
LEADER = "Dr. Ann Okoro, who knows no rival, leads it from May to June."


def published_row(answer, long_answer, *, number=1, **more):
    """A question about STORY, which is answered so."""
    return {
        "document_id": "kqwzpdtn",
        "document_topic": "Local News",
        "document_path": "pdfs/repliqa_0/kqwzpdtn.pdf",
        "document_extracted": STORY,
        "question_id": f"kqwzpdtn-q{number}",
        "question": f"Question {number}?",
        "answer": answer,
        "long_answer": long_answer,
    } | more
