from pathlib import Path

names = sorted([path.name for path in Path(".").glob("*.csv")])
lines = []
for name in names:
    header, *body = Path(name).read_text(encoding="utf-8").splitlines()
    if not lines:
        lines.append(header)
    lines.extend(body)
Path("all.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
print(f"Merged {len(names)} files.")
