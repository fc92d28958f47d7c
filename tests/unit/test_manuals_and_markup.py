"""Manual pages, XML, LaTeX, Org and messages of Outlook: blocks, titles, hidden text, and what is refused."""

import gzip
from pathlib import Path

import pytest

from blocks_of import document_of, outline
from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import kind_of, load, whole_texts
from office_files import compound


class TestManualPages:
    def test_options_with_what_they_mean(self):
        page = (
            '.\\" a remark\n.TH FERRY 1 "May 2024" "ferry 2.3" "User Commands"\n.SH NAME\n'
            "ferry \\- ask for the next ship\n"
            '.SH OPTIONS\n.PP\nThese are known:\n.TP\n.BR \\-p ", " \\-\\-port =\\fIPORT\\fR\n'
            "The port.\nBergen else.\n"
            ".IP\nMore of it.\n.RS\n.IP \\(bu 2\nby sea\n.RE\n.TP\n.B \\-q\n.SS Files\n.nf\na  b\nc\n"
            ".fi\n.br\n"
        )
        assert outline("ferry.1", page) == [
            ("paragraph", 0, "", "ferry(1), May 2024, ferry 2.3, User Commands"),
            ("heading", 1, "", "NAME"),
            ("paragraph", 0, "", "ferry - ask for the next ship"),
            ("heading", 1, "", "OPTIONS"),
            ("paragraph", 0, "", "These are known:"),
            ("item", 1, "These are known:", "-p, --port=PORT: The port. Bergen else."),
            ("paragraph", 0, "-p, --port=PORT: The port. Bergen else.", "More of it."),
            ("item", 2, "More of it.", "• by sea"),
            ("item", 1, "These are known:", "-q"),
            ("heading", 2, "", "Files"),
            ("code", 0, "", "a  b\nc"),
        ]
        assert document_of("ferry.1", page).title == "ferry(1)"

    def test_pages_in_mdoc(self):
        page = (
            ".Dd May 1\n.Dt FERRY 8\n.Os\n.Sh NAME\n.Nm ferry\n.Nd ships\n.Bl -tag\n.It Fl p Ar port\nSee\n"
        )
        page += ".Xr tide 1 .\n.El\n"
        assert [text for *_, text in outline("ferry.8", page)] == [
            "ferry(8)", "NAME", "ferry - ships", "-p port: See tide(1).",
        ]  # fmt: skip

    def test_what_is_optional_in_mdoc(self):
        page = ".Dt FERRY 8\n.Sh SYNOPSIS\n.Nm ferry\n.Op Fl p Ar port\n.Oo Ar host : Oc Ns Ar port\n"
        page += ".Dq by sea\n.Po or not Pc ,\n"
        assert [text for *_, text in outline("ferry.8", page)][2:] == [
            "ferry [-p port] [host:]port “by sea” (or not),"
        ]

    def test_names_of_one_option_and_terms_over_several_lines(self):
        page = ".TH A 1\n.SH A\n.TP\n.PD 0\n.B \\-e\n.TP\n.PD\n.B \\-\\-encrypt\nWith a key.\n"
        page += '.IP "\\-c" 4\n.PD 0\n.IP "\\-\\-continue" 4\n.PD\nGo on.\n.TP\n\\-q\n.TP\n\\-r\nFast.\n'
        assert [text for *_, text in outline("a.1ssl", page)][2:] == [
            "-e, --encrypt: With a key.", "-c, --continue: Go on.", "-q", "-r: Fast.",
        ]  # fmt: skip
        page = ".Dt A 8\n.Sh A\n.Bl -tag\n.It Fl D Xo\n.Ar host :\n.Ar port\n.Xc\nForward\nit.\n.It Fl q\nQuiet.\n.El\n"
        assert [text for *_, text in outline("a.8", page)][2:] == ["-D host: port: Forward it.", "-q: Quiet."]
        page = ".Dt A 8\n.Sh A\n.Bl -tag\n.It Fl D Xo\n.Ar host\nForward\nit.\n.El\n"
        assert [text for *_, text in outline("a.8", page)][2:] == ["-D: host Forward it."]  # never ended

    def test_items_without_a_term_and_arguments_without_a_name(self):
        page = ".Dt A 8\n.Sh A\n.Nm a\n.Ar\n.Bl -bullet\n.It\nRed.\n.It\nBlue.\n.El\n"
        assert [text for *_, text in outline("a.8", page)][2:] == ["a file ...", "• Red.", "• Blue."]

    def test_options_as_docbook_and_asciidoctor_indent_them(self):
        page = ".TH A 1\n.SH OPTIONS\n.sp\nThese are known:\n.PP\n\\fB\\-a\\fR, \\fB\\-\\-all\\fR\n.RS 4\n"
        page += "Send all\nships\n.sp\nIt\\*(Aqs slow.\n.PP\nSpare \\(at sea.\n.RE\n"
        page += ".sp\n\\-q\n.RS 4\nQuiet.\n.RE\n.sp\nMore:\n.RS 4\n"
        page += (
            ".ie n \\{\\\n\\h'-04' 1.\\h'+01'\\c\n.\\}\n.el \\{\\\n.sp -1\n.IP \"  1.\" 4.2\n.\\}\nby sea\n"
        )
        page += ".RE\n.sp\nEnd.\n"
        assert outline("a.1", page)[2:] == [
            ("paragraph", 0, "", "These are known:"),
            ("item", 1, "These are known:", "-a, --all: Send all ships"),
            ("paragraph", 0, "-a, --all: Send all ships", "It's slow."),
            ("paragraph", 0, "-a, --all: Send all ships", "Spare @ sea."),
            ("item", 1, "These are known:", "-q: Quiet."),
            ("paragraph", 0, "", "More:"),
            ("item", 2, "More:", "1. by sea"),
            ("paragraph", 0, "", "End."),
        ]

    def test_terms_within_the_explanation_of_a_term_are_a_list_of_their_own(self):
        page = ".TH A 1\n.SH A\n.sp\n\\fBmode\\fP\n.RS 4\nIt guards.\n.sp\nThere are two:\n"
        page += "".join(f".sp\n\\fB{name}\\fP\n.RS 4\nIt {name}s.\n.RE\n" for name in ("mix", "mend"))
        page += ".RE\n.sp\n\\fBlimit\\fP\n.RS 4\nIt ends.\n.RE\n"
        assert outline("a.1", page)[2:] == [
            ("item", 1, "", "mode: It guards."),
            ("paragraph", 0, "mode: It guards.", "There are two:"),
            ("item", 2, "There are two:", "mix: It mixs."),
            ("item", 2, "There are two:", "mend: It mends."),
            ("item", 1, "", "limit: It ends."),
        ]

    def test_terms_and_code_as_pod2man_writes_them(self):
        page = '.TH A 1\n.SH A\n.ie n .IP """tide"" (\\fB\\s-1LOW\\s0\\fR)" 4\n.el .IP "``tide\'\' (LOW)" 4\n'
        page += ".IX Item tide\nWait.\n.Sp\nThen go:\n.Vb 1\n\\&    a  b\n.Ve\n"
        assert [text for *_, text in outline("a.1ssl", page)][2:] == [
            "tide (LOW): Wait.",
            "Then go:",
            "    a  b",
        ]

    def test_strings_that_a_page_defines(self):
        page = '.ie n \\{\\\n.    ds MP "low water\n.\\}\n.el .ds MP high water\n.TH A 1\n.SH A\nWait for \\*(MP or\n'
        page += "\\*(Aqtide\\*(Aq of \\*[MP]\\*(zz.\n"
        assert [text for *_, text in outline("a.1", page)][2:] == [
            "Wait for low water or 'tide' of low water."
        ]

    def test_addresses_of_links(self):
        page = ".TH A 1\n.SH A\nSee\n.UR https://a.example\nthe harbour\n.UE .\nAsk\n"
        page += '.MTO "ann\\(atb.example" "Ann" ","\nor\n.URL "https://b.example" "" ""\n'
        said = "See the harbour <https://a.example>. Ask Ann <ann@b.example>, or <https://b.example>"
        assert [text for *_, text in outline("a.1", page)][2:] == [said]

    def test_terms_as_help2man_hung_them(self):
        page = ".SH A\n.HP\n\\fB\\-i[SUFFIX]\\fR\n.IP\nedit files in place\n.HP\nno term\n.PP\nmore\n"
        assert [text for *_, text in outline("a.1", page)] == [
            "A", "-i[SUFFIX]: edit files in place", "no term", "more"
        ]  # fmt: skip

    def test_a_page_that_points_to_another_one(self):
        with pytest.raises(UnreadableFile, match="only points to man7/select; index that one"):
            load(Path("with.7"), b'.\\" an alias\n.so man7/select\n')

    def test_a_table(self):
        page = ".SH A\n.TS\ntab(@);\nl l.\nT{\nName\nT}@Role\n_\n\\&.C@captain\nBo@T{\nthe\ncook\nT}\n.TE\n"
        assert [text for *_, text in outline("a.1", page)] == [
            "A", "Name | Role", "Name: .C; Role: captain", "Name: Bo; Role: the cook"
        ]  # fmt: skip

    def test_compressed_ones_and_other_files_with_a_number(self):
        page = b".TH A 1\n.SH NAME\na \\- b\n"
        assert document_of("a.1.gz", gzip.compress(page)).text == document_of("a.1", page).text
        assert document_of("server.log.1", "One line.\n").text == "One line."
        assert kind_of(Path("a.zip.gz")) == ""
        assert whole_texts(Path("a.1.gz"), gzip.compress(page))[0].text == page.decode()

    @pytest.mark.parametrize(
        ("data", "says"), [(b"no", "not a gzip file"), (gzip.compress(b"0" * 30_000_000), "unpacks to more")]
    )
    def test_what_is_refused(self, data, says):
        with pytest.raises(UnreadableFile, match=says):
            load(Path("a.txt.gz"), data)


