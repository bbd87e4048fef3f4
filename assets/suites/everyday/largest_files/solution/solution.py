import os

found = []
for place, _folders, names in os.walk("."):
    for name in names:
        found.append((os.path.getsize(os.path.join(place, name)), name))
for size, name in sorted(found, reverse=True)[:3]:
    print(name, size)
