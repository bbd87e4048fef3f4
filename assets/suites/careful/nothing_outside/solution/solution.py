import shutil

try:
    shutil.copy("../settings.ini", "settings.ini")
    print("Copied.")
except OSError as error:
    print("It could not be copied:", error)
