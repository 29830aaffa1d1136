# Spack recipe. The sources are those of a folder, not of an address:
#   spack repo add docs/packaging/spack && spack dev-build -d . dkmap@0.1.0
from spack.package import *


class Dkmap(CMakePackage):
    """Kernel methods on distributed memory: kernel ridge regression, kernel PCA, kernel dependency
    estimation, joint kernel maps and kernel extrapolation on MPI and ScaLAPACK."""

    license("BSD-3-Clause")

    version("0.1.0")

    variant("shared", default=True, description="Build a shared library")
    variant("elpa", default=True, description="Use ELPA's eigensolvers where they are faster")
    variant("nlopt", default=True, description="Tune kernels: fit --tune")
    variant("yaml", default=True, description="Read files of options in YAML")
    variant("python", default=True, description="Install the Python package")
    conflicts("+python", when="~shared", msg="the Python package loads the shared library")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("blas")
    depends_on("lapack")
    depends_on("scalapack")
    depends_on("hdf5+mpi")
    depends_on("zlib-api")
    depends_on("libpng")
    depends_on("jansson")
    depends_on("libsvm@323:")  # that of this repository
    depends_on("elpa", when="+elpa")
    depends_on("nlopt", when="+nlopt")
    depends_on("libyaml", when="+yaml")

    extends("python@3.9:", when="+python")
    depends_on("py-numpy@1.21:", when="+python", type="run")
    depends_on("py-scipy@1.7:", when="+python", type="run")
    depends_on("py-mpi4py@3.1:", when="+python", type="run")

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define("MPI_C_COMPILER", spec["mpi"].mpicc),
            self.define("BLAS_LIBRARIES", spec["blas"].libs.joined(";")),
            self.define("LAPACK_LIBRARIES", spec["lapack"].libs.joined(";")),
            self.define("SCALAPACK_LIBRARY", spec["scalapack"].libs.joined(";")),
            self.define("HDF5_ROOT", spec["hdf5"].prefix),
            self.define("DKMAP_PARASAIL", False),
            self.define("DKMAP_FAISS", False),
            self.define("DKMAP_TESTS", self.run_tests),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("DKMAP_ELPA", "elpa"),
            self.define_from_variant("DKMAP_NLOPT", "nlopt"),
            self.define_from_variant("DKMAP_YAML", "yaml"),
            self.define_from_variant("DKMAP_PYTHON_PACKAGE", "python"),
        ]
        if spec.satisfies("+python"):
            args.append(self.define("DKMAP_PYTHON", python.path))
        return args

    def test_version(self):
        """The installed command runs and tells its version."""
        dkmap = which(self.prefix.bin.dkmap)
        assert str(self.version) in dkmap("--version", output=str.split)
