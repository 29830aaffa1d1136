#include <math.h>
#include <string.h>

#include "comm/allreduce.h"
#include "core/alloc.h"
#include "support/check.h"

static double number(int rank, dkm_idx k)
{
    return sin(0.7 * (double)k + rank) + 1e-3 * rank;
}

static void compare(dkm_ctx *ctx, dkm_idx n, int with_room)
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    double *a = NULL, *first = NULL, *work = NULL, off = 0;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n, &a)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n, &first)));
    if (with_room)
        CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n, &work)));
    for (dkm_idx k = 0; k < n; k++)
        a[k] = number(rank, k);
    dkm_allreduce_sum(a, n, work, dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < n; k++) {
        double want = 0;
        for (int r = 0; r < size; r++)
            want += number(r, k);
        off = fmax(off, fabs(a[k] - want));
    }
    CHECK_CLOSE(off, 0.0, 4e-16 * size * size); /* sums of so many numbers near 1 */
    memcpy(first, a, (size_t)n * sizeof *a);
    MPI_Bcast(first, (int)n, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    CHECK(memcmp(first, a, (size_t)n * sizeof *a) == 0);
    DKM_FREE(work);
    DKM_FREE(first);
    DKM_FREE(a);
}

/* Short arrays, long ones, and such as ranks do not divide. */
static void sums_are_the_same_on_every_rank(dkm_ctx *ctx)
{
    const dkm_idx lengths[] = {0, 1, 7, 255, 256, 257, 1000, 4099};

    for (int k = 0; k < 8; k++) {
        compare(ctx, lengths[k], 1);
        compare(ctx, lengths[k], 0);
    }
}

static const check_case cases[] = {
    CASE(sums_are_the_same_on_every_rank),
};

CHECK_MAIN(cases)
