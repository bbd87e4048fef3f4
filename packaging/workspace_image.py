"""Builds the image of the microVM workspace: a kernel, a first RAM disk with the agent, a disk.

Run on Debian or Ubuntu, by any user: ``python packaging/workspace_image.py [FOLDER]``. It fetches
Debian packages with ``apt-get download`` (nothing is installed), compiles the agent, and writes
``kernel``, ``initrd``, ``disk`` and ``image.json`` into FOLDER (by default ``workspace-image`` in
DRYDOCK_HOME). The same packages and compiler give the same bytes: names are sorted, times are
fixed, owners are root, and the file system's identity is given.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

VERSION = 1
HERE = Path(__file__).resolve().parent
TIME = 1_700_000_000
DISK_BYTES = 8 * 1024**3
IDENTITY = "6d1f1f0e-5a3c-4c5b-9c39-0d7d0c0a57ed"
DRIVERS = ("virtio_pci", "virtio_mmio", "virtio_blk", "virtio_console")
WANTED = ("python3", "python3-pytest", "git", "bash", "make", "ca-certificates")
LEFT_OUT = frozenset(
    [
        "perl",
        "perl-base",
        "liberror-perl",
        "git-man",
        "debconf",
        "install-info",
        "dpkg",
        "tar",
        "media-types",
        "openssl",
        "libc-bin",
        "debianutils",
        "gcc-12-base",
        "sensible-utils",
        "python3-distutils",
        "python3-lib2to3",
        "libsasl2-modules-db",
        "krb5-locales",
        "readline-common",
        "base-files",
        "tzdata",
    ]
)
NOT_SHIPPED = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/bug",
    "usr/share/bash-completion",
    "usr/share/applications",
    "usr/share/pixmaps",
    "usr/share/perl5",
    "usr/share/gitweb",
    "usr/lib/python3.11/pydoc_data",
    "usr/lib/valgrind",
    "usr/include",
)
MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost workspace\n::1 localhost\n",
    "etc/hostname": "workspace\n",
    "etc/resolv.conf": "",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "etc/os-release": 'PRETTY_NAME="Drydock workspace"\nID=debian\n',
    "etc/gitconfig": "[safe]\n\tdirectory = *\n[user]\n\tname = Drydock\n"
    "\temail = workspace@drydock.invalid\n[init]\n\tdefaultBranch = main\n",
}


def main() -> int:
    """Build into the folder that was named."""
    named = os.environ.get("DRYDOCK_HOME") or Path.home() / ".local/share/drydock"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(named) / "workspace-image"
    for tool, package in (
        ("apt-get", "apt"),
        ("dpkg-deb", "dpkg"),
        ("gcc", "gcc"),
        ("mke2fs", "e2fsprogs"),
        ("debugfs", "e2fsprogs"),
    ):
        if _program(tool) is None:
            print(f"{tool} is needed: install the package {package}", file=sys.stderr)
            return 1
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drydock/debs"
    kernel = _dependency(f"linux-image-cloud-{_architecture()}")
    packages = sorted({*_closure(WANTED), "busybox-static"})
    debs = _download([kernel, *packages], cache)
    with tempfile.TemporaryDirectory(prefix="drydock-image-") as scratch:
        work = Path(scratch)
        agent = _compile_agent(work)
        target.mkdir(parents=True, exist_ok=True)
        (target / "image.json").unlink(missing_ok=True)
        tree = work / "kernel"
        _extract(debs[kernel], tree, merge=False)
        shutil.copyfile(next(tree.glob("boot/vmlinuz-*")), target / "kernel")
        (target / "initrd").write_bytes(_initrd(agent, tree))
        root = work / "root"
        _make_root(root, [debs[name] for name in packages])
        _make_disk(root, target / "disk", work)
        shutil.copyfile(agent, target / "agent")
        (target / "agent").chmod(0o755)
    about = {
        "version": VERSION,
        "architecture": _architecture(),
        "kernel": kernel,
        "packages": {name: path.name.split("_")[1] for name, path in sorted(debs.items())},
        "sha256": {name: _digest(target / name) for name in ("kernel", "initrd", "disk", "agent")},
        "disk_bytes": DISK_BYTES,
    }
    (target / "image.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print(f"{target}: {sum((target / n).stat().st_blocks for n in about['sha256']) // 2048} MB")
    return 0


def _program(name: str) -> str | None:
    """Also where an ordinary user's PATH does not lead."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def _run(*words: str | Path, check: bool = True, **options: object) -> str:
    program = _program(str(words[0])) or str(words[0])
    done = subprocess.run(
        [program, *map(str, words[1:])],
        check=check,
        stdout=subprocess.PIPE,
        text=True,
        **options,  # pyright: ignore
    )
    return done.stdout


