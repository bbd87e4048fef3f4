import os

for name in os.listdir("."):
    if name != name.lower():
        os.rename(name, name.lower())
