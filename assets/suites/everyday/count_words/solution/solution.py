from pathlib import Path

total = 0
for path in Path(".").glob("*.txt"):
    total += len(path.read_text(encoding="utf-8").split())
print(f"{total} words")
