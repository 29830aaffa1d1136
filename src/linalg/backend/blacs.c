#include "linalg/backend/blacs.h"

#include <assert.h>

#include "comm/grid_private.h"
#include "core/ctx_private.h"
#include "core/mpi_calls.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/fortran.h"
#include "matrix/dmat_impl.h"

#define DTYPE_DENSE  1
#define OUTSIDE_GRID (-2)

int dkm_blacs_context(dkm_grid *grid)
{
    dkm_ctx *ctx = dkm_grid_ctx(grid);
    int handle = dkm_grid_attached(grid);

    if (dkm_ctx_attached(ctx) < 0) {
        dkm_ctx_attach(ctx, Csys2blacs_handle(dkm_ctx_comm(ctx)), Cfree_blacs_system_handle);
        dkm_blas_use_threads(ctx);
    }
    if (handle != -1)
        return handle;
    /* every rank of the system handle takes part, also those that end outside the grid */
    handle = dkm_ctx_attached(ctx);
    dkm_mpi_lend(ctx, dkm_ctx_comm(ctx));
    Cblacs_gridinit(&handle, "Row", dkm_grid_rows(grid), dkm_grid_cols(grid));
    dkm_mpi_watch(ctx, dkm_ctx_comm(ctx));
    if (dkm_in_grid(grid))
        dkm_grid_attach(grid, handle, Cblacs_gridexit);
    else
        dkm_grid_attach(grid, OUTSIDE_GRID, NULL);
    return dkm_grid_attached(grid);
}

dkm_blacs_desc dkm_blacs_descriptor(const dkm_dmat *A)
{
    assert(dkm_dmat_suits_scalapack(A));
    return (dkm_blacs_desc){{DTYPE_DENSE, dkm_blacs_context(A->grid), (int)A->m, (int)A->n,
                             (int)A->mb, (int)A->nb, 0, 0, (int)A->ld}};
}

int dkm_in_grid(const dkm_grid *grid)
{
    return dkm_grid_row(grid) >= 0;
}
