from pathlib import Path

for path in list(Path(".").glob("*.txt")):
    if path.stat().st_size == 0:
        path.unlink()
