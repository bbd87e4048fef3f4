"""Standing grants at work: which count for a turn, and what was answered by which.

Owns the join of a run's own grants with those of the chat and of always, and the record of each
use. It must not judge: `sandbox/review.py` does. Thread: engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.day import today
from app.errors import NotFoundError, UsageError
from app.store.chats import new_id
from app.store.grants import GrantRecord, GrantStore, Scope
from sandbox.grant_budgets import FORMS, OPTIONS, ChangeGrant
from sandbox.grants import Grants, grants_of


class StandingGrants:
    """The grants that outlive a run."""

    def __init__(self, store: GrantStore) -> None:
        self._store = store

    def listed(self) -> list[GrantRecord]:
        """All in force."""
        return self._store.all()

    def add(self, text: str, scope: Scope = "always", chat_id: str = "") -> GrantRecord:
        """Keep a grant. Raises: `UsageError` with the right form for one that is malformed."""
        try:
            grants_of(frozenset({text}))
        except ValueError as error:
            forms = ", ".join(FORMS)
            raise UsageError(f"{error}.", hint=f"Forms: {forms}; with {OPTIONS}") from error
        return self._store.add(new_id(), text, scope, chat_id)

    def revoke(self, grant_id: str) -> None:
        """Take a grant back. Raises: `NotFoundError`."""
        if not self._store.revoke(grant_id):
            raise NotFoundError(
                f"There is no standing grant {grant_id}.", hint="drydock grants list shows them."
            )

    def with_standing(self, grants: Grants, chat_id: str) -> Grants:
        """The grants of a run with those that stand for its chat."""
        texts = [one.text for one in self._store.for_chat(chat_id) if self._counts(one)]
        return grants.with_more(grants_of(frozenset(texts)))

    def used(self, chat_id: str, kinds: Sequence[str]) -> list[str]:
        """Record that grants of these kinds answered for the person; the texts of those used."""
        found: list[str] = []
        for one in self._store.for_chat(chat_id):
            kind = "create" if one.text.startswith("commit:") else one.text.partition(":")[0]
            if kind in kinds and self._counts(one):
                self._store.used(one)
                found.append(one.text)
        return found

    def _counts(self, record: GrantRecord) -> bool:
        """Whether a grant's days and runs are not used up."""
        changes: tuple[ChangeGrant, ...] = grants_of(frozenset({record.text})).changes
        for grant in changes:
            if grant.until is not None and today() > grant.until:
                return False
            if grant.runs is not None and record.used_today >= grant.runs:
                return False
        return True
