from pathlib import Path

photos = list(Path(".").glob("IMG_*.jpg"))
for photo in photos:
    month = Path(photo.name[4:8] + "-" + photo.name[8:10])
    month.mkdir(exist_ok=True)
    photo.rename(month / photo.name)
print(f"Moved {len(photos)} photos.")
