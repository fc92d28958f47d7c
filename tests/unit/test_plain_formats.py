"""JSON, mail, source code, AsciiDoc and RTF: blocks, titles, lines, hidden text, and what is refused."""

import json
from pathlib import Path

import pytest

from blocks_of import check, document_of, outline
from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import load


class TestJson:
    def test_a_list_of_objects_is_rows(self):
        documents = load(Path("a.json"), b'[{"id": "x", "text": "One."}, {"name": "Tea", "price": 2}]')
        assert [(document.fragment, document.text) for document in documents] == [
            ("x", "One."),
            ("2", "name: Tea\nprice: 2"),
        ]

    def test_an_object_is_one_document_whose_rows_say_the_path_of_their_keys(self):
        data = (
            '{"title": "Shop", "open": true, "none": null, "days": ["Mon", "Tue"],'
            ' "tea": {"green": {"price": 2, "taste": ""}, "note": "hot"}, "staff": [{"name": "Ann", '
            '"age": 4}, 7]}'
        )
        assert outline("a.json", data) == [
            ("row", 0, "", "title: Shop; open: true; days: Mon, Tue"),
            ("heading", 1, "", "tea"),
            ("row", 0, "", "tea; note: hot"),
            ("heading", 2, "", "tea > green"),
            ("row", 0, "", "tea > green; price: 2"),
            ("heading", 1, "", "staff"),
            ("row", 0, "", "staff; 2: 7"),
            ("heading", 2, "", "staff > Ann"),
            ("row", 0, "", "staff > Ann; name: Ann; age: 4"),
        ]
        assert document_of("a.json", data).title == "Shop"

    @pytest.mark.parametrize(("data", "text"), [(b'"words"', "words"), (b"[1, 2]", "1, 2"), (b"7", "7")])
    def test_other_values(self, data, text):
        assert document_of("a.json", data).text == text

    def test_what_is_long_stands_below_its_row(self):
        data = json.dumps({"a": {"b" * 90: {"note": "One.\nTwo.", "list": ["word " * 30, "x" * 90], "n": 1}}})
        path = f"a > {'b' * 80}"
        assert outline("a.json", data)[1:] == [
            ("row", 0, "", f"{path}; n: 1"),
            ("paragraph", 0, "", f"{path} > note: One.\nTwo."),
            ("paragraph", 0, "", f"{path} > list:"),
            ("item", 1, f"{path} > list:", f"- {('word ' * 30).strip()}"),
            ("item", 1, f"{path} > list:", f"- {'x' * 90}"),
        ]

    @pytest.mark.parametrize(
        ("data", "says"), [(b"{", "not valid JSON"), (b"[" * 100_000, "nested too deep"), (b"{}", "no text")]
    )
    def test_what_is_refused(self, data, says):
        with pytest.raises(UnreadableFile, match=says):
            document_of("a.json", data)


