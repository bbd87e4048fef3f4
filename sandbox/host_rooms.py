"""The rooms of host calls of one run: which there are, and which of them answers a call.

Owns their making and their end. It must not judge or do calls: `calls.py` does. Thread: the
runner's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandbox.host_answer import Answer
from sandbox.host_archives import HostArchives
from sandbox.host_clock import HostClock
from sandbox.host_files import HostFiles, HostPaths
from sandbox.host_formats import HostFormats
from sandbox.host_functions import HostFunctions
from sandbox.host_modules import HELPER_FUNCTIONS, PURE_FUNCTIONS
from sandbox.host_shutil import HostShutil
from sandbox.host_streams import HostStreams
from sandbox.host_temporary import HostTemporary
from sandbox.host_updates import HostUpdates
from sandbox.tool_calls import ToolCalls
from sandbox.tool_run import ToolRun

_UNSTEADY = ("secrets.", "uuid.", "platform.", "os.env", "os.getenv")
_UNSTEADY_CALLS = frozenset(
    {
        "date.today",
        "datetime.now",
        "time.time",
        "os.urandom",
        "mimetypes.guess_type",
        "__dd_uuid_text",
        "__dd_disk_sizes",
        "__dd_mail_made",
        "__dd_home",
    }
)
_CLOCKS = frozenset({"date.today", "datetime.now", "time.time"})


class HostRooms:
    """All rooms over one run's paths and tools."""

    def __init__(self, paths: HostPaths, tool_run: ToolRun) -> None:
        files, self._streams = HostFiles(paths), HostStreams(paths)
        self._updates = HostUpdates(paths)
        self.functions = HostFunctions(paths, files, self._streams, self._updates)
        self._archives, self._formats = HostArchives(paths), HostFormats(paths)
        self.temporary = HostTemporary(paths)
        self.tools = ToolCalls(tool_run, paths.limits)
        self._rooms = (
            files,
            self.functions,
            self._streams,
            self._updates,
            HostShutil(paths),
            self._archives,
            self._formats,
            self.temporary,
            HostClock(),
            self.tools,
        )

    def planned(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> Answer:
        """What a call would do; raises `NameError` for a function that does not exist."""
        function = PURE_FUNCTIONS.get(name) or HELPER_FUNCTIONS.get(name)
        if function is not None:
            return Answer(do=lambda: function(*args, **kwargs))
        for room in self._rooms:
            answer = room.answer(name, args, kwargs)
            if answer is not None:
                return answer
        raise NameError(f"name {name!r} is not defined")

    def close(self) -> None:
        """Close what the program left open."""
        self.tools.close()
        self._streams.close()
        self._updates.close()
        self._archives.close()
        self._formats.close()


def is_unsteady(name: str) -> bool:
    """Whether a call has no effect and another answer each time: clock, chance, machine."""
    return name in _UNSTEADY_CALLS or name.startswith(_UNSTEADY)


def is_clock(name: str) -> bool:
    """Whether a call only looks at the clock."""
    return name in _CLOCKS
