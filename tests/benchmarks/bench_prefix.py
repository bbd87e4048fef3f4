"""How much sooner is a new chat's first token when the fixed beginning is read from the disk?

    python tests/benchmarks/bench_prefix.py --model qwen2.5-coder-1.5b
    python tests/benchmarks/bench_prefix.py --model smollm2-135m --prefix-tokens 0

Each sample is a worker of its own, as `drydock run` starts one: a new chat without a folder for
prefixes, then one with the state that an earlier process left, in turns, so that other work on the
machine falls on both. The prefix has about `--prefix-tokens` tokens; 0 takes the family's own
(system text and examples). One line per sample goes to standard error, then one JSON object to
standard output: medians of the seconds to the first token, with and without, and their ratio; the
load of the model is in neither. Models are kept in DRYDOCK_HOME, or where the tests keep theirs.
Exit codes: 0 measured; 1 the replies differ, or nothing was restored; 2 usage.
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
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from models.catalog import load_catalog
from models.client import GenerateRequest, WorkerClient, WorkerSettings
from models.library import require_model
from models.prompt import load_prompt
from models.protocol import ChatMessage, Done

DEFAULT_HOME = Path.home() / ".cache" / "drydock-tests"
LISTING = """Current folder: Desk, 3 files
- a.txt  640 B
- prices.csv  1 kB
- song.mp3  3.1 MB"""
REQUEST = "How many files are there?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One new chat in a fresh process; seconds from the request to the first token and its end."""

    first_token_s: float
    total_s: float
    load_s: float
    prompt_tokens: int
    evaluated_tokens: int
    restored_tokens: int
    text: str


async def sample(settings: WorkerSettings, request: GenerateRequest) -> Sample:
    """Start a worker, load, and time one reply."""
    client = WorkerClient(settings)
    try:
        began = time.perf_counter()
        await client.load()
        load_s = time.perf_counter() - began
        text, done = await client.complete(request)
        return _sample(text, done, load_s)
    finally:
        await client.close()


def _sample(text: str, done: Done, load_s: float) -> Sample:
    return Sample(
        first_token_s=done.first_token_s or done.total_s,
        total_s=done.total_s,
        load_s=load_s,
        prompt_tokens=done.prompt_tokens,
        evaluated_tokens=done.evaluated_tokens,
        restored_tokens=done.restored_tokens,
        text=text,
    )


async def fixed_messages(
    settings: WorkerSettings, family: str, prefix_tokens: int
) -> tuple[ChatMessage, ...]:
    """The family's own beginning, or a made one of about `prefix_tokens` tokens."""
    if not prefix_tokens:
        return load_prompt(family).fixed_messages()
    rules = [f"Things of kind {number} go into box {number * 3}." for number in range(1, 400)]
    client = WorkerClient(settings)
    try:
        low, high = 1, len(rules)
        while low < high:
            middle = (low + high + 1) // 2
            count = await client.count_tokens(messages=(_system(rules[:middle]),))
            low, high = (middle, high) if count <= prefix_tokens else (low, middle - 1)
    finally:
        await client.close()
    return (_system(rules[:low]),)


def _system(rules: list[str]) -> ChatMessage:
    return ChatMessage(role="system", content="You sort things. " + " ".join(rules))


async def measure(options: argparse.Namespace, home: Path) -> dict[str, object]:
    """All samples of one model, and what they come to."""
    entry = load_catalog().get(options.model)
    base = WorkerSettings(path=require_model(home / "models", entry).path, threads=options.threads)
    fixed = await fixed_messages(base, entry.family, options.prefix_tokens)
    task = load_prompt(entry.family).task_text(LISTING, REQUEST, today="Monday, 2024-05-06")
    request = GenerateRequest(
        messages=(*fixed, ChatMessage(role="user", content=task)), max_tokens=16, temperature=0
    )
    with tempfile.TemporaryDirectory(prefix="drydock-prefix-") as scratch:
        kept = WorkerSettings(
            path=base.path,
            threads=base.threads,
            fixed_messages=fixed,
            prefix_folder=Path(scratch) / "prefix",
        )
        saving = await sample(kept, request)
        _tell("saving", saving)
        without: list[Sample] = []
        restored: list[Sample] = []
        for _ in range(options.samples):
            without.append(await sample(base, request))
            _tell("without", without[-1])
            restored.append(await sample(kept, request))
            _tell("with", restored[-1])
        state_bytes = sum(path.stat().st_size for path in (Path(scratch) / "prefix").iterdir())
    before_s = statistics.median(item.first_token_s for item in without)
    after_s = statistics.median(item.first_token_s for item in restored)
    everything = [saving, *without, *restored]
    return {
        "model": entry.id,
        "samples": options.samples,
        "prompt_tokens": saving.prompt_tokens,
        "prefix_tokens": restored[0].restored_tokens,
        "evaluated_tokens": restored[0].evaluated_tokens,
        "without_s": round(before_s, 3),
        "with_s": round(after_s, 3),
        "ratio": round(before_s / after_s, 1),
        "saving_s": round(saving.first_token_s, 3),
        "state_bytes": state_bytes,
        "same_text": all(one.text == other.text for one, other in pairwise(everything)),
    }


def _tell(name: str, item: Sample) -> None:
    values = asdict(item)
    values.pop("text")
    shown = {key: round(value, 3) for key, value in values.items()}
    print(f"{name:8} {shown}", file=sys.stderr, flush=True)


def main() -> int:
    """Measure and print. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Seconds to the first token of a new chat.")
    parser.add_argument("--model", default="smollm2-135m", help="a catalog id")
    parser.add_argument("--prefix-tokens", type=int, default=1000, help="0: the family's own")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.samples < 1 or options.threads < 1 or options.prefix_tokens < 0:
        parser.error("samples and threads are at least 1, prefix tokens at least 0")
    home = Path(os.environ.get("DRYDOCK_HOME", DEFAULT_HOME))
    result = asyncio.run(measure(options, home))
    print(json.dumps(result))
    return 0 if result["same_text"] and result["prefix_tokens"] else 1


if __name__ == "__main__":
    sys.exit(main())
