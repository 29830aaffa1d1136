#include "linalg/backend/elpa.h"

#include "core/mpi_calls.h"
#include "linalg/backend/blacs.h"
#include "matrix/dmat_impl.h"

#ifdef DKM_HAVE_ELPA
#include <elpa/elpa.h>

#define ELPA_API 20211125

int dkm_elpa_built_in(void)
{
    return 1;
}

/* Whether some rank has met an error. */
static int elpa_any_error(int error, MPI_Comm comm)
{
    int met = error != ELPA_OK;

    MPI_Allreduce(MPI_IN_PLACE, &met, 1, MPI_INT, MPI_MAX, comm);
    return met;
}

/* Describe the matrix. Local. */
static int describe(elpa_t handle, const dkm_dmat *A, MPI_Comm comm)
{
    const struct {
        const char *name;
        int value;
    } settings[] = {{"na", (int)A->n},
                    {"nev", (int)A->n},
                    {"local_nrows", (int)A->ld},
                    {"local_ncols", (int)A->n_loc},
                    {"nblk", (int)A->nb},
                    {"mpi_comm_parent", (int)MPI_Comm_c2f(comm)},
                    {"process_row", dkm_grid_row(A->grid)},
                    {"process_col", dkm_grid_col(A->grid)}};
    int error = 0;

    for (size_t k = 0; k < sizeof settings / sizeof *settings && error == ELPA_OK; k++)
        elpa_set_integer(handle, settings[k].name, settings[k].value, &error);
    return error;
}

/* Whether setting up failed on some rank. elpa_setup() is collective, the steps around it are not:
 * all ranks enter it or none. */
static int set_up_failed(elpa_t handle, const dkm_dmat *A, MPI_Comm comm)
{
    int error = describe(handle, A, comm);

    if (elpa_any_error(error, comm))
        return 1;
    error = elpa_setup(handle);
    if (error == ELPA_OK)
        elpa_set_integer(handle, "solver", ELPA_SOLVER_1STAGE, &error);
    return elpa_any_error(error, comm);
}

/* A handle that is ready on all ranks, or none: setting it up is collective, making it is not. */
static elpa_t elpa_open_handle(const dkm_dmat *A, MPI_Comm comm)
{
    elpa_t handle = NULL;
    int error = elpa_init(ELPA_API);

    if (error == ELPA_OK)
        handle = elpa_allocate(&error);
    if (error != ELPA_OK)
        handle = NULL; /* what a failed call returns cannot be given back */
    if (!elpa_any_error(error, comm) && !set_up_failed(handle, A, comm))
        return handle;
    if (handle)
        elpa_deallocate(handle, &error);
    return NULL;
}

static dkm_elpa_outcome elpa_solve(dkm_dmat *A, double *values, dkm_dmat *Z, MPI_Comm comm)
{
    elpa_t handle = elpa_open_handle(A, comm);
    int error = ELPA_OK;

    if (!handle)
        return DKM_ELPA_REFUSED;
    elpa_eigenvectors_double(handle, A->a.f64, values, Z->a.f64, &error);
    elpa_deallocate(handle, &(int){0});
    return error == ELPA_OK ? DKM_ELPA_DONE : DKM_ELPA_FAILED;
}

dkm_elpa_outcome dkm_elpa_syevd(dkm_dmat *A, double *values, dkm_dmat *Z)
{
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    int outcome = DKM_ELPA_DONE;
    MPI_Comm inside;

    dkm_mpi_split(ctx, dkm_in_grid(A->grid), dkm_ctx_rank(ctx), &inside);
    if (dkm_agree(ctx, DKM_LOCAL_OK) != DKM_OK)
        return DKM_ELPA_FAILED;
    dkm_mpi_lend(ctx, inside);
    if (dkm_in_grid(A->grid))
        outcome = (int)elpa_solve(A, values, Z, inside);
    MPI_Comm_free(&inside);
    MPI_Allreduce(MPI_IN_PLACE, &outcome, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(ctx));
    return (dkm_elpa_outcome)outcome;
}

#else

int dkm_elpa_built_in(void)
{
    return 0;
}

dkm_elpa_outcome dkm_elpa_syevd(dkm_dmat *A, double *values, dkm_dmat *Z)
{
    (void)A;
    (void)values;
    (void)Z;
    return DKM_ELPA_REFUSED;
}

#endif
