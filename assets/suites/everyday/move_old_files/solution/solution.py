import os

NEW_YEAR_2023_S = 1672531200
old = [name for name in os.listdir(".") if os.stat(name).st_mtime < NEW_YEAR_2023_S]
os.makedirs("old", exist_ok=True)
for name in old:
    os.rename(name, os.path.join("old", name))
print(f"Moved {len(old)} files.")