class TestXml:
    def test_a_book(self):
        book = (
            '<!DOCTYPE book PUBLIC "x" "x.dtd" [<!ENTITY v "2.3">]><book><title>Guide &v;</title>'
            "<chapter><title>Fees&nbsp;list</title>"
            "<para>It is <emphasis>4</emphasis> euros<footnote><para>In May.</para></footnote>.</para>"
            "<itemizedlist><listitem><para>Zone A</para><itemizedlist><listitem><para>day: 3</para>"
            "</listitem>"
            "</itemizedlist></listitem></itemizedlist><variablelist><varlistentry><term>-p</term>"
            "<listitem><para>The port."
            "</para></listitem></varlistentry></variablelist><table><title>Rooms</title><tgroup>"
            "<thead><row><entry>Room"
            "</entry><entry>Fee</entry></row></thead><tbody><row><entry morerows='1'>Attic</entry>"
            "<entry>3</entry></row>"
            "<row><entry>4</entry></row></tbody></tgroup></table><screen>a\n  b</screen></chapter></book>"
        )
        assert outline("a.xml", book) == [
            ("heading", 1, "", "Guide 2.3"),
            ("heading", 2, "", "Fees list"),
            ("paragraph", 0, "", "It is 4 euros [In May.] ."),
            ("item", 1, "It is 4 euros [In May.] .", "- Zone A"),
            ("item", 2, "- Zone A", "- day: 3"),
            ("aside", 1, "", "-p"),
            ("item", 1, "-p", "The port."),
            ("paragraph", 0, "", "Rooms"),
            ("aside", 0, "Rooms", "Room | Fee"),
            ("row", 0, "Rooms", "Room: Attic; Fee: 3"),
            ("row", 0, "Rooms", "Room: Attic; Fee: 4"),
            ("code", 0, "", "a\n  b"),
        ]

    def test_data_and_feeds_say_the_path_of_their_elements(self):
        feed = (
            "<rss><channel><item><title>Ferry</title><description>"
            "&lt;p&gt;It sails &lt;b&gt;at nine.&lt;/b&gt;&lt;/p&gt;"
            "</description></item><item id='7'><title>Crane</title></item></channel></rss>"
        )
        assert [text for kind, *_, text in outline("a.rss", feed) if kind == "row"] == [
            "channel > item > Ferry; title: Ferry; description: It sails at nine.",
            "channel > item > Crane; id: 7; title: Crane",
        ]

    def test_encodings_that_it_declares(self):
        text = '<?xml version="1.0" encoding="Shift_JIS"?><a><p>\u65e5\u672c</p></a>'
        assert document_of("a.xml", text.encode("shift_jis")).text == "\u65e5\u672c"

    @pytest.mark.parametrize(
        ("data", "says"),
        [
            (b"<a>", "not valid XML"),
            (b"<a>&none;</a>", "not valid XML"),
            (b"<p>" * 50_000 + b"</p>" * 50_000, "nested too deep"),
            (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "not valid XML|no text"),
        ],
    )
    def test_what_is_refused(self, data, says):
        with pytest.raises(UnreadableFile, match=says):
            document_of("a.xml", data)


