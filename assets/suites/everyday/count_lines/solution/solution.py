from pathlib import Path

lines = ["file,lines"]
for path in Path(".").glob("*.txt"):
    lines.append(f"{path.name},{len(path.read_text(encoding='utf-8').splitlines())}")
Path("lines.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
