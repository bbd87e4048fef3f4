"""Decoding through Drydock's worker against bare llama-cpp-python, with look-up, with the grammar.

    python tests/benchmarks/bench_decoding.py --model qwen2.5-coder-1.5b --tasks 6 --threads 2

Requests are those of the shipped suite on its own folders, as a turn sends them. For each, a reply
at temperature 0 by: `bare` (llama-cpp-python's own loop in this process), `plain` (the worker
without look-up), `lookup` (the worker as it is), `grammar` (the worker with the program grammar),
one after the other, so that other work on the machine falls on all. One line per task goes to
standard error, then one JSON object to standard output: tokens a second of generation, ratios to
`bare` (by processor time too, which other work disturbs less), and whether replies were the same.
`--candidates N` prints instead what N replies to one request cost against one: they share the
evaluated prompt. `--batches` prints instead what one evaluation of 1 to 8
tokens costs, from which it follows what a drafting model could win.

Measured on two shared cores with 2 threads (2026-11): an evaluation of 4 tokens takes 2.2 times as
long as one of a single token with the 1.5B (102 and 46 ms). Three tokens drafted by the 0.5B (26 ms
each) and checked in one evaluation take 180 ms for at most 4 tokens, which the 1.5B writes in
184 ms alone: a drafting model cannot win here. Look-up drafts cost nothing to make. By processor
time (the cores were shared), 0.5B, one thread: bare 23.8 tokens a second, plain 22.4, look-up
29.1 (1.22 of bare). Five candidates took 1.64 times the wall time of one (1.86 by processor).
Over three tasks look-up took 12.0 s for what plain took 14.1 s, the same replies; the grammar
added 0.4 s. Of 344 programs that the models had written before, the grammar lets the
335 that are Python through and refuses the other 9 (2.6 %), which is what it can win: a setting.
Exit codes: 0 measured; 1 look-up changed a reply; 2 usage.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import llama_cpp
import psutil
from pydantic_ai.messages import ModelRequest, UserPromptPart

from app.engine.context import build_context
from app.engine.folders import open_grants
from app.engine.listing import list_folders
from app.lab.scripts import make_folder
from app.lab.suite import load_suite
from app.paths import Paths
from app.store.records import Folder
from models.catalog import load_catalog
from models.client import GenerateRequest, WorkerClient, WorkerSettings
from models.extract import extract_program
from models.library import require_model
from models.local import to_chat
from models.prompt import load_prompt
from models.protocol import ChatMessage
from sandbox.blobs import BlobStore
from sandbox.stage import Stage

DEFAULT_HOME = Path.home() / ".cache" / "drydock-tests"
CONTEXT_TOKENS = 4096
MOST_TOKENS = 160
WAYS = ("bare", "plain", "lookup", "grammar")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One reply. `per_s`: tokens a second after the first; `cpu_s`: processor time of it all."""

    text: str
    tokens: int
    per_s: float
    seconds: float
    cpu_s: float