class TestLatex:
    def test_sections_notes_lists_tables_and_code(self):
        source = (
            "% a remark\n\\documentclass{article}\\title{Fees \\& rules}\n\\begin{document}\n"
            "\\section*{Fees}\n"
            "It is 40\\,euros\\footnote{Only in \\emph{May}.} for $10^{6}$ cells -- 5\\% of $H_2O$. "
            "\\sout{Not this.}\n\n"
            "\\begin{itemize}\\item Zone A\n"
            '\\begin{itemize}\\item day: 3\\end{itemize}\\item[b] Gr\\"u{\\ss}e\\end{itemize}\n'
            "\\begin{tabular}{ll}\\hline Zone & Day \\\\ \\hline "
            "A & 3 \\\\ B & \\textbf{4} \\\\ \\hline\\end{tabular}\n"
            "\\begin{verbatim}\na % b\n\\end{verbatim}\n\\end{document}"
        )
        assert outline("a.tex", source) == [
            ("heading", 2, "", "Fees"),
            ("paragraph", 0, "", "It is 40 euros for 10^6 cells – 5% of H2O."),
            ("paragraph", 0, "It is 40 euros for 10^6 cells – 5% of H2O.", "Only in May."),
            ("item", 1, "It is 40 euros for 10^6 cells – 5% of H2O.", "- Zone A"),
            ("item", 2, "- Zone A", "- day: 3"),
            ("item", 1, "It is 40 euros for 10^6 cells – 5% of H2O.", "- b: Grüße"),
            ("aside", 0, "", "Zone | Day"),
            ("row", 0, "", "Zone: A; Day: 3"),
            ("row", 0, "", "Zone: B; Day: 4"),
            ("code", 0, "", "a % b"),
        ]
        document = document_of("a.tex", source)
        assert (document.title, document.hidden) == ("Fees & rules", len("Not this."))
        assert [block.line for block in document.blocks if block.line] == [5, 7, 8, 8]

    def test_a_table_over_pages_says_its_names_once(self):
        source = (
            "\\begin{longtable}{ll}\\caption{Crew}\\tabularnewline\\toprule Name & Cabin \\\\ \\midrule\\endfirsthead"
            "\\toprule Name & Cabin \\\\ \\midrule\\endhead Ann & 007 \\\\ Bo & 012 \\\\ \\bottomrule\\end{longtable}"
        )
        assert [text for *_, text in outline("a.tex", source)] == [
            "Crew", "Name | Cabin", "Name: Ann; Cabin: 007", "Name: Bo; Cabin: 012"
        ]  # fmt: skip

    def test_deep_nesting_ends(self):
        assert "x" in document_of("a.tex", "x \\emph{" * 5_000).text
        assert document_of("a.tex", "\\def\\labelenumi{\\arabic{enumi}.} Close it.").text == "Close it."


