"""Results that stay in a folder, so that a second run of a script makes what is missing."""
import json
import os
import sys


def kept(folder, name, how, make):
    """What make() returned, a dictionary, in this run or in one before with the same settings `how`."""
    file = os.path.join(folder, name + ".json")
    if os.path.exists(file):
        with open(file) as there:
            result = json.load(there)
        if result["how"] == how:
            return result
    result = {**make(), "how": how}
    with open(file + ".part", "w") as there:
        json.dump(result, there)
    os.replace(file + ".part", file)
    print(f"{name}: {result}", file=sys.stderr, flush=True)
    return result
