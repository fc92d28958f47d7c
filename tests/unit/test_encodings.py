"""Files that do not say their encoding: it is found, said in the report, and never guessed into mojibake silently."""

import pytest

from blocks_of import document_of
from equipoise.corpus.indexing import index
from equipoise.corpus.store import open_store
from hashed_words import HashedWords

ZH = "渡轮每天早上七点从旧码头出发。学生票十二元。冬季停航两个月。"
TEXTS = [
    ("gb18030", ZH),
    ("big5", "渡輪每天早上七點從舊碼頭出發。學生票十二元。冬季停航兩個月。"),
    ("shift_jis", "渡し船は毎朝七時に古い桟橋を出ます。学生の切符は十二円です。"),
    ("euc_jp", "渡し船は毎朝七時に古い桟橋を出ます。学生の切符は十二円です。"),
    ("iso2022_jp", "渡し船は毎朝七時に古い桟橋を出ます。"),
    ("euc_kr", "나룻배는 매일 아침 일곱 시에 옛 부두에서 떠납니다."),
    (
        "koi8_r",
        "Паром отходит каждое утро в семь часов от старой пристани. Билет для студентов стоит двенадцать рублей.",
    ),
    ("cp1251", "Паром отходит каждое утро в семь часов от старой пристани."),
    ("cp866", "Паром отходит каждое утро в семь часов от старой пристани."),
    ("cp1253", "Το πλοίο φεύγει κάθε πρωί στις επτά από την παλιά προβλήτα."),
    ("cp1250", "Prom odpływa każdego ranka o siódmej ze starej przystani, bilet kosztuje dwanaście złotych."),
    ("iso8859_2", "Loď odplouvá každé ráno v sedm hodin, jízdné pro žáky činí dvanáct korun."),
    ("cp1252", "The ferry “Æsa” costs 12 € – crème brûlée included."),
    ("cp850", "Die Fähre fährt täglich um sieben, für Schüler kostet sie zwölf Kronen."),
    ("utf_16_le", "The ferry leaves at seven. The naïve café opens at 8."),
    ("utf_16_be", "The ferry leaves at seven."),
    ("utf_32_le", "The ferry leaves at seven."),
    ("utf_16_le", ZH),
]


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
def test_the_encoding_is_found_and_said(encoding, text):
    document = document_of("a.txt", text.encode(encoding))
    assert document.text == text
    assert document.encoding


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_says_its_encoding_is_no_guess(encoding):
    document = document_of("a.txt", ZH.encode(encoding))
    assert (document.text, document.encoding) == (ZH, "")


def test_a_page_that_says_its_encoding_is_no_guess():
    page = f'<meta charset="gb18030"><body><p>{ZH}</p>'.encode("gb18030")
    assert document_of("a.html", page).encoding == ""


def test_few_damaged_places_spoil_nothing_else():
    data = "Der Zöllner öffnet täglich für Gäste.".encode().replace(b"\xc3\xbc", b"\xfc")
    assert document_of("a.txt", data).text == "Der Zöllner öffnet täglich f\ufffdr Gäste."


def test_rows_and_pages_are_read_in_it_too():
    rows = "船票;价格\n学生票;十二元\n成人票;二十元\n"
    assert "船票: 学生票; 价格: 十二元" in document_of("a.csv", rows.encode("gb18030")).text


def test_letters_typed_over_each_other_are_said_once():
    page = "N\bNA\bAM\bME\bE\n   ferry - cross a _\br_\bi_\bv_\be_\br\n\x1b[1mSEE ALSO\x1b[0m boat(1)\n"
    assert document_of("ferry.txt", page).text == "NAME\n   ferry - cross a river\nSEE ALSO boat(1)"


def test_the_report_says_which(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ferry.txt").write_bytes(ZH.encode("gb18030"))
    (tmp_path / "plain.txt").write_text("The ferry leaves at seven.", "utf-8")
    with open_store(str(tmp_path / "index.db"), create=True) as store:
        report = index(["ferry.txt", "plain.txt"], store, HashedWords())
    assert report.guessed == (("ferry.txt", "gb18030"),)
    assert report.unread == (("ferry.txt", "Chinese"),)