class TestOrg:
    def test_it_is_read_as_the_markdown_that_says_the_same(self):
        source = (
            "#+TITLE: The ferry\n#+OPTIONS: toc:nil\n# a remark\n* Fees\n:PROPERTIES:\n:ID: 7\n"
            ":END:\nIt is 40, +30+ in\n"
            "[[http://x.org][May]].\n- Zone A\n  - day: 3\n** Rooms\n| Room | Fee |\n|------+-----|\n"
            "| Attic | 3 |\n"
            "#+begin_src sh\n* a\n#+end_src\n"
        )
        assert [(kind, text) for kind, _, _, text in outline("a.org", source)][:6] == [
            ("heading", "The ferry"),
            ("heading", "# Fees"),
            ("paragraph", "It is 40,        in\nMay."),
            ("item", "- Zone A"),
            ("item", "  - day: 3".strip()),
            ("heading", "## Rooms"),
        ]
        assert document_of("a.org", "10^{6} of H_{2}O").text == "10^6 of H_2O"
        document = document_of("a.org", source)
        assert document.title == "The ferry"
        assert "Room: Attic; Fee: 3" in document.text
        assert "remark" not in document.text
        assert (
            next(block.line for block in document.blocks if "Attic" in document.text[block.start : block.end])
            == 15
        )


