from pathlib import Path

leftovers = list(Path(".").rglob("*.tmp")) + list(Path(".").rglob("*.bak"))
for path in leftovers:
    path.unlink()
print(f"Deleted {len(leftovers)} files.")
