"""The version comes from the C header; where this tree has a build, its library is remembered as the
last place to look for one."""
import pathlib
import re

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parents[2]


def version():
    text = (ROOT / "include/dkmap/version.h").read_text()
    return ".".join(re.findall(r"#define DKM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


class BuildWithDefault(build_py):
    def run(self):
        super().run()
        library = ROOT / "build/libdkmap.so"
        if library.exists():
            target = pathlib.Path(self.build_lib, "dkmap", "default_library.txt")
            target.write_text(f"{library}\n")


setup(version=version(), cmdclass={"build_py": BuildWithDefault})
