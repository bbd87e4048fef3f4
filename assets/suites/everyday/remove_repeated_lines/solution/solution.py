from pathlib import Path

path = Path("list.txt")
kept = []
for line in path.read_text(encoding="utf-8").splitlines():
    if line not in kept:
        kept.append(line)
path.write_text("\n".join(kept) + "\n", encoding="utf-8")