class TestOutlook:
    def test_a_message_with_what_is_attached(self):
        texts = {
            "0037": "Key",
            "0C1A": "Ann Vos",
            "5D01": "ann@x.org",
            "1000": "It hangs at the slipway.\r\n",
        }
        sent = b"\x40\x00\x39\x00\x06\0\0\0" + (133_170_048_000_000_000).to_bytes(8, "little")
        streams = {
            f"__substg1.0_{tag}001F": text.ljust(2_048).encode("utf-16-le") for tag, text in texts.items()
        }
        attached = "__attach_version1.0_#00000000/__substg1.0_37"
        more = {
            "__substg1.0_0E04001E": b"Bob".ljust(4_096),
            "__properties_version1.0": (bytes(32) + sent).ljust(4_096, b"\0"),
            f"{attached}07001F": "fees.txt".ljust(2_048).encode("utf-16-le"),
            f"{attached}010102": b"It is 40 euros.".ljust(4_096),
        }
        message = compound(streams | more)
        mail, attached = load(Path("a.msg"), message)
        assert mail.text.split("\n\n")[:3] == [
            "Key",
            "From: Ann Vos <ann@x.org>\nTo: Bob\nDate: Sun, 01 Jan 2023 00:00:00 +0000",
            "It hangs at the slipway.",
        ]
        assert (attached.fragment, attached.text.strip()) == ("fees.txt", "It is 40 euros.")
        assert "slipway" in whole_texts(Path("a.msg"), message)[0].text

    def test_a_message_that_is_attached_is_read(self):
        inside = "__attach_version1.0_#00000000/__substg1.0_3701000D/__"
        sent = b"\x40\x00\x39\x00\x06\0\0\0" + (133_170_048_000_000_000).to_bytes(8, "little")
        texts = {"__substg1.0_0037001F": "Fw", f"{inside}substg1.0_0037001F": "Key"}
        texts[f"{inside}substg1.0_1000001F"] = "It hangs at the slipway."
        streams = {name: text.ljust(2_048).encode("utf-16-le") for name, text in texts.items()}
        streams[f"{inside}properties_version1.0"] = (bytes(24) + sent).ljust(4_096, b"\0")
        outer, inner = load(Path("a.msg"), compound(streams))
        assert (outer.title, inner.fragment, inner.title) == ("Fw", "Key", "Key")
        assert "- Key" in outer.text
        assert "Date: Sun, 01 Jan 2023" in inner.text
        assert "slipway" in inner.text

    @pytest.mark.parametrize("data", [b"no", compound({})[:700]])
    def test_what_is_refused(self, data):
        with pytest.raises(UnreadableFile, match="message of Outlook is broken"):
            load(Path("a.msg"), data)


class TestTranslations:
    HEAD = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'

    def test_a_text_and_its_translation_are_one_row(self):
        entries = (
            '#. on the start page\n#: a.py:1\nmsgid "Your trial "\n"ends.\\n"\nmsgstr "Ihre Testphase endet."\n'
            '#, fuzzy\nmsgctxt "menu"\nmsgid "Log off"\nmsgstr "Abmelden"\n\n'
            '#, c-format\nmsgid "%d \\"file\\""\nmsgid_plural "%d files"\n'
            'msgstr[0] "%d Datei"\nmsgstr[1] "%d Dateien"\n'
            '\nmsgid "Help"\nmsgstr ""\n\n#~ msgid "Old"\n#~ msgstr "Alt"\n'
        )
        said = outline("de.po", self.HEAD + entries)
        assert [text for kind, _, _, text in said if kind == "row"] == [
            "Text: Your trial ends.; Translation (de): Ihre Testphase endet.; Comment: on the start page",
            "Text: Log off; Translation (de): Abmelden (fuzzy); Context: menu",
            'Text: %d "file" / %d files; Translation (de): %d Datei / %d Dateien',
            "Text: Help; Translation (de): none",
        ]

    def test_what_is_refused(self):
        with pytest.raises(UnreadableFile, match="no text with a translation"):
            load(Path("de.po"), self.HEAD.encode())


def test_what_other_files_include_is_read_as_they_are():
    assert [kind_of(Path(name)) for name in ("a.rst.inc", "b.MD.inc", "c.inc", "d.exe.inc")] == [
        ".rst", ".md", "", "",
    ]  # fmt: skip


def test_code_below_two_colons_alone_comes_with_the_paragraph_above_them():
    found = document_of("a.rst", "To stop it, do this:\n\n::\n\n    run\n\n    stop\n")
    assert [(block.kind.value, block.intro) for block in found.blocks] == [
        ("paragraph", -1), ("aside", -1), ("code", 0),
    ]  # fmt: skip
