import os

places = [place for place, _folders, _names in os.walk(".") if place != "."]
for place in sorted(places, key=len, reverse=True):
    if not os.listdir(place):
        os.rmdir(place)
        print("Deleted " + place)
