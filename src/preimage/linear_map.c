/* y = mean + z U for all points at once. Cost: 2 p d flops per point. Replicated: U, p d
 * numbers. */
#include "preimage/linear_map.h"

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"

void dkm_linear_map_clear(dkm_linear_map *map)
{
    dkm_dmat_destroy(&map->U);
    DKM_FREE(map->mean);
}

/* The transpose of the first @p q rows of U. */
static dkm_status leading_rows(const dkm_dmat *U, dkm_idx q, dkm_dmat **V)
{
    dkm_status status = DKM_OK;
    dkm_dmat *T = NULL;

    DKM_TRY(dkm_dmat_create(U->grid, U->n, U->m, U->nb, U->mb, DKM_F64, &T));
    DKM_TRY(dkm_dmat_create_like(T, q, U->mb, DKM_F64, V));
    dkm_la_transpose(U, T);
    dkm_la_lacpy_cols(T, 0, *V);
out:
    dkm_dmat_destroy(&T);
    return status;
}

dkm_status dkm_linear_map_apply(const dkm_linear_map *map, const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const dkm_dmat *U = map->U;
    dkm_idx n = dkm_data_rows(Z), p = dkm_data_cols(Z);
    dkm_dmat *C = NULL, *F = NULL, *V = NULL;
    dkm_data *found = NULL;

    *Y = NULL;
    DKM_TRY(dkm_dmat_create(U->grid, n, p, U->nb, U->mb, DKM_F64, &C));
    DKM_TRY(dkm_dmat_from_rows(C, dkm_data_values_const(Z)));
    DKM_TRY(dkm_dmat_create_like(C, U->n, U->nb, DKM_F64, &F));
    if (p < U->m) {
        DKM_TRY(leading_rows(U, p, &V));
        dkm_la_gemm('N', 'T', 1.0, C, V, 0.0, F);
    } else {
        dkm_la_gemm('N', 'N', 1.0, C, U, 0.0, F);
    }
    dkm_dmat_add_row(F, 1.0, map->mean);
    DKM_TRY(dkm_data_create_dense(dkm_data_ctx(Z), n, U->n, &found));
    DKM_TRY(dkm_dmat_to_rows(F, dkm_data_values(found)));
    *Y = found;
    found = NULL;
out:
    dkm_data_destroy(&found);
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&F);
    dkm_dmat_destroy(&C);
    return status;
}
