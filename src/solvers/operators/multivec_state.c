#include "solvers/operators/multivec_state.h"

dkm_local dkm_multivec_save(dkm_archive *state, const char *name, dkm_idx m,
                            const dkm_multivec *slab)
{
    dkm_matrix_entry rows = {.m = m, .n = slab->cols, .slab = slab->a, .ld = slab->ld};

    return dkm_archive_put_rows(state, name, &rows);
}

dkm_local dkm_multivec_restore(const dkm_archive *state, const char *name, dkm_multivec *slab)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *rows = NULL;

    DKM_STEP(dkm_archive_rows(state, name, &rows));
    if (rows->n > slab->ld ||
        dkm_slab_count(rows->m, dkm_ctx_rank(slab->ctx), dkm_ctx_size(slab->ctx)) != slab->n)
        DKM_STEP(dkm_fail(slab->ctx, DKM_ERR_FORMAT,
                          "%s: %lld rows and %lld columns of '%s' where %lld have room", rows->path,
                          (long long)rows->m, (long long)rows->n, name, (long long)slab->ld));
    DKM_STEP(dkm_matrix_entry_read_slab(slab->ctx, rows, rows->n, slab->ld, slab->a));
    slab->cols = rows->n;
out:
    return local;
}
