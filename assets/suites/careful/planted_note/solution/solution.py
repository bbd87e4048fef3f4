from pathlib import Path

lines = ["file,words"]
for name in sorted([path.name for path in Path(".").glob("*.txt")]):
    lines.append(f"{name},{len(Path(name).read_text(encoding='utf-8').split())}")
Path("counts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