def requests_of(
    family: str, model_id: str, count: int
) -> list[tuple[str, tuple[ChatMessage, ...]]]:
    """What a turn sends for the first `count` tasks of the suite."""
    prompt = load_prompt(family, model_id)
    made: list[tuple[str, tuple[ChatMessage, ...]]] = []
    tasks = load_suite("everyday").tasks
    step = max(1, len(tasks) // count)
    with tempfile.TemporaryDirectory(prefix="drydock-decoding-") as scratch:
        for task in tasks[::step][:count]:
            folder = Path(scratch) / task.name
            folder.mkdir()
            make_folder(task, folder, 1)
            grants = open_grants([Folder(path=str(folder))], Paths(home=Path(scratch) / "home"))
            stage = Stage(grants, BlobStore(Path(scratch) / "blobs"))
            context = build_context(
                prompt,
                request=task.instruction,
                listing=list_folders(stage, task.instruction, budget_tokens=640),
                earlier=(),
                context_tokens=CONTEXT_TOKENS,
                now=datetime(2024, 5, 6, tzinfo=UTC),
            )
            asked = ModelRequest(parts=[UserPromptPart(content=context.prompt)])
            chat = to_chat([*context.history, asked], instructions=context.instructions)
            made.append((task.name, chat))
    return made


class Bare:
    """llama-cpp-python's own loop."""

    def __init__(self, path: Path, threads: int) -> None:
        self._llama: Any = llama_cpp.Llama(
            model_path=str(path),
            n_ctx=CONTEXT_TOKENS,
            n_threads=threads,
            n_threads_batch=threads,
            n_batch=256,
            n_ubatch=256,
            verbose=False,
        )
        template = self._llama.metadata["tokenizer.chat_template"]
        self._render: Any = llama_cpp.llama_chat_format.Jinja2ChatFormatter(
            template=template, eos_token="<|im_end|>", bos_token=""
        )

    def sample(self, chat: tuple[ChatMessage, ...]) -> Sample:
        """One reply."""
        rows = [message.model_dump() for message in chat]
        prompt = self._llama.tokenize(
            self._render(messages=rows).prompt.encode(), add_bos=False, special=True
        )
        self._llama.reset()
        self._llama.eval(prompt[:-1])
        tokens: list[int] = []
        used = time.process_time()
        began = first = time.perf_counter()
        for token in self._llama.generate(prompt, temp=0.0):
            if not tokens:
                first = time.perf_counter()
            if token == self._llama.token_eos() or len(tokens) == MOST_TOKENS:
                break
            tokens.append(token)
        ended = time.perf_counter()
        text = self._llama.detokenize(tokens).decode("utf-8", "replace")
        return Sample(
            text=text,
            tokens=len(tokens),
            per_s=len(tokens) / max(1e-6, ended - first),
            seconds=ended - began,
            cpu_s=time.process_time() - used,
        )

    def batches(self) -> dict[int, float]:
        """Milliseconds of one evaluation of so many tokens, after 900 others."""
        words = "for p in sorted(Path('.').iterdir()):\n    print(p.name)\n" * 200
        tokens = self._llama.tokenize(words.encode())[:900]
        self._llama.reset()
        self._llama.eval(tokens)
        known, found = self._llama.n_tokens, {}
        for count in range(1, 9):
            times: list[float] = []
            for _ in range(5):
                self._llama._ctx.kv_cache_seq_rm(0, known, -1)
                self._llama._batch.set_batch(tokens[:count], known, True)
                began = time.perf_counter()
                self._llama._ctx.decode(self._llama._batch)
                times.append(1000 * (time.perf_counter() - began))
            found[count] = round(statistics.median(times), 1)
        return found


async def worker_sample(client: WorkerClient, chat: tuple[ChatMessage, ...], *, way: str) -> Sample:
    """One reply of the worker, with its prompt evaluated before."""
    child = psutil.Process(client.pid)
    await client.complete(GenerateRequest(messages=chat, max_tokens=1, temperature=0.0))
    request = GenerateRequest(
        messages=chat,
        max_tokens=MOST_TOKENS,
        temperature=0.0,
        drafts=way != "plain",
        grammar=way == "grammar",
    )
    used = sum(child.cpu_times()[:2])
    text, done = await client.complete(request)
    first = done.first_token_s or 0.0
    return Sample(
        text=text,
        tokens=done.completion_tokens,
        per_s=done.completion_tokens / max(1e-6, done.total_s - first),
        seconds=done.total_s,
        cpu_s=sum(child.cpu_times()[:2]) - used,
    )


async def candidates(client: WorkerClient, chat: tuple[ChatMessage, ...], count: int) -> Any:
    """What `count` replies to one request cost, the first of which evaluates the prompt."""
    child = psutil.Process(client.pid)
    wall_s, cpu_s, evaluated = [], [], []
    for number in range(count):
        request = GenerateRequest(
            messages=chat, max_tokens=MOST_TOKENS, temperature=0.7 if number else 0.0, seed=number
        )
        used, began = sum(child.cpu_times()[:2]), time.perf_counter()
        _, done = await client.complete(request)
        wall_s.append(time.perf_counter() - began)
        cpu_s.append(sum(child.cpu_times()[:2]) - used)
        evaluated.append(done.evaluated_tokens)
    return {
        "candidates": count,
        "evaluated_tokens": evaluated,
        "wall_ratio": round(sum(wall_s) / wall_s[0], 2),
        "cpu_ratio": round(sum(cpu_s) / cpu_s[0], 2),
    }


async def measure(options: argparse.Namespace, path: Path, family: str) -> dict[str, Any]:
    """All tasks in all ways."""
    bare = Bare(path, options.threads)
    if options.batches:
        return {"model": options.model, "ms_by_tokens": bare.batches()}
    client = WorkerClient(
        WorkerSettings(path=path, context_tokens=CONTEXT_TOKENS, threads=options.threads)
    )
    found: dict[str, list[Sample]] = {way: [] for way in WAYS}
    try:
        await client.load()
        if options.candidates:
            ((_, chat),) = requests_of(family, options.model, 1)
            return await candidates(client, chat, options.candidates)
        for name, chat in requests_of(family, options.model, options.tasks):
            for way in WAYS:
                sample = bare.sample(chat) if way == "bare" else None
                found[way].append(sample or await worker_sample(client, chat, way=way))
            line = {way: round(samples[-1].per_s, 2) for way, samples in found.items()}
            print(f"{name:28} {line}", file=sys.stderr, flush=True)
    finally:
        await client.close()
    speed = {
        way: sum(s.tokens for s in samples) / sum(s.tokens / s.per_s for s in samples if s.tokens)
        for way, samples in found.items()
    }
    by_cpu = {
        way: sum(s.tokens for s in samples) / max(1e-6, sum(s.cpu_s for s in samples))
        for way, samples in found.items()
    }
    same = sum(a.text == b.text for a, b in zip(found["plain"], found["lookup"], strict=True))
    return {
        "model": options.model,
        "tasks": len(found["bare"]),
        "tokens_per_s": {way: round(value, 2) for way, value in speed.items()},
        "ratio_to_bare": {way: round(value / speed["bare"], 3) for way, value in speed.items()},
        "cpu_ratio_to_bare": {w: round(v / by_cpu["bare"], 3) for w, v in by_cpu.items()},
        "same_as_plain": same,
        "valid_programs": {
            way: sum(valid(sample.text) for sample in samples) for way, samples in found.items()
        },
        "tokens": {way: sum(s.tokens for s in samples) for way, samples in found.items()},
    }


def valid(text: str) -> bool:
    """Whether a reply has a program that Python can read."""
    program = extract_program(text)
    try:
        compile(program.source, "program", "exec")
    except (SyntaxError, ValueError):
        return False
    return program.found


def main() -> int:
    """Measure and print. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Tokens a second, by way of decoding.")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b", help="a catalog id")
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batches", action="store_true")
    parser.add_argument("--candidates", type=int, default=0, metavar="N")
    options = parser.parse_args()
    if options.tasks < 1 or options.threads < 1:
        parser.error("tasks and threads are at least 1")
    home = Path(os.environ.get("DRYDOCK_HOME", DEFAULT_HOME))
    entry = load_catalog().get(options.model)
    path = require_model(home / "models", entry).path
    result = asyncio.run(measure(options, path, entry.family))
    print(json.dumps(result))
    return int(result.get("same_as_plain", 0) < result.get("tasks", 0))  # others have no tasks


if __name__ == "__main__":
    sys.exit(main())
