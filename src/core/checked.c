#include "core/checked.h"

#include <limits.h>

dkm_local dkm_checked_int(dkm_ctx *ctx, dkm_idx value, const char *what, int *out)
{
    *out = (int)value;
    if (value < INT_MIN || value > INT_MAX)
        return dkm_fail(ctx, DKM_ERR_SIZE, "%s = %lld does not fit in 32 bits: use more ranks",
                        what, (long long)value);
    return DKM_LOCAL_OK;
}

dkm_local dkm_checked_mul(dkm_ctx *ctx, dkm_idx a, dkm_idx b, const char *what, dkm_idx *out)
{
    *out = 0;
    if (a != 0 && (b > INT64_MAX / a || a < 0 || b < 0))
        return dkm_fail(ctx, DKM_ERR_SIZE, "%s = %lld x %lld does not fit in 64 bits", what,
                        (long long)a, (long long)b);
    *out = a * b;
    return DKM_LOCAL_OK;
}
