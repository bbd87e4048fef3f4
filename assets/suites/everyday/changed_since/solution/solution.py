import os

NEW_YEAR_2024_S = 1704067200
for name in sorted(os.listdir(".")):
    if os.stat(name).st_mtime >= NEW_YEAR_2024_S:
        print(name)
