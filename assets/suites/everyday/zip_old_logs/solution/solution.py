import os
import zipfile

names = sorted([name for name in os.listdir(".") if name.endswith(".log")])
with zipfile.ZipFile("logs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for name in names:
        archive.write(name)
for name in names:
    os.remove(name)
