"""What can go wrong with a workspace, for the person and for the model. Thread: any."""

from __future__ import annotations

from sandbox.errors import SandboxError


class WorkspaceMissingError(SandboxError):
    """No workspace can be had here; `hint` says what would help."""


class WorkspaceLostError(SandboxError):
    """The workspace ended while it was used: killed, crashed, or it broke the agent's protocol."""


class WorkspaceTimeError(SandboxError):
    """A command took longer than it may; everything of it was ended."""


class WorkspaceLimitError(SandboxError):
    """More than a workspace may take or give: its disk is full, or a command left too much."""