class TestMail:
    def test_earlier_messages_stand_below_who_wrote_them_when(self):
        data = self.HEAD + (
            "\nOn 26 June.\n\nOn Tue, 6 May 2025 at 14:40, Bo <b@x.org>\nwrote:\n> On 19 June?\n>\n>"
            " Am 5. Mai 2025 schrieb Cy:\n"
            "> > On 12 June.\n\n-----Original Message-----\nFrom: Di\n\nThis message is confidential.\n"
        )
        assert outline("a.eml", data)[2:] == [
            ("paragraph", 0, self.SENT, "On 26 June."),
            ("heading", 2, "", "On Tue, 6 May 2025 at 14:40, Bo <b@x.org> wrote:"),
            ("paragraph", 0, "", "On 19 June?"),
            ("heading", 2, "", "Am 5. Mai 2025 schrieb Cy:"),
            ("paragraph", 0, "", "On 12 June."),
            ("heading", 2, "", "-----Original Message-----"),
            ("paragraph", 0, "", "From: Di"),
            ("aside", 0, "", "This message is confidential."),
        ]

    SENT = "From: Ann <a@x.org>\nTo: Bob\nDate: Mon, 1 Jan 2024"
    HEAD = "From: Ann <a@x.org>\nTo: Bob\nDate: Mon, 1 Jan 2024\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n"

    def test_headers_text_and_a_quote(self):
        data = (
            self.HEAD
            + "\nDear Bob,\n\nthese:\n\n- one\n  goes on\n- two\n\n> said before\n\nBye\n-- \nAnn, Ltd.\n"
        )
        assert outline("a.eml", data) == [
            ("heading", 1, "", "Grüße"),
            ("paragraph", 0, "", "From: Ann <a@x.org>\nTo: Bob\nDate: Mon, 1 Jan 2024"),
            ("aside", 0, "", "Dear Bob,"),
            ("paragraph", 0, self.SENT, "these:"),
            ("item", 1, "these:", "- one\ngoes on"),
            ("item", 1, "these:", "- two"),
            ("aside", 0, "", "> said before"),
            ("paragraph", 0, self.SENT, "Bye"),
            ("aside", 0, "", "Ann, Ltd.\n"),
        ]
        assert document_of("a.eml", data).title == "Grüße"

    def parts(self, *parts, kind="mixed"):
        inside = "".join(f"--B\n{part}\n" for part in parts)
        return f"{self.HEAD}Content-Type: multipart/{kind}; boundary=B\n\n{inside}--B--\n"

    def test_plain_text_is_preferred_and_what_is_not_read_is_named(self):
        coding = "Content-Transfer-Encoding: quoted-printable"
        plain = f"Content-Type: text/plain; charset=iso-8859-1\n{coding}\n\nGr=FC=DFe."
        html = "Content-Type: text/html\n\n<p>No."
        attached = 'Content-Type: application/pdf; name="a.pdf"\nContent-Disposition: attachment; filename="a.pdf"\n\nx'
        forwarded = "Content-Type: message/rfc822\n\nSubject: Inside\n\nNo."
        outer, inner = load(Path("a.eml"), self.parts(plain, html, attached, forwarded).encode())
        assert (inner.fragment, inner.title, inner.text) == ("Inside", "Inside", "Inside\n\nNo.")
        texts = [outer.text[block.start : block.end] for block in outer.blocks]
        assert texts[2:] == [
            "Grüße.",
            "Attached:",
            "- a.pdf (not read: this is text called .pdf; rename it to .txt)",
            "- Inside",
        ]

    def test_messages_in_messages_are_read(self):
        letter = f"{self.HEAD}\nThe slipway is closed."
        inner = self.parts(self.attachment("deep.eml", letter), "Content-Type: message/rfc822\n\n" + letter)
        inner = inner.replace("--B", "--C").replace("boundary=B", "boundary=C")
        read = load(Path("a.eml"), self.parts("Content-Type: message/rfc822\n\n" + inner).encode())
        assert [one.fragment for one in read] == ["", "Grüße", "Grüße#deep.eml", "Grüße#Grüße"]
        assert all("slipway" in one.text for one in read[2:])
        report = "Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nAction: failed\n"
        assert "- a message (not read: there are no headers" in outline("a.eml", self.parts(report))[-1][3]

    def attachment(self, name, text):
        return f'Content-Type: text/plain; name="{name}"\nContent-Disposition: attachment\n\n{text}'

    def test_attachments_are_documents_of_their_own(self):
        mail = self.parts(
            "Content-Type: text/plain\n\nSee there.",
            self.attachment("fees.csv", "Boat,Fee\nPunt,4\n"),
            self.attachment("fees.csv", "Boat,Fee\nHeron,9\n"),
            self.attachment("tool.exe", "x"),
            self.attachment("again.eml", f"{self.HEAD}\nInside.\n"),
        )
        read = load(Path("a.eml"), mail.encode())
        assert [document.fragment for document in read] == ["", "fees.csv", "2 fees.csv", "again.eml"]
        said = read[0].text.partition("Attached:\n\n")[2].split("\n\n")
        assert said[:2] == ["- fees.csv", "- 2 fees.csv"]
        assert said[2] == "- tool.exe (not read: files of this type are not read)"
        assert said[3] == "- again.eml"
        assert "Boat: Heron; Fee: 9" in read[2].text

    def test_a_folder_of_messages(self):
        second = self.parts("Content-Type: text/plain\n\n>From here on.", self.attachment("a.txt", "Inside."))
        folder = f"From ann Mon Jan 1\n{self.HEAD}\nOne.\n\nFrom ann Tue Jan 2\n{second}"
        read = load(Path("a.mbox"), folder.encode())
        assert [document.fragment for document in read] == ["1", "2", "2/a.txt"]
        assert (read[0].text[-4:], "From here on." in read[1].text) == ("One.", True)
        with pytest.raises(UnreadableFile, match="message 2: there are no headers"):
            load(Path("a.mbox"), f"{folder[: folder.index('From ann Tue')]}From x\nno\n".encode())
        with pytest.raises(UnreadableFile, match="begins with From"):
            load(Path("a.mbox"), b"no")

    def test_html_is_read_where_there_is_no_other_and_what_it_hides_is_left_out(self):
        html = "Content-Type: text/html\n\n<h2>Head</h2><p>seen<b hidden>SECRET</b>"
        loaded = document_of("a.eml", self.parts(html))
        assert loaded.hidden == 6
        assert outline("a.eml", self.parts(html))[2:] == [
            ("heading", 2, "", "Head"),
            ("paragraph", 0, "", "seen"),
        ]

    def test_what_is_refused(self):
        with pytest.raises(UnreadableFile, match="no headers"):
            document_of("a.eml", "just text")
        with pytest.raises(UnreadableFile, match="nested parts"):
            document_of("a.eml", "Content-Type: multipart/mixed; boundary=B\n\n--B\n" * 300)


