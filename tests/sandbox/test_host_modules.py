"""The host's modules: what they give, and that files they touch are the stage's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.host_modules import FILE_FUNCTION_NAMES, PURE_FUNCTIONS, external_modules
from sandbox.pool import SandboxPool
from tests.sandbox.running import fill, run_here, tree_on_disk, tree_on_stage


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


def test_every_module_has_a_stub_for_each_function() -> None:
    modules = external_modules()
    parse = modules["urllib"].attrs["parse"]
    for dotted in [
        *PURE_FUNCTIONS,
        *(f"{m}.{f}" for m, fs in FILE_FUNCTION_NAMES.items() for f in fs),
    ]:
        module, _, function = dotted.rpartition(".")
        stubs = (parse if module == "urllib.parse" else modules[module]).stubs
        assert f"def {function}(" in (stubs or ""), dotted


SHUTIL: dict[str, tuple[str, set[str]]] = {
    "copy into a folder that is missing makes it": (
        "shutil.copy('a.txt', 'new/folder/b.txt')",
        {"new/folder/b.txt", "new", "new/folder"},
    ),
    "move a folder into a folder": (
        "shutil.move('sub', 'other')",
        {"other/sub/x.txt", "other/sub"},
    ),
    "copytree onto an existing folder": (
        "shutil.copytree('sub', 'other', dirs_exist_ok=True)",
        {"other/x.txt"},
    ),
    "copytree into itself ends": ("shutil.copytree('sub', 'sub/inner')", {"sub/inner/x.txt"}),
}


@pytest.mark.parametrize("name", SHUTIL)
def test_shutil_works_on_the_stage_alone(name: str, tmp_path: Path, pool: SandboxPool) -> None:
    call, expected = SHUTIL[name]
    folder = tmp_path / "work"
    fill(folder, {"a.txt": "a", "sub/x.txt": "x", "other/": ""})
    before = tree_on_disk(folder)
    ran = run_here(f"import shutil\n{call}\n", folder, pool)
    assert ran.outcome.fault is None
    assert expected <= set(tree_on_stage(ran.stage))
    assert tree_on_disk(folder) == before


WRONG: dict[str, tuple[str, str]] = {
    "copytree onto a folder": ("shutil.copytree('sub', 'other')", "FileExistsError"),
    "rmtree of a file": ("shutil.rmtree('a.txt')", "NotADirectoryError"),
    "rmtree of nothing": ("shutil.rmtree('nope')", "FileNotFoundError"),
    "copy of a folder": ("shutil.copy('sub', 'x')", "IsADirectoryError"),
    "copy onto itself": ("shutil.copy('a.txt', 'a.txt')", "OSError"),
    "move onto the same name": ("shutil.move('a.txt', 'third')", "OSError"),
    "copy out of the folder": ("shutil.copy('a.txt', '/tmp/x')", "PermissionError"),
    "wrong arguments": ("shutil.copy('a.txt')", "TypeError"),
    "a path that is none": ("shutil.copy(3, 'x')", "TypeError"),
}


@pytest.mark.parametrize("name", WRONG)
def test_shutil_fails_as_in_python(name: str, tmp_path: Path, pool: SandboxPool) -> None:
    call, kind = WRONG[name]
    folder = tmp_path / "work"
    fill(folder, {"a.txt": "a", "sub/x.txt": "x", "other/": "", "third/a.txt": "b"})
    fault = run_here(f"import shutil\n{call}\n", folder, pool).outcome.fault
    assert fault is not None
    assert fault.type == kind
    assert fault.line == 2


def test_texts_that_are_too_long_are_not_compared(tmp_path: Path, pool: SandboxPool) -> None:
    folder = tmp_path / "work"
    fill(folder, {})
    source = "import difflib\ndifflib.get_close_matches('a' * 300000, ['b' * 300000])\n"
    fault = run_here(source, folder, pool).outcome.fault
    assert fault is not None
    assert fault.type == "ValueError"
