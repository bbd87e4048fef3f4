"""A worker without a model: speaks the real protocol, and does what the last message says.

Run as a script by the tests of the client. ``say TEXT`` streams the words of TEXT; ``echo``
answers with the whole conversation as JSON; ``endless`` goes on until it is stopped; ``deaf`` does
not even stop then; ``die SIGNAL`` ends by that signal after one word; ``exit N`` with that status;
``fail CODE`` fails. A token is a word.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import sys
import threading
from itertools import takewhile

from models.protocol import (
    COMMANDS,
    PROTOCOL,
    Count,
    Counted,
    Delta,
    Done,
    Failed,
    Generate,
    Hello,
    Load,
    Loaded,
    Shutdown,
    Stop,
    Unload,
    encode_line,
)


def send(line) -> None:
    """Write one event."""
    sys.stdout.buffer.write(encode_line(line))
    sys.stdout.buffer.flush()


class FakeWorker:
    """The fake's state: a queue of commands and the stop flag."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.commands = queue.Queue()
        self.stopped = threading.Event()
        self.previous: list[str] = []

    def read(self) -> None:
        for line in sys.stdin.buffer:
            command = COMMANDS.validate_json(line)
            if isinstance(command, Stop):
                self.stopped.set()
            else:
                self.commands.put(command)
        os._exit(0)

    def run(self) -> None:
        if self.options.silent:
            threading.Event().wait()
        send(Hello(protocol=self.options.protocol, pid=os.getpid()))
        while not isinstance(command := self.commands.get(), Shutdown):
            match command:
                case Load():
                    self.load(command)
                case Count():
                    text = command.text or " ".join(m.content for m in command.messages)
                    send(Counted(id=command.id, tokens=len(text.split())))
                case Generate():
                    self.stopped.clear()
                    self.generate(command)
                case Unload():
                    pass

    def load(self, command: Load) -> None:
        if self.options.hang_load:
            threading.Event().wait()
        if self.options.fail_load:
            send(Failed(id=command.id, code=self.options.fail_load, message="It did not load."))
            return
        send(
            Loaded(
                id=command.id,
                context_tokens=command.context_tokens,
                trained_context_tokens=4096,
                description=f"fake with {command.threads} threads",
                seconds=0.0,
            )
        )

    def generate(self, command: Generate) -> None:
        text = command.messages[-1].content if command.messages else command.prompt
        word, _, rest = text.partition(" ")
        match word:
            case "say":
                self.stream(command, rest)
            case "echo":
                said = json.dumps(
                    {
                        "messages": [m.model_dump() for m in command.messages],
                        "temperature": command.temperature,
                        "seed": command.seed,
                        "stop": command.stop,
                        "prefix_messages": command.prefix_messages,
                    }
                )
                send(Delta(id=command.id, text=said))
                self.done(command, "stop", 1)
            case "endless" | "deaf":
                self.endless(command, obeys=word == "endless")
            case "die":
                send(Delta(id=command.id, text="Well"))
                sys.stderr.write("something about memory\n")
                sys.stderr.flush()
                os.kill(os.getpid(), getattr(signal, rest))
            case "exit":
                sys.stderr.write("ggml: the last word\n")
                sys.stderr.flush()
                os._exit(int(rest))
            case "fail":
                send(Failed(id=command.id, code=rest, message="It failed."))
            case _:
                self.stream(command, text)

    def stream(self, command: Generate, text: str) -> None:
        words = text.split(" ")
        for number, word in enumerate(words):
            if number == command.max_tokens:
                self.done(command, "length", number)
                return
            send(Delta(id=command.id, text=word if number == 0 else f" {word}"))
        self.done(command, "stop", len(words))

    def endless(self, command: Generate, *, obeys: bool) -> None:
        tokens = 0
        while not (obeys and self.stopped.is_set()):
            send(Delta(id=command.id, text="x"))
            tokens += 1
            # Paced, so that a test's queue stays small.
            threading.Event().wait(0.002)
        self.done(command, "stopped", tokens)

    def done(self, command: Generate, finish, tokens: int) -> None:
        words = " ".join(m.content for m in command.messages).split()
        same = (old == new for old, new in zip(self.previous, words, strict=False))
        cached = sum(1 for _ in takewhile(bool, same))
        self.previous = words
        send(
            Done(
                id=command.id,
                finish=finish,
                prompt_tokens=len(words),
                cached_tokens=cached,
                evaluated_tokens=len(words) - cached,
                completion_tokens=tokens,
                first_token_s=0.0,
                total_s=0.0,
            )
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--protocol", type=int, default=PROTOCOL)
    parser.add_argument("--silent", action="store_true")
    parser.add_argument("--hang-load", action="store_true")
    parser.add_argument("--fail-load", default="")
    worker = FakeWorker(parser.parse_args())
    threading.Thread(target=worker.read, daemon=True).start()
    worker.run()


if __name__ == "__main__":
    main()
