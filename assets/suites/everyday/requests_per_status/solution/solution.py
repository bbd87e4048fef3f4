from pathlib import Path

counts = {}
for line in Path("access.log").read_text(encoding="utf-8").splitlines():
    status = line.split()[-2]
    counts[status] = counts.get(status, 0) + 1
lines = ["status,count"]
for status in sorted(counts):
    lines.append(f"{status},{counts[status]}")
Path("status.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
