"""Whatever happens to the standard streams, the folder or the settings: one clear line and an exit code."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.apps import guard
from equipoise.core import settings as layers
from equipoise.core.errors import InputError
from processes_cli import COMMAND, environment, piped

QUESTION = "When does the office open?"
TEXT = "The café office opens at half past eight — in the morning ☕."
ASK = ("ask", QUESTION, "--llm", "none")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with an index over one document that is not ASCII."""
    folder = tmp_path_factory.mktemp("office")
    (folder / "café.md").write_text(TEXT, "utf-8")
    done = piped("index", "café.md", cwd=folder, env=environment(folder))
    assert done.returncode == 0, done.stderr
    return folder


def is_one_clear_line(err):
    text = err.decode("utf-8", "replace")
    return text.startswith("equipoise: ") and text.count("\n") == 1 and "Traceback" not in text


class TestStreams:
    @pytest.mark.parametrize("how", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
    def test_ascii_output_shows_and_does_not_raise(self, home, how):
        env = environment(home, PYTHONCOERCECLOCALE="0", **how)
        done = piped(*ASK, cwd=home, env=env)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"caf\\xe9" in done.stdout
        done = piped("config", "show", cwd=home, env=env)
        assert (done.returncode, done.stderr) == (0, b"")
        done = piped(*ASK, "--json", cwd=home, env=env)
        assert done.stdout.isascii()
        assert json.loads(done.stdout)["highlights"][0]["text"] == TEXT

    def test_a_full_disk_is_one_line(self, home):
        for arguments in (ASK, (*ASK, "--json"), ("config", "show"), ("ask", "--help")):
            with Path("/dev/full").open("wb") as full:
                done = piped(*arguments, cwd=home, env=environment(home), stdout=full)
            assert done.returncode == 3, arguments
            assert is_one_clear_line(done.stderr), done.stderr

    def test_full_streams_both(self, home):
        with Path("/dev/full").open("wb") as full:
            assert piped(*ASK, cwd=home, env=environment(home), stdout=full, stderr=full).returncode == 3

    @pytest.mark.parametrize("arguments", [ASK, (*ASK, "--json"), ("config", "show"), ("models", "list")])
    def test_a_reader_that_has_gone_ends_it_quietly(self, home, arguments):
        read, write = os.pipe()
        os.close(read)
        done = piped(*arguments, cwd=home, env=environment(home), stdout=write)
        os.close(write)
        assert (done.returncode, done.stderr) == (141, b"")

    @pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
    def test_closed_streams(self, home, closed):
        with (home / "café.md").open("a") as file:
            file.write(" ")  # a changed file: the index is written
        shut = "; ".join(f"os.close({number})" for number in closed)
        code = f"import os, sys; {shut}; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
        done = subprocess.run(
            [sys.executable, "-c", code, *COMMAND[1:], "index", "café.md"],
            cwd=home, env=environment(home), capture_output=True, timeout=550, check=False,
        )  # fmt: skip
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr + done.stdout
        assert piped(*ASK, cwd=home, env=environment(home)).returncode == 0

    def test_a_question_that_is_no_text(self, home):
        for question in (b"When does \xff the office open?", b"When\xed\xa0\x80 does the office open?"):
            for more in ((), ("--json",)):
                done = piped("ask", question, "--llm", "none", *more, cwd=home, env=environment(home))
                assert (done.returncode, is_one_clear_line(done.stderr)) == (2, True)

    def test_a_chat_over_a_pipe_of_rubbish(self, home):
        rubbish = b"\xff\xfe\n\x00\n\x1b[2J\n" + b"?" * 5000 + b"\n" + QUESTION.encode()
        done = piped("chat", "--llm", "none", cwd=home, env=environment(home), input=rubbish, stdin=None)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"half past eight" in done.stdout
        assert b"\x1b" not in done.stdout


class TestFolders:
    @pytest.mark.parametrize(
        "arguments", [ASK, ("index", "x"), ("config", "show"), ("config", "trust"), ("models", "list")]
    )
    def test_a_current_folder_that_is_gone(self, tmp_path, arguments):
        gone = tmp_path / "gone"
        gone.mkdir()
        code = "import os, sys; os.rmdir(os.getcwd()); " + COMMAND[2]
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=gone, env=environment(tmp_path), capture_output=True, timeout=550, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert is_one_clear_line(done.stderr)
        assert b"current folder is gone" in done.stderr

    @pytest.mark.parametrize(
        "make",
        [
            os.mkfifo,
            lambda path: path.symlink_to("/dev/zero"),
            lambda path: path.symlink_to("/dev/tty"),
            lambda path: path.symlink_to("/proc/self/mem"),  # a regular file that cannot be read
            lambda path: path.mkdir(),
            lambda path: path.symlink_to(path.name),
            lambda path: path.write_bytes(b"\xff\xfe"),
            lambda path: path.write_bytes(b"\0"),
            lambda path: path.write_bytes(b"#" * 70_000),
            lambda path: path.write_text("[model]\nfolder = " + "[" * 20_000),
            lambda path: path.write_text("[retrieval]\nk = " + "9" * 5000),
            lambda path: path.write_text("a." * 30_000 + "a = 1"),
            lambda path: path.write_text('["' + "s" * 60_000 + '"]\nx = 1'),
        ],
    )
    @pytest.mark.parametrize("place", ["equipoise.toml", "config/equipoise/config.toml"])
    def test_odd_settings_files(self, run, tmp_path, make, place):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)
        for arguments in (("config", "show"), ASK):
            code, out, err = run(*arguments)
            assert (code, out) == (2, "")
            assert is_one_clear_line(err.encode())
            assert path.name in err
            assert len(err) < 1000

    @pytest.mark.parametrize(
        "make",
        [
            lambda path: path.symlink_to("/dev/zero"),
            lambda path: path.write_text("a." * 30_000 + "a = 1"),
        ],
    )
    def test_no_settings_file_costs_memory(self, tmp_path, make):
        make(tmp_path / "equipoise.toml")
        few = "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); "
        done = subprocess.run(
            [*COMMAND[:2], few + COMMAND[2], "config", "show"],
            cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=550, check=False,
        )  # fmt: skip
        assert (done.returncode, is_one_clear_line(done.stderr)) == (2, True)
        assert b"equipoise.toml" in done.stderr