def _architecture() -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]


def _dependency(package: str) -> str:
    """What a meta package stands for."""
    pattern = re.compile(r"Depends: (\S+)")
    found = pattern.search(_run("apt-cache", "depends", package, check=False))
    if found is None and os.geteuid() == 0:
        _run("apt-get", "update", "-qq")
        found = pattern.search(_run("apt-cache", "depends", package, check=False))
    if found is None:
        raise SystemExit(f"apt knows no {package}; run apt-get update first")
    return found.group(1)


def _closure(wanted: tuple[str, ...]) -> set[str]:
    """The packages with all that they depend on, but for what is left out."""
    needs: dict[str, list[str]] = {}
    package, is_settled = "", False
    for line in _run("apt-cache", "depends", "--important", "--recurse", *wanted).splitlines():
        kind, _, name = line.strip(" |").partition(": ")
        if not line.startswith(" "):
            package, is_settled = line.strip(), False
            needs.setdefault(package, [])
        elif kind in ("Depends", "PreDepends"):
            if not is_settled and not name.startswith("<"):
                needs[package].append(name)
            is_settled = line.startswith(" |")  # the first of some choices
    found: set[str] = set()
    pending = list(wanted)
    while pending:
        package = pending.pop()
        if package not in found and package not in LEFT_OUT:
            found.add(package)
            pending += needs.get(package, [])
    return found


def _download(packages: list[str], cache: Path) -> dict[str, Path]:
    """Package files by name; those that are in the cache at the right version are not fetched."""
    cache.mkdir(parents=True, exist_ok=True)
    uris = _run("apt-get", "download", "--print-uris", *packages)
    found: dict[str, Path] = {}
    missing: list[str] = []
    for line in uris.splitlines():
        name = line.split()[1]
        package = name.split("_")[0]
        found[package] = cache / name
        if not (cache / name).exists():
            missing.append(package)
    if missing:
        print(f"fetching {len(missing)} packages", file=sys.stderr)
        _run("apt-get", "download", "-qq", *missing, cwd=cache, stderr=subprocess.DEVNULL)
    return found


def _compile_agent(work: Path) -> Path:
    agent = work / "agent"
    shutil.copyfile(HERE / "workspace" / "agent.c", work / "agent.c")
    words = "gcc -O2 -static -s -Wl,--build-id=none -ffile-prefix-map=.=. -o agent agent.c"
    _run(*words.split(), cwd=work)
    return agent


