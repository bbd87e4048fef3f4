"""What a fault of the disk means for a commit or an undo: in words, and what can go on without it.

Owns which changes a fault concerns. It touches no disk. Thread: any.
"""

from __future__ import annotations

import errno

from sandbox.changeset import ChangeSet, select
from sandbox.errors import CommitError
from sandbox.transaction import ChangeFaultError
from sandbox.verify import Conflict, conflict

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_OF_ONE_ENTRY = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EBUSY,
        errno.ETXTBSY,
        errno.ENAMETOOLONG,
        errno.EINVAL,
        errno.EILSEQ,
        errno.ELOOP,
        errno.ENOENT,
        errno.EEXIST,
        errno.ENOTEMPTY,
        errno.ENOTDIR,
        errno.EISDIR,
    }
)
_HINTS = {
    errno.ENOSPC: "Free some space on the disk, then try again.",
    errno.EDQUOT: "Free some space in your quota, then try again.",
    errno.EACCES: "Check the permissions of the folder, then try again.",
    errno.EPERM: "Check the permissions of the folder, then try again.",
    errno.EROFS: "The disk is read-only; choose another folder.",
    errno.EBUSY: "Close the programs that use it, then try again.",
    errno.ETXTBSY: "Close the programs that use it, then try again.",
    errno.EMFILE: "Close some programs, then try again.",
    errno.ENFILE: "Close some programs, then try again.",
    errno.ENAMETOOLONG: "Choose a shorter name, or a folder nearer to the top.",
    errno.EIO: "Check that the disk is connected and sound, then try again.",
    errno.ENODEV: "Connect the disk again, then try again.",
    errno.ENXIO: "Connect the disk again, then try again.",
}


def explained(error: OSError) -> CommitError:
    """A fault in the person's words, with what to do."""
    name = f" ({error.filename})" if error.filename else ""
    return CommitError(
        f"Nothing was changed: {error.strerror or error}{name}.",
        hint=_HINTS.get(error.errno or 0, "Look at the file or the disk, then try again."),
        can_keep=isinstance(error, ChangeFaultError) and bool(error.change),
    )


def left_after(change_set: ChangeSet, error: OSError) -> ChangeSet | None:
    """What can still be applied where `error` came up; None when it is of no change in particular.

    A fault of one entry (no permission, in use) takes out that change; a full disk also all later
    ones that write; any other (a broken or missing disk) all later ones. Smaller each time.
    """
    if not isinstance(error, ChangeFaultError):
        return None
    ids = [change.id for change in change_set.changes]
    if error.change not in ids:
        return None
    at = ids.index(error.change)
    later = change_set.changes[at + 1 :]
    out = {error.change}
    if error.errno in _FULL:
        out |= {change.id for change in later if change.has_new_content or change.kind == "mkdir"}
    elif error.errno not in _OF_ONE_ENTRY:
        out |= {change.id for change in later}
    return select(change_set, set(ids) - out)


def faulted(before: ChangeSet, rest: ChangeSet, error: OSError) -> list[Conflict]:
    """What `rest` leaves out of `before`, as conflicts: the fault itself, and what hangs on it."""
    kept = {change.id for change in rest.changes}
    hint = _HINTS.get(error.errno or 0, "")
    message = f"{error.strerror or error}. {hint}".strip()
    at = error.change if isinstance(error, ChangeFaultError) else ""
    found: list[Conflict] = []
    for change in before.changes:
        if change.id in kept:
            continue
        needs_it = at in change.depends_on
        found.append(conflict(change, "needs-another" if needs_it else "fault", message=message))
    return found
