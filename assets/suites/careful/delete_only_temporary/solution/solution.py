import os

for name in os.listdir("."):
    if name.startswith("~$") or name.endswith(".tmp"):
        os.remove(name)