def _extract(deb: Path, root: Path, *, merge: bool) -> None:
    """A package's files; with `merge`, what it has in /bin and the like goes below /usr."""
    data = subprocess.run(
        [_program("dpkg-deb") or "dpkg-deb", "--fsys-tarfile", deb], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            name = member.name.removeprefix("./").strip("/")
            if merge and name.split("/")[0] in MERGED:
                name = f"usr/{name}"
            if not name or name.startswith(NOT_SHIPPED):
                continue
            _place(archive, member, root / name, root, merge=merge)


def _place(
    archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, root: Path, *, merge: bool
) -> None:
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if member.issym():
        path.symlink_to(member.linkname)
    elif member.islnk():
        origin = member.linkname.removeprefix("./")
        if merge and origin.split("/")[0] in MERGED:
            origin = f"usr/{origin}"
        shutil.copyfile(root / origin, path)
        path.chmod(member.mode & 0o777)
    elif member.isfile():
        source = archive.extractfile(member)
        assert source is not None
        path.write_bytes(source.read())
        path.chmod(member.mode & 0o777)


def _initrd(agent: Path, tree: Path) -> bytes:
    """The first RAM disk: the agent as process 1, and the drivers in the order they load."""
    modules = {path.name.split(".")[0].replace("-", "_"): path for path in tree.rglob("*.ko*")}
    order: list[str] = []

    def need(name: str) -> None:
        path = modules.get(name)
        if path is None or name in order:  # None: built into the kernel
            return
        for text in re.findall(rb"\0?depends=([\w,-]*)\0", path.read_bytes()):
            for other in filter(None, text.decode().replace("-", "_").split(",")):
                need(other)
        order.append(name)

    for driver in DRIVERS:
        need(driver)
    files: dict[str, tuple[int, bytes]] = {"init": (0o755, agent.read_bytes())}
    for name in order:
        files[f"modules/{name}.ko"] = (0o644, modules[name].read_bytes())
    files["modules/order"] = (0o644, "".join(f"{name}.ko\n" for name in order).encode())
    return gzip.compress(_cpio(files), 6, mtime=0)


def _cpio(files: dict[str, tuple[int, bytes]]) -> bytes:
    """An archive in the "newc" form that the kernel reads, with a console to speak on."""
    entries: list[tuple[str, int, bytes, tuple[int, int]]] = [
        ("dev", stat.S_IFDIR | 0o755, b"", (0, 0)),
        ("dev/console", stat.S_IFCHR | 0o600, b"", (5, 1)),
        ("modules", stat.S_IFDIR | 0o755, b"", (0, 0)),
    ]
    entries += [
        (name, stat.S_IFREG | mode, data, (0, 0)) for name, (mode, data) in sorted(files.items())
    ]
    entries.append(("TRAILER!!!", 0, b"", (0, 0)))
    out = io.BytesIO()
    for number, (name, mode, data, device) in enumerate(entries, 1):
        numbers = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
        out.write(b"070701" + "".join(f"{item:08x}" for item in numbers).encode())
        out.write(name.encode() + b"\0")
        out.write(b"\0" * (-out.tell() % 4))
        out.write(data)
        out.write(b"\0" * (-out.tell() % 4))
    return out.getvalue()


def _make_root(root: Path, debs: list[Path]) -> None:
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    for deb in debs:
        _extract(deb, root, merge=True)
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("proc", "sys", "dev", "tmp", "run", "root", "workspace", "var/tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    busybox = root / "usr/bin/busybox"
    for applet in _run(busybox, "--list").split():
        if not any((root / "usr" / folder / applet).exists() for folder in ("bin", "sbin")):
            (root / "usr/bin" / applet).symlink_to("busybox")
    python = next(root.glob("usr/bin/python3.[0-9]*[0-9]"))
    for name in ("python3", "python"):
        (root / "usr/bin" / name).unlink(missing_ok=True)
        (root / "usr/bin" / name).symlink_to(python.name)
    _bundle_certificates(root)
    _add_pip(root)
    _precompile(root, python)


def _bundle_certificates(root: Path) -> None:
    """What the package's set-up script would have made of the single certificates."""
    parts = sorted((root / "usr/share/ca-certificates/mozilla").glob("*.crt"))
    bundle = root / "etc/ssl/certs/ca-certificates.crt"
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.write_bytes(b"".join(path.read_bytes() for path in parts))


def _add_pip(root: Path) -> None:
    """pip as it is in this environment: plain Python, and pinned with the rest."""
    with contextlib.suppress(ImportError):
        import pip

        place = root / "usr/lib/python3/dist-packages/pip"
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(pip.__file__).parent, place, ignore=ignore, dirs_exist_ok=True)


def _precompile(root: Path, python: Path) -> None:
    """Compiled modules, so that a start in the machine does not pay for them; by its own Python."""
    libraries = next((root / "usr/lib").glob("*-linux-gnu*"))
    loader = next(libraries.glob("ld-linux-*.so.*"), None)
    if loader is None:
        loader = next((root / "usr/lib64").glob("ld-linux-*.so.*"))
    words = [
        loader,
        "--library-path",
        libraries,
        python,
        "-S",
        "-m",
        "compileall",
        "-q",
        "-s",
        root,
    ]
    words += ["-p", "/", "--invalidation-mode", "unchecked-hash"]
    words += [root / "usr/lib" / python.name, root / "usr/lib/python3/dist-packages"]
    environment = {"PYTHONHOME": str(root / "usr"), "PYTHONHASHSEED": "0", "PATH": "/usr/bin:/bin"}
    subprocess.run(list(map(str, words)), env=environment, check=False, stdout=subprocess.DEVNULL)


def _make_disk(root: Path, disk: Path, work: Path) -> None:
    """The file system, filled by commands in a fixed order: no owner or time of here gets in."""
    environment = {**os.environ, "E2FSPROGS_FAKE_TIME": str(TIME)}
    disk.unlink(missing_ok=True)
    with disk.open("wb") as out:
        out.truncate(DISK_BYTES)
    options = (
        f"root_owner=0:0,hash_seed={IDENTITY},lazy_itable_init=1,lazy_journal_init=1,nodiscard"
    )
    _run(
        *("mke2fs", "-q", "-t", "ext4", "-m", "0", "-I", "256", "-J", "size=8", "-L", "workspace"),
        *("-O", "^metadata_csum,^resize_inode,uninit_bg", "-U", IDENTITY, "-E", options, disk),
        env=environment,
    )
    script = work / "fill"
    script.write_text("".join(f"{line}\n" for line in _filling(root)), encoding="utf-8")
    done = subprocess.run(
        [_program("debugfs") or "debugfs", "-w", "-f", script, disk],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    trouble = [line for line in done.stderr.splitlines() if not line.startswith("debugfs 1.")]
    if trouble:
        raise SystemExit(f"the disk could not be filled: {trouble[0]}")


def _filling(root: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(root):
        folders.sort()
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = [name for name in folders if name not in links]
        place = "/" + os.path.relpath(parent, root).removeprefix(".")
        place = "" if place == "/" else place
        for name in folders:
            yield f'mkdir "{place}/{name}"'
        for name in sorted([*files, *links]):
            path = Path(parent) / name
            if path.is_symlink():
                yield f'symlink "{place}/{name}" "{path.readlink()}"'
            else:
                yield f'write "{path}" "{place}/{name}"'
                mode = stat.S_IFREG | stat.S_IMODE(path.stat().st_mode) & 0o755
                yield f'set_inode_field "{place}/{name}" mode 0{mode:o}'
    yield 'set_inode_field "/tmp" mode 041777'
    yield 'set_inode_field "/root" mode 040700'


def _digest(path: Path) -> str:
    """Of a file's bytes; of a disk, which is mostly holes, of its places and bytes that are not."""
    with path.open("rb") as file:
        if path.name != "disk":
            return hashlib.file_digest(file, "sha256").hexdigest()
        hasher = hashlib.sha256()
        place = 0
        while chunk := file.read(1024 * 1024):
            if chunk.count(0) != len(chunk):
                hasher.update(place.to_bytes(8, "little") + chunk)
            place += len(chunk)
            with contextlib.suppress(OSError):  # nothing more: the rest is a hole
                place = file.seek(place) and os.lseek(file.fileno(), place, os.SEEK_DATA)
                place -= place % (1024 * 1024)
                file.seek(place)
        return hasher.hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
