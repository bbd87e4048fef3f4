"""The gate as far as a call is concerned: what a program may do without being asked.

File effects land in the stage and are reviewed once, at the end of the turn; everything else is
denied until a rule allows it. Thread: the runner's worker.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.effects import Effect, EffectKind
from sandbox.ports import Verdict

STAGED: frozenset[EffectKind] = frozenset({"read", "create", "modify", "delete", "move"})

_ALLOW = Verdict(outcome="allow", reason="staged")


class StagedGate:
    """Allows what the stage holds back; fails closed for every other kind."""

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        """Allow file effects. An empty list has no effect and is allowed."""
        for effect in effects:
            if effect.kind not in STAGED:
                return Verdict(
                    outcome="deny",
                    reason="unknown-effect",
                    message=f"Programs cannot do this here ({effect.kind}).",
                )
        return _ALLOW