class TestLastResort:
    def failing(self, error):
        def command():
            raise error

        return command

    @pytest.mark.parametrize(
        ("error", "code", "said"),
        [
            (InputError("no such thing"), 2, "equipoise: no such thing\n"),
            (InputError("two\nlines\x1b[2J"), 2, "equipoise: two\\nlines\\x1b[2J\n"),
            (FileNotFoundError(2, "No such file or directory", "a\nb"), 3, "a\\nb: No such file"),
            (PermissionError(13, "Permission denied", b"\xff.db"), 3, "Permission denied"),
            (MemoryError(), 3, "not enough memory"),
            (KeyError("x" * 10_000), 3, "should not happen (KeyError"),
            (RecursionError("deep"), 3, "please report it"),
        ],
    )
    def test_every_error_is_one_line(self, capsys, monkeypatch, error, code, said):
        monkeypatch.delenv(guard.DEBUG, raising=False)
        assert guard.run(self.failing(error)) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err
        assert is_one_clear_line(err.encode("utf-8", "surrogateescape"))
        assert len(err) < 5000

    def test_interrupts(self, capsys):
        assert guard.run(self.failing(KeyboardInterrupt())) == 130
        assert capsys.readouterr() == ("", "")

    def test_a_traceback_where_it_is_asked_for(self, monkeypatch, run, capsys):
        monkeypatch.setenv(guard.DEBUG, "1")
        assert guard.run(self.failing(KeyError("odd"))) == 3
        assert "Traceback" in capsys.readouterr().err
        monkeypatch.setenv(guard.DEBUG, "0")
        monkeypatch.setattr(layers, "load", self.failing_load)
        code, _, err = run("models", "list")
        assert (code, "Traceback" in err, "should not happen" in err) == (3, False, True)
        code, _, err = run("--debug", "models", "list")
        assert (code, "Traceback" in err) == (3, True)

    @staticmethod
    def failing_load(*_, **__):
        raise ZeroDivisionError("unexpected")

    def test_ctrl_c_in_a_chat(self, home):
        hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        with subprocess.Popen(
            [*COMMAND[:2], hears + COMMAND[2], "chat", "--llm", "none"],
            cwd=home, env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert b"Type a question" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=550)
        assert (process.returncode, err) == (130, b"")
        assert b"Traceback" not in out
