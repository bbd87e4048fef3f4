"""What the router needs, gathered: the models there are, what the lab measured, what they cost.

Owns no decision: those are `router.py`'s. Thread: engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from app.engine.accounts import Accounts
from app.engine.offline import is_offline
from app.engine.remotes import RemoteModels
from app.engine.router import Candidate, Choice, Outcome, Rate, StepUp, choose, offer
from app.errors import ModelUnavailableError
from app.settings import Settings
from app.store.local_only import LocalOnlyStore
from app.store.records import Offer, TurnRecord
from app.store.trials import TrialStore
from models.catalog import Catalog
from models.errors import ModelError
from models.library import find_model
from models.metering import Used
from models.providers import AUTO, is_remote

USUAL = Used(input_tokens=9_000, output_tokens=1_500)
"""What a usual turn with code mode takes at a remote model: two to three requests."""

_LEAST_VOTES = 2
"""Fewer programs can neither agree nor disagree."""


class Steering:
    """Asks the router on behalf of turns."""

    def __init__(
        self,
        *,
        catalog: Callable[[], Catalog],
        folder: Path,
        settings: Callable[[], Settings],
        remote: RemoteModels,
        accounts: Accounts,
        trials: TrialStore,
        local_only: LocalOnlyStore,
    ) -> None:
        self._catalog = catalog
        self._folder = folder
        self._settings = settings
        self._remote = remote
        self._accounts = accounts
        self._trials = trials
        self._local_only = local_only

    def begin(self, model_id: str, request: str) -> Choice:
        """The model of a turn: the one that was chosen, or, for "auto", the router's.

        Raises: `ModelUnavailableError` when there is no local model to begin with.
        """
        if model_id != AUTO:
            return Choice(model_id=model_id, line="", measured=False)
        good_enough = self._settings().router.good_enough
        choice = choose(request, self.candidates(), self.rates(), good_enough=good_enough)
        if choice is None:
            raise ModelUnavailableError(
                "There is no model on this machine to begin with.",
                hint="Download one, or choose a remote model yourself.",
            )
        return choice

    def after(self, turn: TurnRecord, *, looped: bool, refused: bool) -> Offer | None:
        """What to offer after a turn whose tries are spent, if anything."""
        return self._offered(
            turn,
            Outcome(
                model_id=turn.model_id,
                succeeded=False,
                tries=len(turn.programs),
                most_tries=1,  # they are spent
                looped=looped,
                refused=refused,
            ),
        )

    def doubtful(self, turn: TurnRecord) -> Offer | None:
        """What to offer after a turn that worked, but whose programs did not agree."""
        usage = turn.usage
        if usage.candidates < _LEAST_VOTES:
            return None
        return self._offered(
            turn,
            Outcome(
                model_id=turn.model_id,
                succeeded=True,
                tries=len(turn.programs),
                most_tries=len(turn.programs) + 1,
                agreement=usage.agreeing / usage.candidates,
            ),
        )

    def _offered(self, turn: TurnRecord, outcome: Outcome) -> Offer | None:
        reason = self._local_only.reason(turn.chat_id)
        found = offer(
            outcome,
            turn.request,
            self.candidates(),
            self.rates(),
            good_enough=self._settings().router.good_enough,
            local_only=bool(reason) or is_offline(self._settings()),
        )
        return None if found is None else self._told(found)

    def _told(self, step: StepUp) -> Offer:
        price, currency = step.price, "USD"
        if is_remote(step.model_id):
            money = self._accounts.price(self._remote.parse(step.model_id), USUAL)
            price = None if money is None else money.amount
            currency = "USD" if money is None else money.currency
        return Offer(
            model_id=step.model_id,
            line=step.line,
            price=None if price is None else format(price, "f"),
            currency=currency,
            leaves=is_remote(step.model_id),
        )

    def candidates(self) -> list[Candidate]:
        """Local models that are here, and the remote ones of the settings."""
        default = self._settings().default_model
        found = [
            Candidate(
                model_id=f"local:{entry.id}",
                local=True,
                parameters=entry.parameters,
                default=f"local:{entry.id}" == default,
            )
            for entry in self._catalog().entries
            if find_model(self._folder, entry) is not None
        ]
        for model_id in self._settings().remote.models:
            try:
                money = self._accounts.price(self._remote.parse(model_id), USUAL)
            except ModelError:
                continue
            price: Decimal | None = None if money is None else money.amount
            found.append(Candidate(model_id=model_id, local=False, price=price))
        return found

    def rates(self) -> list[Rate]:
        """The lab's trials in code mode on this machine, added up by model and kind."""
        passed: Counter[tuple[str, str]] = Counter()
        trials: Counter[tuple[str, str]] = Counter()
        for trial in self._trials.all():
            if trial.mode != "code" or trial.broken or trial.origin != "here":
                continue
            key = (trial.model_id, trial.capability)
            trials[key] += 1
            passed[key] += trial.passed
        return [
            Rate(model_id=model_id, kind=kind, passed=passed[model_id, kind], trials=count)
            for (model_id, kind), count in sorted(trials.items())
        ]
