"""What taking known values out of texts costs: 50 secrets, 1 MB of each kind of text.

    python -m tests.benchmarks.bench_redact

Besides times it gives a ratio that does not depend on the machine: how long cleaning takes against
writing the same text as JSON, which is done with every text that is stored anyway.
"""

from __future__ import annotations

import json
import random
import secrets
import string
import time
from collections.abc import Callable

from app.vault.redact import Redactor

SECRETS = 50
CHARS = 1_000_000
PIECE_CHARS = 5


def texts() -> dict[str, str]:
    """1 MB each: a program's source, random words, one long run of base64."""
    chosen = random.Random(1)
    letters = f"{string.ascii_letters}{string.digits}   \n/=+"
    line = "    for path in sorted(Path('photos').rglob('*.jpg')):  # each picture\n"
    return {
        "program": (line * (CHARS // len(line) + 1))[:CHARS],
        "words": "".join(chosen.choice(letters) for _ in range(CHARS)),
        "base64": secrets.token_urlsafe(CHARS)[:CHARS],
    }


def best_s(work: Callable[[], object], times: int = 5) -> float:
    """The shortest of some runs."""
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def streamed(redactor: Redactor, text: str) -> str:
    """The text as it comes from a model."""
    stream = redactor.stream()
    pieces = [stream.feed(text[at : at + PIECE_CHARS]) for at in range(0, len(text), PIECE_CHARS)]
    return "".join([*pieces, stream.end()])


def main() -> None:
    """Print the table."""
    redactor = Redactor()
    began = time.perf_counter()
    for number in range(SECRETS):
        redactor.learn(f"secret-{number}", secrets.token_urlsafe(30))
    print(f"{SECRETS} values learnt one by one: {time.perf_counter() - began:.2f} s")
    for name, text in texts().items():
        data, as_json = text.encode(), best_s(lambda text=text: json.dumps(text))
        whole = best_s(lambda text=text: redactor.text(text))
        raw = best_s(lambda data=data: redactor.data(data))
        pieces = best_s(lambda text=text: streamed(redactor, text), 1)
        print(
            f"{name:<8} text {whole * 1000:6.1f} ms ({whole / as_json:4.1f} x JSON)  "
            f"bytes {raw * 1000:6.1f} ms  in pieces {pieces * 1000:6.0f} ms"
        )


if __name__ == "__main__":
    main()
