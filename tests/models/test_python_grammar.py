"""The grammar of programs: what is Python gets through, what is not does not. By a real sampler."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from models.python_grammar import python_grammar
from models.recipes import load_recipes

ROOT = Path(__file__).resolve().parents[2]
RULE = re.compile(r"^([a-z][a-z0-9]*) ::=", re.MULTILINE)
GOOD = [
    "print(1)",
    "import os, sys as s\nfrom . import a\nfrom a.b import (c as d,\n    e,)\nx = 1",
    "for p in sorted(Path('.').rglob('*')):\n    if p.is_file() and not p.name.startswith('.'):\n"
    "        p.rename(p.with_name(f\"{p.stem!r:>10}{d['a']}.txt\"))\n"
    "    else:\n        pass\nprint('x')",
    "def f(a, /, b: int = 1, *args: str, c, **kw) -> list[int]:\n    return [x for x in a if x]\n",
    "async def g():\n    async with a() as b, c:\n        await b.d()\n",
    "class A(B, metaclass=C):\n    x: int = 1\n\n    @property\n    def y(self): return self.x\n",
    "try:\n    x = {**a, 'b': 1}\nexcept (OSError, ValueError) as e:\n    raise E(1) from e\n"
    "else:\n    x += 1\nfinally:\n    del x",
    "with open('a') as f, open('b', 'w') as g:\n    g.write(f.read())  # done",
    "x = lambda a, *b: (a, *b)\ny = a if b else c\nz = not a in b\nw = a[1:2, ::3]\n",
    "s = '''a\n b'' c'''\nt = r'\\d+' r'x'\nu = \"\"\nv = f'{x:{y}}'\nw = 0xFF + 1_000.5e-3",
    "match x:\n    case {'a': 1, **rest} if rest:\n        pass\n    case _:\n        pass",
    "x = (\n    a\n    .b()\n    # said\n    .c(1,\n       d=2)\n)\nwhile x := next(y):\n    break",
    "def f[T](x: T) -> T:\n    yield x\n    y = yield from x\ntype X = list[int]",
    "größe = {k: v for k, v in a.items() if v}; print(größe)\n\n\nassert größe, 'none'",
]
BAD = [
    "print(1",
    "x = [1, 2",
    "x = 'a",
    "for p in x\n    pass",
    "for p in x:\nprint(p)",
    "if x:\n",
    "print 'x'",
    "x = = 1",
    "def f(:\n    pass",
    "a b",
    "x = f'{a'",
    "  x = 1",
    "else:\n    pass",
    "x = '''a",
]

JUDGE = """
import ctypes, math, sys, json
import llama_cpp
from models.python_grammar import python_grammar
llama = llama_cpp.Llama(sys.argv[1], vocab_only=True, verbose=False)
vocab = llama_cpp.llama_model_get_vocab(llama.model)
def passes(source):
    sampler = llama_cpp.llama_sampler_init_grammar(vocab, python_grammar().encode(), b"root")
    assert sampler
    tokens = llama.tokenize((source + "\\n```").encode(), add_bos=False)
    for token in [*tokens, llama.token_eos()]:
        data = (llama_cpp.llama_token_data * 1)(llama_cpp.llama_token_data(token, 1.0, 0.0))
        array = llama_cpp.llama_token_data_array(data=data, size=1, selected=-1, sorted=False)
        llama_cpp.llama_sampler_apply(sampler, ctypes.byref(array))
        if math.isinf(data[0].logit):
            return False
        llama_cpp.llama_sampler_accept(sampler, token)
    return True
print(json.dumps([passes(source) for source in json.load(sys.stdin)]))
"""


def passing(model: Path, sources: list[str]) -> list[bool]:
    """Which of these llama.cpp lets through to the end, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", JUDGE, str(model)],
        input=json.dumps(sources),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_every_rule_that_is_used_is_there_once() -> None:
    text = python_grammar()
    rules = RULE.findall(text)
    assert len(rules) == len(set(rules))
    plain = re.sub(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]', "", text)
    assert set(re.findall(r"[a-z][a-z0-9]*", plain)) == set(rules)


@pytest.mark.real_model
def test_programs_get_through(real_model: Path) -> None:
    sources = [*GOOD, *(recipe.program for recipe in load_recipes())]
    for source in sources:
        compile(source, "program", "exec")
    assert [s for s, ok in zip(sources, passing(real_model, sources), strict=True) if not ok] == []


@pytest.mark.real_model
def test_what_is_no_program_does_not(real_model: Path) -> None:
    for source in BAD:
        with pytest.raises(SyntaxError):
            compile(source, "program", "exec")
    assert [s for s, ok in zip(BAD, passing(real_model, BAD), strict=True) if ok] == []
