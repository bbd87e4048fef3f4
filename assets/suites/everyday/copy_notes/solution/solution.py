from pathlib import Path

Path("backup").mkdir(exist_ok=True)
for path in list(Path(".").glob("*.md")):
    (Path("backup") / path.name).write_bytes(path.read_bytes())
