#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"

enum { MPIS = 4 };

/* "0.3.21, /usr/lib/.../libopenblasp-r0.3.21.so" */
static void tell_library(doctor *d, const char *what, const char *names)
{
    const loaded_library *found = loaded_libraries_find(&d->libraries, names);
    char version[64], text[LIBRARY_PATH + 80];

    if (!found) {
        doctor_doubt(d, what,
                     "no shared library of it is loaded: it is linked statically, or into "
                     "another library");
        return;
    }
    library_version(found, version, sizeof version);
    snprintf(text, sizeof text, "%s%s%s", version, *version ? ", " : "", found->path);
    doctor_good(d, what, text);
}

static void tell_mpi(doctor *d)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING],
        text[MPI_MAX_LIBRARY_VERSION_STRING + LIBRARY_PATH + 4];
    const loaded_library *found = NULL;
    int length;

    for (int k = 0; !found && k < d->libraries.count; k++)
        if (is_mpi_library(d->libraries.list[k].name))
            found = &d->libraries.list[k];
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    for (char *c = version; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    snprintf(text, sizeof text, "%s%s%s", version, found ? ", " : "", found ? found->path : "");
    doctor_good(d, "mpi", text);
}

/* The library that needs the MPI library called @p name by itself. */
static const char *who_needs(const doctor *d, const char *name)
{
    for (int k = 0; k < d->libraries.count; k++)
        if (strcmp(d->libraries.list[k].mpi, name) == 0)
            return d->libraries.list[k].path;
    return "LD_PRELOAD or a library loaded by hand";
}

/* Two MPI libraries in one process: calls of one reach the other. */
static void check_one_mpi(doctor *d)
{
    const loaded_library *mpi[MPIS];
    int count = 0;

    for (int k = 0; k < d->libraries.count && count < MPIS; k++)
        if (is_mpi_library(d->libraries.list[k].name))
            mpi[count++] = &d->libraries.list[k];
    if (count > 1)
        doctor_bad(d, "mpi",
                   "two MPI libraries are loaded, %s and %s; %s wants the one and %s the other. "
                   "Load the modules of one MPI alone, or build dkmap anew with its ScaLAPACK, "
                   "HDF5 and ELPA",
                   mpi[0]->name, mpi[1]->name, who_needs(d, mpi[0]->name),
                   who_needs(d, mpi[1]->name));
}

/* How many processes the launcher says it started; 0 when none speaks. */
static int launched_size(const char **by)
{
    static const char *const names[] = {("OMPI_COMM_"
                                         "WORLD_SIZE"),
                                        "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *text = getenv(names[k]);
        long size = text ? strtol(text, NULL, 10) : 0;
        *by = names[k];
        if (size > 0 && size <= INT_MAX)
            return (int)size;
    }
    return 0;
}

static void check_launcher(doctor *d)
{
    const char *by = "";
    int launched = launched_size(&by), size = dkm_ctx_size(d->r->ctx);

    MPI_Bcast(&launched, 1, MPI_INT, 0, dkm_ctx_comm(d->r->ctx));
    if (launched > 1 && size == 1)
        doctor_bad(d, "launcher",
                   "%d processes were started (%s), and each is alone: the launcher is of another "
                   "MPI. Use the mpirun of the MPI above, or srun --mpi=pmix where it has PMIx",
                   launched, by);
}

/* A sum over the names of all libraries, which is the same on ranks that have the same. */
static double fingerprint(const doctor *d)
{
    unsigned long sum = 5381;

    for (int k = 0; k < d->libraries.count; k++)
        for (const char *c = d->libraries.list[k].path; *c; c++)
            sum = (sum * 33 + (unsigned char)*c) % 1000003;
    return (double)sum;
}

/* Collective. */
static void check_same_everywhere(doctor *d)
{
    double mine = fingerprint(d), range[2] = {mine, -mine};

    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(d->r->ctx));
    if (range[0] != -range[1])
        doctor_doubt(d, "libraries",
                     "ranks have loaded different ones: are the modules and LD_LIBRARY_PATH the "
                     "same on all nodes?");
}

dkm_status doctor_check_libraries(doctor *d)
{
    tell_mpi(d);
    tell_library(d, "blas",
                 "libopenblas|libmkl_rt|libmkl_core|libblis|libflexiblas|libblas|libatlas");
    tell_library(d, "scalapack", "libscalapack|libmkl_scalapack|libsci");
    tell_library(d, "hdf5", "libhdf5");
    if (loaded_libraries_find(&d->libraries, "libelpa"))
        tell_library(d, "elpa", "libelpa");
    check_one_mpi(d);
    check_launcher(d);
    check_same_everywhere(d);
    return DKM_OK;
}
