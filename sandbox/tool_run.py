"""What tools have to work with in one run: the stage, the network, a process for documents.

Owns the life of what they share; each part starts at its first use and ends with the run. It must
not judge or do calls. Thread: the runner's; `judge` is also called from the network's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from sandbox.artifacts import Artifact, Artifacts
from sandbox.effects import Effect
from sandbox.grants import Grants
from sandbox.host_files import HostPaths
from sandbox.ports import NO_SECRETS, Secrets, Verdict
from sandbox.tools import ToolSet

if TYPE_CHECKING:
    from sandbox.document_process import DocumentProcess
    from sandbox.network import Network
    from sandbox.shown import Shown
    from sandbox.workspace.session import Workspace


@dataclass(kw_only=True)
class ToolRun:
    """One run, as tools see it.

    `stopped`: whether the person stopped it; `shown`: put in view; `artifacts`: where results are
    kept; `sees`: whether the model is shown pictures; `offline`: whether no host may be connected
    to; `kept`, `looks`: what the program kept and what it looked at; `workspace`: where shell
    commands run, if there is one.
    """

    paths: HostPaths
    grants: Grants
    judge: Callable[[Sequence[Effect]], Verdict]
    stopped: Callable[[], bool]
    tools: ToolSet
    shown: list[Shown] = field(default_factory=list["Shown"])
    secrets: Secrets = NO_SECRETS
    artifacts: Artifacts | None = None
    sees: bool = False
    offline: Callable[[], bool] = lambda: False
    kept: list[Artifact] = field(default_factory=list["Artifact"])
    looks: list[Artifact] = field(default_factory=list["Artifact"])
    workspace: Workspace | None = None

    @property
    def results(self) -> Artifacts:
        """Where results are kept; raises `OSError` where nothing is."""
        if self.artifacts is None:
            raise OSError(30, "Results are not kept here", "")
        return self.artifacts

    def read(self, path: str) -> tuple[Effect, Callable[[], bytes]]:
        """The effect of reading a file whole, and the reading; `path`: absolute.

        Unlike the program's own reading, it leaves no notes on separators: tools know them.
        """
        stage, limit_bytes = self.paths.stage, self.paths.limits.read_bytes
        effect = self.paths.effect("read", path, size_bytes=stage.stat(path).size_bytes)
        return effect, lambda: stage.read_bytes(path, limit_bytes=limit_bytes)

    @cached_property
    def network(self) -> Network:
        """The way to hosts; started at the first use."""
        from sandbox.network import Network

        return Network(grants=self.grants, offline=self.offline)

    @cached_property
    def documents(self) -> DocumentProcess:
        """The process that reads documents; started at its first document."""
        from sandbox.document_process import DocumentProcess

        return DocumentProcess(self.stopped)

    def close(self) -> None:
        """End what was started."""
        for name in ("network", "documents"):
            started = self.__dict__.pop(name, None)
            if started is not None:
                started.close()
