#include "scalapack/elpa.h"

#include "dmat/dmat_impl.h"
#include "scalapack/blacs.h"

#ifdef DKM_HAVE_ELPA
#include <elpa/elpa.h>

#define ELPA_API 20211125

int dkm_elpa_built_in(void)
{
    return 1;
}

static int set_up(elpa_t handle, const dkm_dmat *A, MPI_Comm comm)
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
    if (error == ELPA_OK)
        error = elpa_setup(handle);
    if (error == ELPA_OK)
        elpa_set_integer(handle, "solver", ELPA_SOLVER_1STAGE, &error);
    return error;
}

/* Whether some rank has met an error. */
static int any_error(int error, MPI_Comm comm)
{
    int met = error != ELPA_OK;

    MPI_Allreduce(MPI_IN_PLACE, &met, 1, MPI_INT, MPI_MAX, comm);
    return met;
}

/* A handle that is ready on all ranks, or none: setting it up is collective, making it is not. */
static elpa_t open_handle(const dkm_dmat *A, MPI_Comm comm)
{
    elpa_t handle = NULL;
    int error = elpa_init(ELPA_API);

    if (error == ELPA_OK)
        handle = elpa_allocate(&error);
    if (error != ELPA_OK)
        handle = NULL; /* what a failed call returns cannot be given back */
    if (!any_error(error, comm) && !any_error(set_up(handle, A, comm), comm))
        return handle;
    if (handle)
        elpa_deallocate(handle, &error);
    return NULL;
}

static void solve(dkm_dmat *A, double *values, dkm_dmat *Z, MPI_Comm comm, dkm_elpa_outcome *o)
{
    elpa_t handle = open_handle(A, comm);

    o->refused = handle == NULL;
    if (o->refused)
        return;
    elpa_eigenvectors_double(handle, A->a.f64, values, Z->a.f64, &o->info);
    elpa_deallocate(handle, &(int){0});
}

void dkm_elpa_eigen(dkm_dmat *A, double *values, dkm_dmat *Z, dkm_elpa_outcome *o)
{
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    MPI_Comm inside;

    *o = (dkm_elpa_outcome){0};
    MPI_Comm_split(dkm_ctx_comm(ctx), dkm_in_grid(A->grid), dkm_ctx_rank(ctx), &inside);
    if (dkm_in_grid(A->grid))
        solve(A, values, Z, inside, o);
    MPI_Comm_free(&inside);
    MPI_Allreduce(MPI_IN_PLACE, &o->refused, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(ctx));
}

#else

int dkm_elpa_built_in(void)
{
    return 0;
}

void dkm_elpa_eigen(dkm_dmat *A, double *values, dkm_dmat *Z, dkm_elpa_outcome *o)
{
    (void)A;
    (void)values;
    (void)Z;
    *o = (dkm_elpa_outcome){.refused = 1};
}

#endif
