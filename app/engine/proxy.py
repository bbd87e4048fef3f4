"""The proxy of the settings, for all that makes connections: HTTP clients, pip, the lab's process.

They all read it from the environment, so it is put there, and what was there before is put back at
the end. This machine itself is never reached through it. Thread: engine.
"""

from __future__ import annotations

import os

_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
_DIRECT = ("NO_PROXY", "no_proxy")
_HERE = "localhost,127.0.0.1,::1"


class Proxy:
    """Puts a proxy into this process's environment."""

    def __init__(self) -> None:
        self._former = {name: os.environ.get(name) for name in (*_NAMES, *_DIRECT)}
        self.address = ""

    def use(self, address: str) -> bool:
        """Use the proxy at `address`; empty: the environment's own. Whether that is a change."""
        if address == self.address:
            return False
        self.restore()
        self.address = address
        if address:
            os.environ.update(dict.fromkeys(_NAMES, address))
            known = next((self._former[name] for name in _DIRECT if self._former[name]), "")
            direct = ",".join(part for part in (known, _HERE) if part)
            os.environ.update(dict.fromkeys(_DIRECT, direct))
        return True

    def restore(self) -> None:
        """Put back what was there."""
        self.address = ""
        for name, value in self._former.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
