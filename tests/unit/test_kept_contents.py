"""What other readers' public test files hold, and a loader once lost or changed; the fixtures here are our own."""

from blocks_of import document_of, outline


def test_items_in_an_item_without_words_are_read_with_the_item_around_it():
    body = "<ul><li>Harbour<ul><li><ul><li>week: 33<li>day: 9</ul></ul><li>Hill<ul><li>week: 21</ul></ul>"
    assert [(text, above) for *_, above, text in outline("a.html", body)] == [
        ("- Harbour", ""),
        ("- week: 33", "- Harbour"),
        ("- day: 9", "- Harbour"),
        ("- Hill", ""),
        ("- week: 21", "- Hill"),
    ]


def test_terms_in_an_explanation_are_read_with_the_term_that_it_explains():
    inner = "<dl><dt>Adult<dd>12 euros</dl>"
    body = f"<dl><dt>Pool<dd>{inner}<dt>Sauna<dd>Towels are lent.<dd>{inner}<dd>Closed in May.</dl>"
    assert [(text, above) for *_, above, text in outline("a.html", body)] == [
        ("Pool", ""),
        ("Adult", "Pool"),
        ("12 euros", "Adult"),
        ("Sauna", ""),
        ("Towels are lent.", "Sauna"),
        ("Adult", "Sauna"),
        ("12 euros", "Adult"),
        ("Closed in May.", "Sauna"),
    ]


def test_subtitles_say_who_speaks():
    cues = (
        "<v Ann Lee>The fee is\nforty euros,",
        "<v Ann Lee>due in May.",
        "<v.loud Bo &amp; Co>Thirty!</v>",
        "Who said that?",
    )
    text = "WEBVTT\n\n" + "\n\n".join(f"00:0{n}.000 --> 00:0{n}.900\n{cue}" for n, cue in enumerate(cues)) + "\n"
    assert document_of("a.vtt", text).text.split("\n\n") == [
        "Ann Lee: The fee is forty euros, due in May.",
        "Bo & Co: Thirty!",
        "Who said that?",
    ]


def test_settings_for_formulas_are_no_text_of_rtf():
    body = r"{\rtf1\ansi{\mmathPr\mmathFont34\mbrkBin0\mdispDef1\mlMargin0}\pard Seen\par}"
    assert document_of("a.rtf", body).text == "Seen"
