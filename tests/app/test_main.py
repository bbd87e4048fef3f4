"""Starting: versions, missing screens, missing Qt libraries and homes that cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app import __main__ as start
from app import qt_check
from app.errors import AppError
from app.paths import open_home


@pytest.fixture
def argv(monkeypatch: pytest.MonkeyPatch):
    def set_to(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["drydock", *arguments])

    return set_to


def test_the_version_is_printed(argv, capsys: pytest.CaptureFixture[str]) -> None:
    argv("--version")
    assert start.main() == 0
    assert capsys.readouterr().out.startswith("drydock 0.")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_without_a_screen_the_headless_way_is_named(
    argv, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    argv()
    assert start.main() == 1
    assert "drydock run --demo" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="the packages are Debian's")
@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("libEGL.so.1: cannot open shared object file", ["libEGL.so.1 is missing", "libegl1"]),
        ("libGL.so.1: cannot open shared object file", ["libGL.so.1 is missing", "libgl1"]),
        ("something else", ["something else", "libegl1", "libxkbcommon0"]),
    ],
)
def test_a_missing_qt_library_names_the_packages(
    message: str,
    named: list[str],
    argv,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(name: str) -> None:
        raise ImportError(message)

    monkeypatch.setattr(qt_check.importlib, "import_module", fail)
    argv()
    assert start.main() == 1
    said = capsys.readouterr().err
    assert all(words in said for words in named), said
    assert "sudo apt-get install" in said


def test_a_home_is_made_private_with_its_parents(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("DRYDOCK_HOME", str(tmp_path / "a" / "b"))
    paths = open_home()
    assert paths.home == tmp_path / "a" / "b"
    assert paths.home.stat().st_mode & 0o077 == 0


def test_a_home_that_is_a_file_is_named(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DRYDOCK_HOME", str(tmp_path / "file"))
    with pytest.raises(AppError, match="file") as caught:
        open_home()
    assert "DRYDOCK_HOME" in caught.value.hint


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("DRYDOCK_HOME", str(tmp_path))
    monkeypatch.setattr("app.paths.os.access", lambda path, mode: False)
    with pytest.raises(AppError, match="cannot be written"):
        open_home()
