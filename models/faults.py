"""What went wrong with a remote request: told apart, put into words, and whether waiting helps.

Owns the mapping from pydantic-ai's and the network's errors to `RemoteError`. Retries nothing; that
is `remote.py`. No text of it ever holds the key. Thread: any.
"""

from __future__ import annotations

import errno
import json
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    IncompleteToolCall,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelTimeoutError,
    OutputTokenLimitExceeded,
    UsageLimitExceeded,
    UserError,
)

from models.errors import ModelError
from models.providers import RemoteModelId, is_this_machine

FaultCode = Literal[
    "no_network",
    "no_such_host",
    "refused_connection",
    "untrusted",
    "timed_out",
    "broken",
    "bad_key",
    "forbidden",
    "no_such_model",
    "moved",
    "too_large",
    "context_full",
    "rate_limited",
    "no_credit",
    "busy",
    "server_failed",
    "not_understood",
    "rejected",
    "filtered",
    "empty",
    "cut_off",
    "too_many_requests",
]
"""What kind of thing went wrong; the router and the settings page go by it."""

_PASSING: frozenset[FaultCode] = frozenset(
    {
        "no_network",
        "timed_out",
        "broken",
        "rate_limited",
        "busy",
        "server_failed",
        "not_understood",
        "empty",
    }
)
_OVERFLOWS = (
    "context length",
    "context size",
    "context window",
    "too many tokens",
    "prompt is too long",
    "maximum number of tokens",
)
"""How servers say that a request is too long; only some have a code for it."""

_SAID_CHARS = 240
_KEY_SHOWN = "[key]"


