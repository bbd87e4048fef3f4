import os

count = 0
for place, _folders, names in os.walk("."):
    for name in names:
        if name.endswith(".conf") or name.endswith(".ini"):
            path = os.path.join(place, name)
            with open(path, "rb") as source:
                old = source.read()
            new = old.replace(b"api.old.example.com", b"api.new.example.com")
            if new != old:
                with open(path, "wb") as target:
                    target.write(new)
                count += 1
print(f"Changed {count} files.")
