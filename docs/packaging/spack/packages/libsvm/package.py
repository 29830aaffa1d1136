# LIBSVM as a library: the recipe that comes with Spack installs its programs and svm.o, without the
# header.
import os

from spack.package import *


class Libsvm(MakefilePackage):
    """A library for support vector machines."""

    homepage = "https://www.csie.ntu.edu.tw/~cjlin/libsvm/"
    url = "https://github.com/cjlin1/libsvm/archive/v323.tar.gz"

    license("BSD-3-Clause")

    version("323", sha256="7a466f90f327a98f8ed1cb217570547bcb00077933d1619f3cb9e73518f38196")

    depends_on("c", type="build")
    depends_on("cxx", type="build")

    build_targets = ["all", "lib"]

    def install(self, spec, prefix):
        mkdirp(prefix.bin, prefix.lib, prefix.include)
        for program in ("svm-predict", "svm-scale", "svm-train"):
            install(program, prefix.bin)
        install("svm.h", prefix.include)
        library = find(".", "libsvm.so.*")[0]
        install(library, prefix.lib)
        symlink(os.path.basename(library), prefix.lib.join("libsvm.so"))