class RemoteError(ModelError):
    """A remote request failed. `passing`: trying again may help; `wait_s`: how long was asked."""

    def __init__(
        self, code: FaultCode, message: str, *, hint: str = "", wait_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.code: FaultCode = code
        self.wait_s = wait_s

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.code in _PASSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Puts faults of one model into words. `key` is removed from whatever a provider says."""

    model: RemoteModelId
    key: str = ""

    @property
    def who(self) -> str:
        """The provider, for people."""
        return self.model.provider.label

    def empty(self) -> RemoteError:
        """The reply held neither words nor a call."""
        return RemoteError(
            "empty", f"{self.who} sent an empty reply.", hint="Try again, or choose another model."
        )

    def filtered(self, said: str = "") -> RemoteError:
        """The provider or the model declined."""
        return RemoteError(
            "filtered",
            f"{self.who} declined this request.{self._quoted(said)}",
            hint="It is the provider's filter or the model's refusal. Say it in another way.",
        )

    def broken(self) -> RemoteError:
        """The reply ended before its end."""
        return RemoteError(
            "broken",
            f"The connection to {self.model.provider.host} broke in the middle of the reply.",
            hint="Check the network and send the request again. Nothing was done twice.",
        )

    def cut_off(self) -> RemoteError:
        """The reply reached the longest length that is set."""
        return RemoteError(
            "cut_off",
            f"The reply of {self.model.name} was longer than the longest that is set.",
            hint="Raise the longest reply in the settings, or ask for it in smaller steps.",
        )

    def of(self, error: BaseException) -> RemoteError:
        """Any error of a request."""
        if isinstance(error, RemoteError):
            return error
        if (status := _redirect_of(error)) is not None:
            return self._moved(status)
        if isinstance(error, ModelHTTPError):
            return self._status(error)
        if isinstance(error, ModelRequestTimeout | ModelTimeoutError):
            return self._timed_out()
        if isinstance(error, ModelAPIError):
            return self._unsent(error) or self._said_in_stream(error)
        if isinstance(error, AgentRunError | UserError):
            return self._behaviour(error)
        return self._unsent(error) or self._not_understood(type(error).__name__)

    def _behaviour(self, error: AgentRunError | UserError) -> RemoteError:
        match error:
            case ContentFilterError():
                return self.filtered()
            case IncompleteToolCall() | OutputTokenLimitExceeded():
                return self.cut_off()
            case UsageLimitExceeded():
                return RemoteError(
                    "too_many_requests",
                    f"{self.model.name} needed too many requests and was stopped.",
                    hint="Ask for it in smaller steps, or choose another model.",
                )
            case _:
                return self._not_understood(error.message)

    def _status(self, error: ModelHTTPError) -> RemoteError:
        said = self._quoted(_words_of(error.body))
        wait_s = error.retry_after
        suggested = error.suggested_model_id
        status = error.status_code
        category = _category(error)
        match category:
            case ModelContextWindowExceededError():
                return self._full(said)
            case ModelQuotaExceededError():
                return RemoteError(
                    "no_credit",
                    f"The account at {self.who} has no credit left, or its limit is reached.{said}",
                    hint=f"Look at the account's billing{self._page()}. Waiting does not help.",
                )
            case ModelRateLimitError():
                return self._rate_limited(said, wait_s)
            case ModelAuthenticationError():
                return self._denied(status, said)
            case ModelNotFoundError():
                return RemoteError(
                    "no_such_model",
                    f"{self.who} has no model named {self.model.name}, or not for this key.{said}",
                    hint=self._near_name(suggested),
                )
            case _:
                return self._other_status(status, said, wait_s)

    def _other_status(self, status: int, said: str, wait_s: float | None) -> RemoteError:
        match status:
            case 400 if any(words in said.lower() for words in _OVERFLOWS):
                return self._full(said)
            case 401 | 403:
                return self._denied(status, said)
            case 404:
                return RemoteError(
                    "no_such_model",
                    f"{self.who} has no model named {self.model.name}.{said}",
                    hint=self._near_name(None),
                )
            case 408:
                return self._timed_out()
            case 413:
                return RemoteError(
                    "too_large",
                    f"The request is larger than {self.who} takes.{said}",
                    hint="Send fewer or smaller pictures, open fewer folders, or start a new chat.",
                )
            case 429:
                return self._rate_limited(said, wait_s)
            case 503 | 529:
                return RemoteError(
                    "busy",
                    f"{self.who} is overloaded or not available now ({status}).{said}",
                    hint="Send the request again in some minutes, or choose another model.",
                    wait_s=wait_s,
                )
            case _ if status >= 500:
                return RemoteError(
                    "server_failed",
                    f"{self.who} failed with an error of its own ({status}).{said}",
                    hint="Send the request again in some minutes, or choose another model.",
                    wait_s=wait_s,
                )
            case _:
                return RemoteError(
                    "rejected",
                    f"{self.who} did not take the request ({status}).{said}",
                    hint="Choose another model; if it says so of every model, report it.",
                )

    def _moved(self, status: int) -> RemoteError:
        return RemoteError(
            "moved",
            f"{self.model.provider.host} sends requests on to another address ({status}). "
            "Keys are not sent along.",
            hint="Set the server's real address in the settings.",
        )

    def _full(self, said: str) -> RemoteError:
        return RemoteError(
            "context_full",
            f"The request is longer than {self.model.name} can read.{said}",
            hint="Start a new chat, open fewer folders, or choose a model that reads more.",
        )

    def _denied(self, status: int, said: str) -> RemoteError:
        if status == 403:
            return RemoteError(
                "forbidden",
                f"{self.who} does not let this key use {self.model.name} (403).{said}",
                hint=f"Check what the key and its project may do{self._page()}.",
            )
        return RemoteError(
            "bad_key",
            f"{self.who} does not take the key ({status}).{said}",
            hint=f"Set a valid key in the settings{self._page()}.",
        )

    def _rate_limited(self, said: str, wait_s: float | None) -> RemoteError:
        wait = "" if wait_s is None else f" It asks to wait {wait_s:.0f} s."
        return RemoteError(
            "rate_limited",
            f"{self.who} takes no more requests for now (429).{wait}{said}",
            hint="Wait a little and send the request again, or choose another model.",
            wait_s=wait_s,
        )

    def _timed_out(self) -> RemoteError:
        return RemoteError(
            "timed_out",
            f"{self.model.provider.host} did not answer in time.",
            hint="Check the network; if it is a server of your own, whether it is still at work.",
        )

    def _unsent(self, error: BaseException) -> RemoteError | None:
        """A fault below HTTP, told by what the network said; None when it was none."""
        host = self.model.provider.host
        for cause in _causes(error):
            match cause:
                case ssl.SSLError():
                    return self._untrusted(cause)
                case socket.gaierror():
                    return self._unresolved(cause)
                case ConnectionRefusedError():
                    return self._refused()
                case OSError(errno=errno.ENETUNREACH | errno.EHOSTUNREACH | errno.ENETDOWN):
                    return RemoteError(
                        "no_network",
                        f"There is no way to {host}: the network cannot be reached.",
                        hint="Check the network connection, then send the request again.",
                    )
                case _:
                    continue
        if isinstance(error, ModelConnectionError) or _is_transport(error):
            return self._told_by_text(error)
        return None

    def _told_by_text(self, error: BaseException) -> RemoteError:
        text = " ".join(str(cause) for cause in _causes(error)).lower()
        if "certificate" in text or "ssl" in text:
            return self._untrusted(None)
        if "name or service not known" in text or "nodename nor servname" in text:
            return self._unresolved(None)
        if "connection attempts failed" in text or "connection refused" in text:
            return self._refused()
        return self.broken()

    def _untrusted(self, error: ssl.SSLError | None) -> RemoteError:
        why = getattr(error, "verify_message", "") or getattr(error, "reason", "") or ""
        about = f" ({str(why).lower().replace('_', ' ')})" if why else ""
        return RemoteError(
            "untrusted",
            f"The encrypted connection to {self.model.provider.host} cannot be trusted{about}.",
            hint="Check the computer's clock and the network's proxy. Nothing was sent.",
        )

    def _unresolved(self, error: socket.gaierror | None) -> RemoteError:
        host = self.model.provider.host
        if error is not None and error.errno == socket.EAI_AGAIN:
            return RemoteError(
                "no_network",
                f"The name {host} cannot be looked up: there seems to be no network.",
                hint="Check the network connection, then send the request again.",
            )
        return RemoteError(
            "no_such_host",
            f"There is no host named {host}.",
            hint="Check the address in the settings, and the network connection.",
        )

    def _refused(self) -> RemoteError:
        host = self.model.provider.host
        if is_this_machine(host):
            hint = "Start the server (Ollama, LM Studio, llama.cpp, vLLM), or correct its address."
        else:
            hint = "Check the address in the settings, and whether the server runs."
        return RemoteError(
            "refused_connection", f"Nothing answers at {self.model.provider.base_url}.", hint=hint
        )

    def _said_in_stream(self, error: ModelAPIError) -> RemoteError:
        said = self._quoted(_words_of(error.body) or error.message)
        match error:
            case ModelContextWindowExceededError():
                return self._full(said)
            case ModelRateLimitError():
                return self._rate_limited(said, error.retry_after)
            case ModelAuthenticationError():
                return self._denied(401, said)
            case _ if error.in_stream:
                return RemoteError(
                    "server_failed",
                    f"{self.who} ended the reply with an error.{said}",
                    hint="Send the request again, or choose another model.",
                )
            case _:
                return self._not_understood(error.message)

    def _not_understood(self, why: str) -> RemoteError:
        return RemoteError(
            "not_understood",
            f"The reply of {self.model.provider.host} cannot be understood.{self._quoted(why)}",
            hint="Check that the address is that of a model server, or choose another model.",
        )

    def _near_name(self, suggested: str | None) -> str:
        if suggested:
            return f"Did you mean {suggested}? Correct the name in the settings."
        return "Correct the model's name in the settings."

    def _page(self) -> str:
        page = self.model.provider.key_page
        return f" ({page})" if page else ""

    def _quoted(self, said: str) -> str:
        words = " ".join(self.without_key(said).split())
        if not words:
            return ""
        cut = words if len(words) <= _SAID_CHARS else words[: _SAID_CHARS - 1].rstrip() + "…"
        return f" It says: “{cut}”"

    def without_key(self, text: str) -> str:
        """`text` without this model's key, whole or its larger part."""
        if len(self.key) < 8:
            return text.replace(self.key, _KEY_SHOWN) if self.key else text
        for part in (self.key, self.key[: len(self.key) * 3 // 4], self.key[len(self.key) // 4 :]):
            text = text.replace(part, _KEY_SHOWN)
        return text


def _redirect_of(error: BaseException) -> int | None:
    """The status of an answer that sends elsewhere, if that is what the error came of."""
    for cause in _causes(error):
        status = getattr(cause, "status_code", None)
        if isinstance(status, int) and 300 <= status < 400:
            return status
    return None


def _category(error: ModelHTTPError) -> ModelAPIError:
    """The same error, as one of its kinds: those with a status are made when they are raised."""
    return error


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and all that it came of."""
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [cause for cause in (current.__cause__, current.__context__) if cause]
        if isinstance(current, BaseExceptionGroup):
            waiting += cast("list[BaseException]", list(current.exceptions))  # pyright: ignore[reportUnknownMemberType]  # a group of anything


def _is_transport(error: BaseException) -> bool:
    packages = {"httpx", "httpx2", "httpcore", "httpcore2", "h11"}
    return any(type(cause).__module__.partition(".")[0] in packages for cause in _causes(error))


def _words_of(body: object) -> str:
    """What a provider's error body says, in whichever of the usual places."""
    if isinstance(body, str):
        try:
            return _words_of(json.loads(body)) if body.lstrip().startswith(("{", "[")) else body
        except ValueError:
            return body
    if isinstance(body, list):
        items = cast("list[object]", body)
        return _words_of(items[0]) if items else ""
    if not isinstance(body, dict):
        return ""
    fields = cast("dict[str, Any]", body)
    for name in ("error", "message", "detail"):
        if (inner := fields.get(name)) is not None:
            return inner if isinstance(inner, str) else _words_of(inner)
    return ""
