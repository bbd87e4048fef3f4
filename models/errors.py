"""The models' error tree. Every error says what happened and what the person can do."""

from __future__ import annotations


class ModelError(Exception):
    """A model could not be had, loaded or used (exit code 4).

    `hint`: the next step; `setting`: the dotted name of the setting to change, or empty.
    """

    def __init__(self, message: str, *, hint: str = "", setting: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.setting = setting


class ModelFetchError(ModelError):
    """No source could deliver the model's file."""


class ModelCrashedError(ModelError):
    """The worker process ended in mid-work; the next request starts a fresh one."""


class ModelStoppedError(ModelError):
    """The person stopped the generation."""
