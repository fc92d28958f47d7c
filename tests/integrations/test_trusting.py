"""Fact 3 for chunks from elsewhere, whatever the framework: what becomes of trusted ones does not depend on others."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import example, given

from equipoise.core.results import Answer, Refusal
from equipoise.core.types import Trust
from equipoise.integrations import parts, trusting
from equipoise.integrations.chunks import as_documents, chunk_of
from equipoise.integrations.shared import NOT_READ, OVER, Picks, Quotes, crossed, sifted, summarized
from equipoise.integrations.trusting import mode_of, picked, reader_of
from hashed_words import HashedWords
from planted_chunks import (
    ALWAYS,
    ANSWER,
    EQUAL,
    LAKE,
    LIE,
    MARK,
    QUESTION,
    SILENT,
    TRUSTED,
    Sharing,
    few,
    mixed,
    planted,
    writing,
)

ENCODER = HashedWords()


def chunks_of(pieces, key="owner"):
    return [chunk_of(piece.text, piece.metadata, piece.name, trust_key=key) for piece in pieces]


def read(pieces, question=QUESTION, *, others=False, settings=ALWAYS, key="owner"):
    """(quotes, result, what the model was asked) of the whole way, with a filter and a model that writes."""
    made, chat, mode = parts.components(settings, encoder=ENCODER), writing(), mode_of(settings, key)
    chunks = chunks_of(pieces, key)
    reader = reader_of(Sharing(), made, key)
    writes = parts.summarizer_of("llm", parts.components(settings, chat=chat, encoder=ENCODER))

    async def whole():
        sift = parts.filter_of("auto", made)
        kept = (await sifted(sift, question, chunks, k=5, encoder=ENCODER, mode=mode)).kept
        documents = as_documents([chunks[row] for row in kept])
        chosen = await picked(reader, question, documents, others=others)
        quotes, _ = crossed(chosen.picks, documents, reader.policy, context=True, mode=mode)
        return quotes, await summarized(writes, quotes)

    quotes, result = asyncio.run(whole())
    return quotes, result, [request.messages for request in chat.requests]


def trusted_part(pieces, **how):
    """All that is shown of the trusted ones and all that the model saw; what others say is apart."""
    quotes, result, asked = read(pieces, **how)
    return replace(quotes, others=None), replace(result, others=None), asked


@few
@given(planted)
@example([LIE, LAKE])
def test_nothing_planted_moves_an_answer_or_what_the_model_sees(pieces):
    for others in (False, True):
        assert trusted_part(mixed(pieces), others=others) == trusted_part(TRUSTED)
    _, result, asked = read(mixed(pieces), others=True)
    assert result.trust is Trust.TRUSTED and result.others is not None
    assert asked and MARK not in repr(asked)


@few
@given(planted)
@example([LIE, LAKE])
def test_the_model_is_never_asked_about_what_untrusted_chunks_say(pieces):
    quotes, result, asked = read(mixed(pieces), SILENT)
    assert not asked and not quotes.highlights
    if isinstance(result, Answer):
        assert {item.trust for item in result.highlights.items} == {Trust.UNTRUSTED}
        assert result.others.silent and "(untrusted)" in result.text


def test_the_property_notices_where_all_are_read_alike():
    assert trusted_part(mixed([LIE]), settings=EQUAL) != trusted_part(TRUSTED, settings=EQUAL)
    assert MARK in repr(read(mixed([LIE]), settings=EQUAL)[2])


@few
@given(planted)
def test_what_a_filter_does_to_trusted_chunks_does_not_depend_on_others(pieces):
    made = parts.components(encoder=ENCODER)
    for name in ("auto", "mmr", "coordinated"):
        ended = []
        for every in (TRUSTED, mixed(pieces)):
            work = sifted(
                parts.filter_of(name, made), QUESTION, chunks_of(every), k=2, encoder=ENCODER, mode="trusted-first"
            )  # fmt: skip
            outcome = asyncio.run(work)
            assert sorted((*outcome.kept, *(row for row, _, _ in outcome.flagged))) == list(range(len(every)))
            kept = [every[row] for row in outcome.kept if every[row] in TRUSTED]
            flags = [(every[row], *why) for row, *why in outcome.flagged if every[row] in TRUSTED]
            assert kept == [every[row] for row in outcome.kept][: len(kept)]
            ended.append((kept, flags))
        assert ended[0] == ended[1]


def test_no_source_crowds_out_another_and_trusted_only_leaves_all_out():
    crowd = [replace(LIE, name=str(n), text=f"{LIE.text} {n}", source="crowd.txt") for n in range(9)]
    chunks, made = chunks_of([*crowd, LAKE, *TRUSTED]), parts.components(encoder=ENCODER)
    sift = parts.filter_of("auto", made)
    how = {"k": 2, "encoder": ENCODER}
    first = asyncio.run(sifted(sift, QUESTION, chunks, mode="trusted-first", **how))
    assert [chunks[row].source for row in first.kept][2:] == ["crowd.txt", "crowd.txt", "lake.txt"]
    assert [why for row, why, _ in first.flagged if row < 9] == [OVER] * 7
    only = asyncio.run(sifted(sift, QUESTION, chunks, mode="trusted-only", **how))
    assert all(chunks[row].trust is Trust.TRUSTED for row in only.kept)
    assert {why for row, why, _ in only.flagged if row < 10} == {NOT_READ}


def test_witnesses_are_quoted_by_source_where_nothing_else_answers():
    quotes, result, _ = read([LAKE, LIE, *TRUSTED], SILENT)
    assert quotes.shown == quotes.of_others
    assert "The trusted documents do not answer this." in result.text
    assert f"According to lake.txt (untrusted): “{LAKE.text}”" in result.text
    assert result.others.claims[0].statements[0].author == "lake.txt"


def test_a_witness_that_bears_a_trusted_title_is_named_and_loses_it():
    false = replace(LAKE, title=TRUSTED[0].title)
    _, result, _ = read([false, *TRUSTED], SILENT)
    [statement] = result.others.claims[0].statements
    assert statement.impersonates == TRUSTED[0].source
    assert [item.title for item in statement.highlights] == [""]
    copied = replace(LAKE, text=f"{TRUSTED[1].text} {LAKE.text}")
    _, result, _ = read([copied, *TRUSTED], SILENT)
    assert result.others.claims[0].statements[0].impersonates == TRUSTED[1].source


def test_trusted_only_says_nothing_of_others():
    settings = ALWAYS | {"trust": {"mode": "trusted-only"}}
    assert trusted_part(mixed([LIE]), settings=settings) == trusted_part(TRUSTED)
    _, result, _ = read([LAKE, *TRUSTED], SILENT, settings=settings, others=True)
    assert isinstance(result, Refusal)


def test_without_trusted_chunks_others_are_heard_and_none_is_silent():
    _, result, asked = read([LAKE], SILENT)
    assert result.others.claims and not result.others.silent and not asked
    assert "do not answer" not in result.text


@pytest.mark.parametrize(
    ("settings", "key", "mode"),
    [
        (None, "", "equal"),
        (None, "owner", "trusted-first"),
        ({"trust": {"mode": "trusted-first"}}, "", "trusted-first"),
        ({"trust": {"authors": 3}}, "", "equal"),
        ({"trust": {"mode": "equal"}}, "owner", "equal"),
        ({"trust": {"mode": "trusted-only"}}, "owner", "trusted-only"),
    ],
)
def test_a_key_of_trust_keeps_apart_unless_the_settings_say_otherwise(settings, key, mode):
    assert mode_of(settings, key) == mode


def test_without_a_key_all_are_read_and_written_about_and_labelled():
    quotes, result, asked = read(TRUSTED, key="")
    assert ANSWER in result.text and asked and result.others is None
    assert {item.trust for item in quotes.highlights.items} == {Trust.UNTRUSTED}


def test_what_others_say_is_written_and_read_again_with_its_trust():
    quotes, _, _ = read([LAKE, *TRUSTED], SILENT)
    written = json.loads(json.dumps(quotes.to_dict()))
    assert Quotes.from_dict(written) == quotes
    assert Quotes.from_dict(written).of_others[0].trust is Trust.UNTRUSTED
    plain, _, _ = read(TRUSTED)
    again = Quotes.from_dict(json.loads(json.dumps(plain.to_dict())))
    assert again.highlights.items[0].trust is Trust.TRUSTED
    picks = Picks(others=quotes.others)
    assert Picks.from_dict(json.loads(json.dumps(picks.to_dict()))) == picks


def test_the_boundary_reads_again_what_others_are_said_to_say():
    quotes, _, _ = read([LAKE, *TRUSTED], SILENT)
    documents, (claim,) = as_documents(chunks_of([LAKE, *TRUSTED])), quotes.others.claims
    (said,) = claim.statements
    (item,) = said.highlights
    for wrong in (
        replace(said, author="somebody.txt"),
        replace(said, highlights=()),
        replace(said, highlights=(replace(item, text="my own words"),)),
        replace(said, highlights=(replace(item, doc_id="nowhere"),)),
        replace(said, highlights=(replace(item, trust=Trust.TRUSTED),)),
        replace(said, highlights=(replace(item, title="The Harlow bridge"),)),
    ):
        told = replace(quotes.others, claims=(replace(claim, statements=(wrong, said)),))
        read_again, _ = crossed(Picks(others=told), documents, trusting.build.policy(parts.settings_of(None)))
        assert read_again.others == quotes.others


def test_small_talk_picks_nothing_and_the_contact_of_the_settings_is_told():
    quotes, result, asked = read(TRUSTED, "Thanks, bye!")
    assert quotes == Quotes() and asked == []
    assert isinstance(result, Refusal)
    pointed = asyncio.run(summarized(parts.summarizer_of("auto", parts.components()), Quotes(), "Call us."))
    assert pointed.detail.endswith(" Call us.")


def test_what_a_newer_version_restates_is_not_read_from_an_older_one():
    said = "The fare for an adult is {} pounds. Children under twelve travel free of charge with an adult."
    question, old, new = "What is the fare for an adult?", "fares-2023.md", "fares-2025.md"
    pieces = [
        replace(TRUSTED[0], text=said.format(amount), name=source, source=source)
        for source, amount in ((old, 30), (new, 45))
    ]
    why = f"an older version of {new}"
    made, chunks = parts.components(ALWAYS, encoder=ENCODER), chunks_of(pieces)
    for mode in ("trusted-first", "equal"):
        work = sifted(parts.filter_of("auto", made), question, chunks, k=5, encoder=ENCODER, mode=mode)
        outcome = asyncio.run(work)
        assert outcome.kept == (1,)
        assert [(row, reason) for row, reason, _ in outcome.flagged] == [(0, why)]
    chosen = asyncio.run(picked(reader_of(Sharing(), made, "owner"), question, as_documents(chunks)))
    assert {span.doc_id for span in chosen.picks.spans} == {new}
    assert [(drop.span.doc_id, drop.reason) for drop in chosen.dropped] == [(old, why)]
    nobodys = as_documents(chunks_of(pieces, key=""))
    alike = asyncio.run(picked(reader_of(Sharing(), made, ""), question, nobodys))
    assert {span.doc_id for span in alike.picks.spans} == {old, new}
