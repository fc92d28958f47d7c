import pytest

from equipoise.core.errors import InputError
from equipoise_lab.evaluation.results import Lines, encoded


def row(name, number=1, **more):
    return {"name": name, "number": number, **more}


def test_rows_come_back_and_are_put_in_order(tmp_path):
    path = tmp_path / "deep" / "rows.jsonl"
    with Lines(path, ("name", "number")) as lines:
        for line in (row("b", 2), row("b", 1, word="é"), row("a", 10)):
            lines.append(line)
        assert ("b", 1) in lines
        assert ("b", 3) not in lines
        lines.finish()
    ordered = [row("a", 10), row("b", 1, word="é"), row("b", 2)]
    assert path.read_bytes() == b"".join(map(encoded, ordered))
    assert Lines(path, ("name", "number")).rows() == ordered


def test_half_a_last_line_is_dropped_and_the_next_one_is_whole(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(encoded(row("a")) + b'{"name":"b","num')
    with Lines(path, ("name", "number")) as lines:
        assert [line["name"] for line in lines.rows()] == ["a"]
        lines.append(row("c"))
    assert path.read_bytes() == encoded(row("a")) + encoded(row("c"))


@pytest.mark.parametrize(
    ("line", "why"), [(b"{]", "not a row"), (b'{"name":1}', "'number'"), (b"5", "not a row")]
)
def test_a_broken_line_is_refused_with_its_number(tmp_path, line, why):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(encoded(row("a")) + line + b"\n")
    with pytest.raises(InputError, match=f"rows.jsonl:2: .*{why}"):
        Lines(path, ("name", "number"))


def test_a_repeated_key_keeps_the_last_row(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(encoded(row("a", word="old")) + encoded(row("a", word="new")))
    assert Lines(path, ("name", "number")).finish() == [row("a", word="new")]


def test_nan_is_not_written():
    with pytest.raises(ValueError, match="JSON"):
        encoded({"a": float("nan")})
