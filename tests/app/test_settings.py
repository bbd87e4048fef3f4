"""Settings survive; broken ones are named and never overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import AppError
from app.settings import (
    ModelSettings,
    SandboxSettings,
    Settings,
    UndoSettings,
    load_settings,
    save_settings,
)


def test_settings_read_back_as_written(tmp_path: Path) -> None:
    wanted = Settings(
        theme="dark", model=ModelSettings(threads=3), sandbox=SandboxSettings(memory_mib=64)
    )
    save_settings(tmp_path / "settings.json", wanted)
    assert load_settings(tmp_path / "settings.json") == wanted
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "settings.json") == Settings()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"theme": "pink"}', "theme"),
        ('{"model": {"threads": -1}}', "model.threads"),
        ('{"unknown": 1}', "unknown"),
        ("{", "file"),
        ("[]", "file"),
    ],
)
def test_a_wrong_file_names_the_field(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AppError, match=named):
        load_settings(path)
    assert path.read_text(encoding="utf-8") == text


def test_saving_over_a_broken_file_keeps_it_aside(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{", encoding="utf-8")
    save_settings(path, Settings())
    assert (tmp_path / "settings.json.broken").read_text(encoding="utf-8") == "{"
    assert load_settings(path) == Settings()


def test_limits_carry_the_settings_in_their_own_units() -> None:
    limits = SandboxSettings(memory_mib=32, interpreter_s=1.5, file_calls=7, tool_calls=3).limits()
    assert (limits.memory_bytes, limits.interpreter_s) == (32 * 1024 * 1024, 1.5)
    assert (limits.file_calls, limits.tool_calls) == (7, 3)


def test_undo_is_bounded_by_default_and_nought_means_without_bound() -> None:
    policy = Settings().undo.policy()
    assert (policy.age_s, policy.size_bytes) == (30 * 86_400, 10 * 1024**3)
    policy = UndoSettings(keep_days=0, keep_mib=0).policy()
    assert (policy.age_s, policy.size_bytes) == (None, None)
