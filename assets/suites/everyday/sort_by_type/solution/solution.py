from pathlib import Path

files = [path for path in Path(".").iterdir() if path.is_file()]
for path in files:
    target = Path(path.suffix[1:].lower())
    target.mkdir(exist_ok=True)
    path.rename(target / path.name)
print(f"Sorted {len(files)} files.")