class TestSource:
    def test_definitions_are_blocks_with_their_lines(self):
        text = (
            '"""Doc.\n\nMore.\n"""\n\nimport os\n\n\n'
            "# What f does.\n@cached\ndef f(x):\n\n    return x\n\n\nclass A:\n    pass\n"
        )
        loaded = document_of("a.py", text)
        check(loaded)
        assert loaded.text == text
        assert [(loaded.text[b.start : b.end].split("\n")[0], b.line) for b in loaded.blocks] == [
            ('"""Doc.', 1),
            ("More.", 3),
            ("import os", 6),
            ("# What f does.", 9),
            ("class A:", 16),
        ]
        assert {str(block.kind) for block in loaded.blocks} == {"code"}
        assert loaded.title == "a.py"

    def test_what_goes_on_at_the_margin_stays(self):
        text = "int f() {\n  a();\n\n}\n\nint g;\n"
        loaded = document_of("a.c", text)
        assert [loaded.text[b.start : b.end] for b in loaded.blocks] == ["int f() {\n  a();\n\n}", "int g;"]

    def test_long_definitions_are_cut_at_their_blank_lines(self):
        method = "    void m() {\n        x();\n\n        y();\n    }\n\n"
        loaded = document_of("A.java", "class A {\n\n" + method * 60 + "}\n")
        check(loaded)
        assert 4 < len(loaded.blocks) < 12

    def test_form_feeds_do_not_move_lines(self):
        assert [block.line for block in document_of("a.c", "int a;\n\f\nint b;\n").blocks] == [1, 3]


