from pathlib import Path

print(f"There are {len(list(Path('.').rglob('*.pdf')))} PDF files.")
