"""The chat page, as tests in a browser use it."""

from dataclasses import dataclass

from equipoise.core.types import Proposal, Span

QUESTION = "Does logging work over a network?"
OFF = "Which colour has tuesday morning?"


@dataclass
class Phrase:
    """Highlights the sentences that hold the words in the question's quotation marks."""

    async def highlight(self, query, passages):
        wanted = query.text.split('"')[1::2]
        spans = tuple(
            Span(passage.doc_id, passage.start + start, passage.start + end)
            for words in wanted
            for passage in passages
            for start, end in passage.sentences
            if words in passage.text[start:end]
        )
        return Proposal(spans[: len(wanted)], probability=0.9, threshold=0.5)


def ask(page, question):
    """Type a question and send it, on a page or in its frame."""
    field = page.get_by_label("Your question")
    field.fill(question)
    field.press("Enter")


def asked(page, question):
    """As `ask`, until it is answered."""
    before = page.locator(".turn").count()
    ask(page, question)
    page.locator(".turn").nth(before).wait_for()
    page.locator(".waiting").wait_for(state="detached")
