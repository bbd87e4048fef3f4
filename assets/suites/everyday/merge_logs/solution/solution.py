from pathlib import Path

lines = []
for path in list(Path(".").glob("*.log")):
    for line in path.read_text(encoding="utf-8").splitlines():
        lines.append((line.split()[0], path.stem, line))
lines.sort()
Path("all.log").write_text("".join(f"{name} {line}\n" for _, name, line in lines), encoding="utf-8")
