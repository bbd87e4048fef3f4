"""Tries a secret at the host it is bound to, as a person asks for it in the vault.

Owns the one request of a trial and what its answer means, in words. The answer's content is not
looked at. Thread: engine; the request runs on the network's own thread.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sandbox.addresses import Target, target_of
from sandbox.grants import Grants, HostGrant
from sandbox.network import Network, NetworkLimits, Request, Response
from sandbox.secrets import Binding, BoundHost, is_loopback

_LIMITS = NetworkLimits(connect_s=5.0, silence_s=10.0, total_s=15.0, redirects=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a trial went. `works` None: it cannot be told from here."""

    works: bool | None
    message: str
    hint: str = ""


async def try_secret(binding: Binding, value: str) -> Trial:
    """Ask the first bound host with the secret; only reading, so that nothing happens there."""
    if not binding.hosts:
        return Trial(works=None, message="The value is there. It is bound to no host to try it at.")
    method = next((each for each in ("HEAD", "GET") if each in (binding.methods or ("GET",))), "")
    if not method:
        return Trial(
            works=None,
            message="The value is there. It may only be used for sending, so it was not tried.",
        )
    host = binding.hosts[0]
    target = target_of(_address(host))

    def sign(_: Target) -> tuple[tuple[str, bytes], ...]:
        return binding.headers(value)

    network = Network(grants=Grants(hosts=(HostGrant(name=host.name),)), limits=_LIMITS)
    try:
        future = network.start(
            Request(method=method, target=target, sign=sign), _stay, lambda answer: answer
        )
        answer = await asyncio.wrap_future(future)
    except OSError as error:
        return Trial(
            works=None,
            message=f"The value is there, but {host.text} could not be asked: {error}.",
            hint="Check the address and the connection.",
        )
    except ValueError as error:
        return Trial(works=None, message=f"The value is there. {host.text} answered: {error}.")
    finally:
        await asyncio.to_thread(network.close)
    return _judged(host, answer)


def _stay(_: Target) -> None:
    raise PermissionError("it leads to another address")


def _address(host: BoundHost) -> str:
    scheme = "http" if is_loopback(host.name) else "https"
    return f"{scheme}://{host.text}/"


def _judged(host: BoundHost, answer: Response) -> Trial:
    if answer.status in (401, 403):
        return Trial(
            works=False,
            message=f"{host.text} refused the secret (status {answer.status}).",
            hint="It may be wrong, expired, or not allowed to read the first page of that host.",
        )
    if answer.status >= 500:
        return Trial(
            works=None,
            message=f"The value is there, but {host.text} has a fault (status {answer.status}).",
            hint="Try again later.",
        )
    return Trial(works=True, message=f"{host.text} did not refuse it (status {answer.status}).")
