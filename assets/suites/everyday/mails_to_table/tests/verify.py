"""mails.csv has each e-mail's address and decoded subject; the e-mails are untouched."""

from collections.abc import Mapping
from email import message_from_bytes, policy
from email.utils import parseaddr
from pathlib import Path

from task_folder import Snapshot, compare, has_table


def verify(before: Snapshot, folder: Path, result: Mapping[str, object]) -> str | None:
    """None when the task is done right, else the reason."""
    rows: list[list[str]] = []
    for name, content in sorted(before.files.items()):
        mail = message_from_bytes(content, policy=policy.default)
        rows.append([name, parseaddr(str(mail["From"]))[1], str(mail["Subject"])])
    wanted = {**before.files, "mails.csv": has_table(["file", "sender", "subject"], rows)}
    return compare(before, folder, wanted)
