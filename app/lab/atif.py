"""Trajectories in ATIF, the Agent Trajectory Interchange Format, for other tools to read.

One step for the request, one for each program with its result, one for the answer. Pure; any
thread. Source: ATIF-v1.7 as in `harbor.models.trajectories` (package harbor 0.26).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.store.trials import TrialRecord

ATIF = "ATIF-v1.7"


def to_atif(trial: TrialRecord, trajectory: Mapping[str, Any]) -> dict[str, Any]:
    """A trial's trajectory as an ATIF document."""
    turn: Mapping[str, Any] = trajectory.get("turn") or {}
    steps: list[dict[str, Any]] = [
        {"step_id": 1, "source": "user", "message": trajectory.get("instruction", "")}
    ]
    for number, program in enumerate(turn.get("programs") or (), start=1):
        steps.append(_program_step(len(steps) + 1, number, program))
    answer = turn.get("answer") or ""
    steps.append({"step_id": len(steps) + 1, "source": "agent", "message": answer})
    return {
        "schema_version": ATIF,
        "session_id": f"{trial.run_id}-{trial.task}-{trial.seed}",
        "agent": {
            "name": "drydock",
            "version": trial.version or "unknown",
            "model_name": trial.model_id,
            "extra": {"mode": trial.mode},
        },
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": trial.input_tokens,
            "total_completion_tokens": trial.output_tokens,
            "total_cached_tokens": trial.cached_tokens,
            "total_cost_usd": None if trial.money is None else float(trial.money),
            "total_steps": len(steps),
        },
        "extra": {
            "task": trial.task,
            "suite": trial.suite,
            "seed": trial.seed,
            "reward": trial.reward,
            "reason": trial.reason,
            "machine": trial.machine,
            "at": trial.at,
        },
    }


def _program_step(step_id: int, number: int, program: Mapping[str, Any]) -> dict[str, Any]:
    call_id = f"program-{number}"
    return {
        "step_id": step_id,
        "source": "agent",
        "message": "",
        "tool_calls": [
            {
                "tool_call_id": call_id,
                "function_name": "run_code",
                "arguments": {"source": program.get("source", "")},
            }
        ],
        "observation": {"results": [{"source_call_id": call_id, "content": _result(program)}]},
    }


def _result(program: Mapping[str, Any]) -> str:
    error = program.get("error")
    if error:
        line = f" (line {error['line']})" if error.get("line") else ""
        return f"{error['type']}: {error['message']}{line}"
    return str(program.get("printed") or program.get("value") or "")