class TestAsciiDoc:
    def test_blocks_and_lines(self):
        text = (
            "= The Title\n:toc:\n\nFirst line\nand second.\n\n== Lists\n\nDo:\n\n* one\n  more\n"
            "** deep\n* two\n\n"
            "term:: meaning\nlabel::\nIts text.\n\n.Run it\n"
            "[source,sh]\n----\nmake\n\ninstall\n----\n\n====\nNOTE: Inside.\n====\n"
        )
        assert outline("a.adoc", text) == [
            ("heading", 1, "", "= The Title"),
            ("aside", 0, "", ":toc:"),
            ("paragraph", 0, "", "First line\nand second."),
            ("heading", 2, "", "== Lists"),
            ("paragraph", 0, "", "Do:"),
            ("item", 1, "Do:", "* one\n  more"),
            ("item", 2, "* one\n  more", "** deep"),
            ("item", 1, "Do:", "* two"),
            ("item", 1, "", "term:: meaning"),
            ("aside", 0, "", "label::"),
            ("item", 1, "label::", "Its text."),
            ("paragraph", 0, "", ".Run it"),
            ("aside", 0, "", "[source,sh]"),
            ("aside", 0, "", "----"),
            ("code", 0, ".Run it", "make\n\ninstall"),
            ("aside", 0, "", "----"),
            ("aside", 0, "", "===="),
            ("paragraph", 0, "", "NOTE: Inside."),
            ("aside", 0, "", "===="),
        ]
        loaded = document_of("a.asciidoc", text)
        assert (loaded.title, loaded.text) == ("The Title", text.rstrip())
        for block in loaded.blocks:
            assert block.line == loaded.text.count("\n", 0, block.start) + 1

    def test_tables(self):
        text = "|===\n|What |Cost\n\n|Tea |2\n|Milk\n|1\n\n|Egg\n|3\n|===\n"
        assert outline("a.adoc", text)[1:-1] == [
            ("aside", 0, "", "What | Cost"),
            ("row", 0, "", "What: Tea; Cost: 2"),
            ("row", 0, "", "What: Milk; Cost: 1"),
            ("row", 0, "", "What: Egg; Cost: 3"),
        ]

    def test_comments_become_blank_lines(self):
        text = "seen\n// SECRET\n\n////\nSECRET\n\nSECRET\n////\ntoo\n\n----\n// code\n----\n"
        loaded = document_of("a.adoc", text)
        assert loaded.text.count("\n") == text.rstrip().count("\n")
        assert loaded.text.split() == ["seen", "too", "----", "//", "code", "----"]
        assert loaded.hidden == len("// SECRET////SECRETSECRET////")


def rtf(body):
    return f"{{\\rtf1\\ansi\\ansicpg1252{{\\fonttbl{{\\f0 Arial;}}}}{{\\colortbl;\\red255\\green255\\blue255;}}{body}}}"


class TestRtf:
    def test_blocks(self):
        body = (
            r"{\info{\title Named}{\author No}}"
            r"\pard\outlinelevel1 Head\par\pard Text \b bold\b0  and \'fc\u8364?.\line next\par "
            r"\pard\ls1 {\listtext\bullet }one\par\ls1\ilvl1 deep\par"
            "\n"
            "\\trowd\\trhdr\\pard\\intbl What\\cell Cost\\cell\\row\\intbl Tea\\cell 2\\cell\\row\\pard End\\par"
        )
        assert outline("a.rtf", rtf(body)) == [
            ("heading", 2, "", "Head"),
            ("paragraph", 0, "", "Text bold and ü€.\nnext"),
            ("item", 1, "Text bold and ü€.\nnext", "one"),
            ("item", 2, "one", "deep"),
            ("aside", 0, "", "What | Cost"),
            ("row", 0, "", "What: Tea; Cost: 2"),
            ("paragraph", 0, "", "End"),
        ]
        assert document_of("a.rtf", rtf(body)).title == "Named"

    @pytest.mark.parametrize(
        "hidden", [r"{\v SECRET}", r"{\fs2 SECRET}", r"{\cf1 SECRET}", r"{\deleted SECRET}"]
    )
    def test_hidden_text(self, hidden):
        loaded = document_of("a.rtf", rtf(rf"seen {hidden}\par"))
        assert (loaded.text, loaded.hidden) == ("seen", 6)

    def test_white_letters_on_a_mark_are_seen(self):
        assert document_of("a.rtf", rtf(r"{\highlight2\cf1 seen}")).text == "seen"

    def test_what_is_no_text_is_left_out(self):
        body = r"seen{\*\unknown no}{\pict 00ff}{\header no}{\field{\*\fldinst HYPERLINK no}{\fldrslt  too}}\bin3"
        assert document_of("a.rtf", rtf(body)).text == "seen too"

    def test_notes_and_comments_stand_below_their_paragraph(self):
        body = r"It is 4 euros{\super\chftn}{\footnote{\super\chftn} In\par May.}{\*\atnauthor Ann}"
        body += r"{\*\annotation Who says so?} a day.\par\pard More.\par"
        assert outline("a.rtf", rtf(body)) == [
            ("paragraph", 0, "", "It is 4 euros a day."),
            ("paragraph", 0, "It is 4 euros a day.", "In May."),
            ("paragraph", 0, "It is 4 euros a day.", "Comment by Ann: Who says so?"),
            ("paragraph", 0, "", "More."),
        ]

    def test_headings_by_their_style_and_lists_whose_marks_are_typed(self):
        body = r"{\stylesheet{\s0 Normal;}{\s7 heading 2;}}\s7 Fees\par\pard Tickets:\par\pard"
        body += r"\li360 \'95\tab Zone A\par"
        assert outline("a.rtf", rtf(body + r"\pard\li720 \endash\tab day: 3\par")) == [
            ("heading", 2, "", "Fees"),
            ("paragraph", 0, "", "Tickets:"),
            ("item", 1, "Tickets:", "• Zone A"),
            ("item", 2, "• Zone A", "– day: 3"),
        ]

    def test_characters_of_several_bytes_and_halves(self):
        assert document_of("a.rtf", r"{\rtf1\ansicpg932 \'93\'fa\u-10179?\u-8704?}").text == "日😀"

    def test_what_is_refused(self):
        for data, says in (
            ("text", "not an RTF file"),
            ("{\\rtf1" + "{" * 5_000, "nested"),
            (rtf(""), "no text"),
        ):
            with pytest.raises(UnreadableFile, match=says):
                document_of("a.rtf", data)


