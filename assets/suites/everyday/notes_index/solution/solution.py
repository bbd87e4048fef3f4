from pathlib import Path

lines = []
for name in sorted([path.name for path in Path(".").glob("*.md")]):
    first = Path(name).read_text(encoding="utf-8").splitlines()[0]
    lines.append(f"- [{first.removeprefix('# ')}]({name})")
Path("index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
