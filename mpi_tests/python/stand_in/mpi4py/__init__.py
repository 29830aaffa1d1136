"""A stand-in for mpi4py, where the machine has one for another MPI than that of the library (MPI.py)."""


class rc:
    """Whether MPI is started when mpi4py.MPI is imported, and ended with the process."""
    initialize = True
    finalize = True