class TestCards:
    def test_every_entry_is_a_paragraph(self):
        calendar = (
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:SECRET\nDTSTART;TZID=X:20250917T193000\n"
            "SUMMARY:General\n  assembly\n"
            "LOCATION:Parish hall\\, Elm Road 4\nBEGIN:VALARM\nDESCRIPTION:SECRET\nEND:VALARM\n"
            "END:VEVENT\nEND:VCALENDAR\n"
        )
        assert outline("a.ics", calendar) == [
            (
                "paragraph",
                0,
                "",
                "Summary: General assembly\nStarts: 2025-09-17 19:30\nLocation: Parish hall, Elm Road 4",
            )
        ]
        card = "BEGIN:VCARD\nTEL;TYPE=CELL:+44 7\nitem1.FN:Ida Roe\nADR:;;Elm Road 4;York\nPHOTO:SECRET\nEND:VCARD\n"
        assert outline("a.vcf", card * 2)[1:] == [
            ("paragraph", 0, "", "Name: Ida Roe\nTelephone (cell): +44 7\nAddress: Elm Road 4, York")
        ]

    def test_what_is_none(self):
        with pytest.raises(UnreadableFile, match="no entry"):
            document_of("a.ics", "BEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VEVENT\n")


class TestSubtitles:
    def test_what_is_said_stands_in_whole_sentences_on_its_line(self):
        text = "WEBVTT\n\n1\n00:04.000 --> 00:07.000\nThe gate <i>opens</i>\n\n2\n00:08.000 --> 00:11.000\nat nine.\n\n"
        text += "00:12.000 --> 00:13.000\nCome in!\n"
        document = document_of("a.vtt", text)
        assert document.text == "The gate opens at nine.\n\nCome in!"
        assert [block.line for block in document.blocks] == [5, 12]
        with pytest.raises(UnreadableFile, match="no times"):
            document_of("a.srt", "Just text.")


class TestNotebook:
    def test_text_code_and_what_it_printed(self):
        cells = [
            {"cell_type": "markdown", "source": ["# Tides\n", "\n", "High at nine."]},
            {
                "cell_type": "code",
                "source": "print(9)",
                "outputs": [{"text": ["9\n"]}, {"data": {"image/png": "SECRET"}}],
            },
        ]
        document = document_of("a.ipynb", json.dumps({"cells": cells}))
        kinds = [(str(block.kind), block.line) for block in document.blocks]
        assert kinds == [("heading", 0), ("paragraph", 0), ("code", 0), ("code", 0)]
        assert (document.title, "SECRET" in document.text) == ("Tides", False)

    @pytest.mark.parametrize(
        "text", ["no", "[]", "{}", '{"cells": [1]}', '{"cells": [{}]}', '{"cells": ' + "[" * 9_999]
    )
    def test_what_is_none(self, text):
        with pytest.raises(UnreadableFile):
            document_of("a.ipynb", text)
