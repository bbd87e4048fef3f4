"""The words for where shell commands are to run. Pure data; any thread."""

from __future__ import annotations

from typing import Literal

Choice = Literal["auto", "smol", "qemu", "bubblewrap", "off"]
Probed = Literal["smol", "qemu", "bubblewrap"]
