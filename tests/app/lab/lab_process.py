"""A lab run as a process that can be killed: `python -m tests.app.lab.lab_process HOME SUITE RUN`.

Its model decides by the seed whether it does the task, so that two runs of one plan are alike. Goes
on with the run if there is one of that id. Prints a line after each trial.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from app.engine.warm import ReadyModel
from app.lab.lab import Lab
from app.lab.plan import LabPlan, Progress, plan_from
from app.lab.trial import Bench
from app.paths import Paths
from app.settings import ModelSettings, Settings
from app.store.database import open_database
from app.store.trials import TrialStore
from models.client import GenerateRequest
from models.local import LocalModel
from models.protocol import Delta, Done, Evaluating
from tests.fakes import Script, ScriptedClient, ScriptedModels, program_reply

TRIALS = 3


class _Client(ScriptedClient):
    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Evaluating | Delta | Done]:
        """Do the task for odd seeds."""
        name = "done.txt" if (request.seed or 0) % 2 else "else.txt"
        self._script.replies[:] = [program_reply(f"open('{name}', 'w').write('done')")]
        async for item in super().generate(request):
            yield item


class _Models(ScriptedModels):
    async def ready(self, model_id: str) -> ReadyModel:
        """A model that goes by the seed."""
        from dataclasses import replace

        made = await super().ready(model_id)
        return replace(made, model=LocalModel(_Client(Script([])), model_id))


async def main(home: Path, suite_path: str, run_id: str) -> None:
    """Run it to its end."""
    paths = Paths(home=home)
    database = open_database(paths.store)
    store = TrialStore(database)
    settings = Settings(model=ModelSettings(tries=1))

    def bench(paths: Paths, settings: Settings) -> Bench:
        return Bench(paths, settings, models=_Models())

    def tell(state: Progress) -> None:
        print(state.done, flush=True)  # noqa: T201  # for who started this process

    lab = Lab(paths, settings, store, make_bench=bench)
    known = {run.run_id: run for run in store.runs()}
    if run_id in known:
        plan = plan_from(known[run_id].plan)
    else:
        plan = LabPlan(suite=suite_path, models=("local:scripted",), trials=TRIALS)
        lab.begin(plan, run_id)
    await lab.go_on(run_id, plan, lab.suite(plan, run_id, trusted=True), tell)
    database.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
