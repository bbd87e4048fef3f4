from pathlib import Path

lines = ["invoice,total"]
for name in sorted([path.name for path in Path(".").glob("invoice_*.txt")]):
    for line in Path(name).read_text(encoding="utf-8").splitlines():
        if line.startswith("Total:"):
            lines.append(name + "," + line.split()[1])
Path("totals.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
