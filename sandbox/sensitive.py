"""Files that do more than hold data: that start programs by themselves, or hold credentials.

Owns the lists, by where such files are on Linux, macOS and Windows. Names are compared
without case: a disk may fold it. Pure; any thread.

Source: bash(1), zsh(1), fish(1); XDG Autostart and systemd.unit(5); ssh(1), sshd(8); crontab(5);
githooks(5), gitconfig(5); launchd.plist(5); Windows start-up folders.
"""

from __future__ import annotations

import posixpath
import re
from typing import Literal

Starts = Literal["shell", "autostart", "ssh", "cron", "git", "build", "service"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHELL = _names(
    """
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv
    .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc
    .xsession .xsessionrc .envrc .pythonrc .pythonstartup .pdbrc .gdbinit .lldbinit .vimrc
    .nvimrc .exrc .emacs .screenrc .tmux.conf config.fish sitecustomize.py usercustomize.py
    microsoft.powershell_profile.ps1 profile.ps1 .npmrc .yarnrc .yarnrc.yml autoexec.bat
    """
)
_BUILD = _names(
    """
    makefile gnumakefile justfile rakefile taskfile.yml package.json setup.py conftest.py
    noxfile.py tasks.json launch.json .pre-commit-config.yaml dockerfile docker-compose.yml
    build.gradle .gitlab-ci.yml jenkinsfile tox.ini
    """
)
_GIT = frozenset({".gitconfig", ".gitattributes", ".gitmodules"})
_PLACES: tuple[tuple[Starts, re.Pattern[str]], ...] = (
    ("ssh", re.compile(r"/\.ssh/(?:config|authorized_keys2?|rc|environment|known_hosts)$")),
    ("git", re.compile(r"/(?:\.git|[^/]+\.git)/(?:hooks/|config$|info/attributes$)")),
    ("git", re.compile(r"/(?:\.githooks|\.husky)/")),
    ("git", re.compile(r"/\.config/git/(?:config|attributes)$")),
    ("cron", re.compile(r"/cron(?:tabs?|\.(?:d|daily|hourly|weekly|monthly))(?:/|$)")),
    ("cron", re.compile(r"/(?:\.crontab|crontab|anacrontab)$")),
    ("autostart", re.compile(r"/autostart/")),
    ("autostart", re.compile(r"/start ?menu/programs/startup/|/startup items/|/startup/[^/]+\.")),
    ("autostart", re.compile(r"/library/(?:launchagents|launchdaemons|scripts|services)/")),
    ("service", re.compile(r"/systemd/(?:user|system)/|\.service$|\.timer$")),
    (
        "shell",
        re.compile(r"/(?:fish/conf\.d|fish/functions|zsh|bash\.d|profile\.d|environment\.d)/"),
    ),
    ("shell", re.compile(r"\.pth$")),
    ("autostart", re.compile(r"/\.local/share/(?:applications|dbus-1|nautilus/scripts)/")),
    ("build", re.compile(r"/\.github/workflows/|/\.vscode/|/\.idea/|/\.devcontainer/")),
)
_CREDENTIAL_NAMES = _names(
    """
    .netrc _netrc .git-credentials .pgpass .my.cnf .htpasswd .pypirc .dockercfg .env .env.local
    .env.production wallet.dat key4.db logins.json cookies.sqlite credentials.json secrets.json
    secrets.yaml secrets.yml secrets.toml service-account.json client_secret.json passwords.txt
    passwords.csv passwd shadow .vault-token credentials .npmrc id_rsa id_dsa id_ecdsa
    id_ed25519 keyring.gpg secring.gpg
    """
)
_CREDENTIALS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        r"/\.(?:ssh|gnupg|aws|azure|kube|docker|password-store|config/gcloud|config/gh)/",
        r"/keychains?/|/keyrings?/|/\.local/share/keyrings/",
        r"\.(?:kdbx?|pem|p12|pfx|key|ppk|asc|jks|keystore|ovpn|keychain|keychain-db|gpg)$",
        r"/(?:login data|web data|cookies)$",
    )
)
_PROGRAMS = _names(
    """
    .appimage .bat .bash .cmd .com .command .csh .desktop .dll .elf .exe .fish .hta .jar .js
    .jse .ksh .lnk .msi .pif .pl .ps1 .py .pyw .rb .reg .run .scpt .scr .sh .so .vbe .vbs .wsf
    .wsh .zsh
    """
)


def starts_programs(path: str, *, is_new: bool = True) -> Starts | None:
    """How a file starts programs without being opened by the person; None when it does not.

    Build files count only where they replace one that is there: a new one is what was asked for.
    """
    folded = _folded(path)
    name = posixpath.basename(folded)
    if name in _SHELL:
        return "shell"
    if name in _GIT:
        return "git"
    for kind, pattern in _PLACES:
        if pattern.search(folded) and (kind != "build" or not is_new):
            return kind
    if name in _BUILD and not is_new:
        return "build"
    return None


def holds_credentials(path: str) -> bool:
    """Whether a file is of those that hold keys, passwords or sessions."""
    folded = _folded(path)
    name = posixpath.basename(folded)
    if name.endswith(".pub"):
        return False
    return name in _CREDENTIAL_NAMES or any(one.search(folded) for one in _CREDENTIALS)


def is_program(path: str) -> bool:
    """Whether a file's ending makes it one that a click or a shell starts."""
    return posixpath.splitext(_folded(path))[1] in _PROGRAMS


def _folded(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/")).casefold().rstrip(". ")
