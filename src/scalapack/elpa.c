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

static int solve(dkm_dmat *A, double *values, dkm_dmat *Z, MPI_Comm comm)
{
    int error = elpa_init(ELPA_API);
    elpa_t handle;

    if (error != ELPA_OK)
        return error;
    handle = elpa_allocate(&error);
    if (error == ELPA_OK)
        error = set_up(handle, A, comm);
    if (error == ELPA_OK)
        elpa_eigenvectors_double(handle, A->a.f64, values, Z->a.f64, &error);
    elpa_deallocate(handle, &(int){0});
    return error;
}

dkm_status dkm_elpa_eigen(dkm_dmat *A, double *values, dkm_dmat *Z, int *info)
{
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    MPI_Comm inside;

    *info = 0;
    MPI_Comm_split(dkm_ctx_comm(ctx), dkm_in_grid(A->grid), dkm_ctx_rank(ctx), &inside);
    if (dkm_in_grid(A->grid))
        *info = solve(A, values, Z, inside);
    MPI_Comm_free(&inside);
    return DKM_OK;
}

#else

int dkm_elpa_built_in(void)
{
    return 0;
}

dkm_status dkm_elpa_eigen(dkm_dmat *A, double *values, dkm_dmat *Z, int *info)
{
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);

    (void)values;
    (void)Z;
    *info = 0;
    return dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_UNSUPPORTED, "dkmap was built without ELPA"));
}

#endif
