"""Puts together what the engine has for models elsewhere: keys, accounts, the ready room, places.

Owns the order in which they are made, and nothing after that. Thread: engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.engine.accounts import Accounts
from app.engine.mailbox import Mailbox
from app.engine.places import Places
from app.engine.ready import ReadyRoom
from app.engine.redacted_model import redacted
from app.engine.remotes import RemoteModels
from app.engine.steering import Steering
from app.paths import Paths
from app.settings import Settings
from app.store.chats import ChatStore
from app.store.costs import CostStore
from app.store.database import Tables
from app.store.local_only import LocalOnlyStore
from app.store.trials import TrialStore
from app.vault.redact import Redactor
from models.catalog import Catalog
from models.keys import KeySource, RunKeys

if TYPE_CHECKING:
    from app.engine.warm import ModelSource
    from models.remote_client import Connections


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteRooms:
    """What was put together."""

    keys: RunKeys
    accounts: Accounts
    local_only: LocalOnlyStore
    ready: ReadyRoom
    steering: Steering
    places: Places


def remote_rooms(
    *,
    paths: Paths,
    tables: Tables,
    store: ChatStore,
    settings: Callable[[], Settings],
    mailbox: Mailbox,
    local: ModelSource,
    catalog: Callable[[], Catalog],
    secrets: KeySource,
    redactor: Redactor,
    connect: Callable[[], Connections] | None,
) -> RemoteRooms:
    """All of it. `secrets`: the vault; `connect`: makes the connections."""
    keys = RunKeys(after=secrets, learn=redactor.learn)
    accounts = Accounts(CostStore(tables), settings)
    local_only = LocalOnlyStore(tables)
    remote = RemoteModels(keys=keys, settings=settings, mailbox=mailbox, connect=connect)
    ready = ReadyRoom(
        local=local,
        remote=remote,
        accounts=accounts,
        local_only=local_only,
        settings=settings,
        clean=lambda model: redacted(model, redactor),
    )
    steering = Steering(
        catalog=catalog,
        folder=paths.models,
        settings=settings,
        remote=remote,
        accounts=accounts,
        trials=TrialStore(tables),
        local_only=local_only,
    )
    places = Places(
        paths=paths,
        catalog=catalog,
        store=store,
        settings=settings,
        remote=remote,
        ready=ready,
        accounts=accounts,
        local_only=local_only,
        mailbox=mailbox,
    )
    return RemoteRooms(
        keys=keys,
        accounts=accounts,
        local_only=local_only,
        ready=ready,
        steering=steering,
        places=places,
    )
