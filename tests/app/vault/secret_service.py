"""A real Secret Service for tests: gnome-keyring-daemon in a private D-Bus session.

Programs run in that session as `python -c`, since a session belongs to a process's environment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
NEEDED = ("dbus-run-session", "gnome-keyring-daemon")
MISSING = [name for name in NEEDED if shutil.which(name) is None]

needs_secret_service = pytest.mark.skipif(
    bool(MISSING) or sys.platform != "linux",
    reason=f"no {', '.join(MISSING)} here (Debian: dbus, gnome-keyring)",
)

_SESSION = """
printf pass | gnome-keyring-daemon --unlock --components=secrets >daemon.txt 2>&1
"$PYTHON" -c "$PREPARE" "$STATE" || exit 1
"$PYTHON" -c "$PROGRAM"
code=$?
if [ -e stopped ]; then kill -KILL "$(cat stopped)"; fi
exit $code
"""
_PREPARE = """
import os, signal, sys, time
from pathlib import Path
import secretstorage
from jeepney import DBusAddress, new_method_call
connection = secretstorage.dbus_init()
bus = DBusAddress(
    "/org/freedesktop/DBus", "org.freedesktop.DBus", interface="org.freedesktop.DBus"
)
def ask(method):
    call = new_method_call(bus, method, "s", ("org.freedesktop.secrets",))
    return connection.send_and_get_reply(call).body[0]
for _ in range(1000):
    if ask("NameHasOwner"):
        break
    time.sleep(0.02)
state = sys.argv[1]
if state == "locked":
    secretstorage.Collection(connection).lock()
if state == "stopped":
    pid = ask("GetConnectionUnixProcessID")
    os.kill(pid, signal.SIGSTOP)
    Path("stopped").write_text(str(pid))
"""


def in_session(program: str, folder: Path, *, state: str = "unlocked") -> Any:
    """What `program` prints as JSON, in a session whose keyring is in this state."""
    scratch = folder / f"session-{state}"
    for name in ("home", "run"):
        (scratch / name).mkdir(parents=True, exist_ok=True)
    (scratch / "run").chmod(0o700)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("DBUS_")},
        "HOME": str(scratch / "home"),
        "XDG_RUNTIME_DIR": str(scratch / "run"),
        "XDG_DATA_HOME": str(scratch / "home"),
        "PYTHON": sys.executable,
        "PYTHONPATH": str(REPOSITORY),
        "PROGRAM": program,
        "PREPARE": _PREPARE,
        "STATE": state,
    }
    done = subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", _SESSION],
        env=environment,
        cwd=scratch,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])
