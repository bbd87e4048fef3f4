from pathlib import Path

lines = []
for name in sorted([path.as_posix() for path in Path(".").rglob("*.py")]):
    for number, line in enumerate(Path(name).read_text(encoding="utf-8").splitlines(), 1):
        if "TODO" in line:
            lines.append(f"- {name}:{number}: {line.split('TODO:', 1)[1].strip()}")
Path("todo.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
