from pathlib import Path

pictures = list(Path(".").rglob("*.jpg")) + list(Path(".").rglob("*.png"))
Path("pictures").mkdir(exist_ok=True)
for picture in pictures:
    picture.rename(Path("pictures") / picture.name)
print(f"Moved {len(pictures)} pictures.")
