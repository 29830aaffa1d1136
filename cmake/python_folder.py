"""Print where packages of a prefix belong, relative to it: the folder below it that this interpreter
looks in, or else the one that an interpreter of that prefix would look in."""
import os
import site
import sys

prefix = os.path.realpath(sys.argv[1])
standard = os.path.join(prefix, f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages")
looked_in = [*site.getsitepackages(), site.getusersitepackages()]
below = [folder for folder in looked_in if os.path.realpath(folder).startswith(prefix + os.sep)]
print(os.path.relpath(min(below, key=len, default=standard), prefix))
