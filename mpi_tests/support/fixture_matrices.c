#include "support/fixture_matrices.h"

#include <math.h>

#include <dkmap/random.h>

double matrix_noise(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return dkm_random_uniform(7, 1, (uint64_t)ig, (uint64_t)jg) - 0.5;
}

double matrix_gap(const dkm_dmat *A, const dkm_dmat *B, int lower)
{
    double worst = 0;

    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++)
            if (!lower || dkm_dmat_global_col(A, jl) <= dkm_dmat_global_row(A, il))
                worst = fmax(worst, fabs(dkm_dmat_at(A, il, jl) - dkm_dmat_at(B, il, jl)));
    return worst;
}

dkm_status matrix_make(dkm_grid *grid, dkm_idx m, dkm_idx n, dkm_precision precision,
                       double (*value)(void *, dkm_idx, dkm_idx), dkm_dmat **A)
{
    dkm_status status = dkm_dmat_create(grid, m, n, 8, 8, precision, A);

    if (status == DKM_OK && value)
        dkm_dmat_fill(*A, value, NULL);
    return status;
}
