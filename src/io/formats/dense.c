#include "io/formats/dense.h"

#include <math.h>

#include "core/checked.h"

#define PLAUSIBLE_BYTES 33554432.0
#define PLAUSIBLE_RATIO 8256.0             /* 1032 * 8 */
#define LARGEST_LABEL   9007199254740992.0 /* 2^53: beyond it integers share a double */

dkm_local dkm_dense_resolve_type(dkm_file *file, dkm_idx m, dkm_idx d, int labels)
{
    dkm_type type = file->type;

    if (type == DKM_TYPE_COUNT)
        type = labels ? DKM_LABELS : DKM_DENSE;
    if (dkm_type_storage_form(type) != DKM_STORED_VALUES)
        return dkm_fail(file->ctx, DKM_ERR_ARG,
                        "%s holds numbers, not %s: its type can be dense, labels, gram or distance",
                        file->path, dkm_type_name(type));
    file->m = m;
    file->d = d;
    file->type = type;
    return DKM_LOCAL_OK;
}

dkm_local dkm_dense_plausible(const dkm_file *file, dkm_idx m, dkm_idx d, dkm_idx bytes)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx wanted = 0;

    DKM_STEP(dkm_checked_mul(file->ctx, m, d, file->path, &wanted));
    DKM_STEP(dkm_checked_mul(file->ctx, wanted, (dkm_idx)sizeof(double), file->path, &wanted));
    if ((double)wanted > PLAUSIBLE_BYTES + PLAUSIBLE_RATIO * (double)bytes)
        local = dkm_fail(file->ctx, DKM_ERR_FORMAT,
                         "%s: %lld x %lld numbers out of %lld bytes: was it written to its end? If "
                         "nearly all are zero, read it as sparse",
                         file->path, (long long)m, (long long)d, (long long)bytes);
out:
    return local;
}

int dkm_dense_is_label(double value)
{
    return value == floor(value) && fabs(value) <= LARGEST_LABEL;
}

static dkm_local tell_number(const dkm_file *file, dkm_idx row, dkm_idx col, double value)
{
    if (!isfinite(value))
        return dkm_fail(
            file->ctx, DKM_ERR_FORMAT,
            "%s: row %lld, column %lld is %s: remove or fill in such numbers first; of inputs, "
            "--missing says what to do with NaN",
            file->path, (long long)row, (long long)col, isnan(value) ? "NaN" : "Inf");
    return dkm_fail(file->ctx, DKM_ERR_FORMAT,
                    "%s: row %lld, column %lld is %.17g, which is no class label: an integer "
                    "is needed",
                    file->path, (long long)row, (long long)col, value);
}

dkm_local dkm_dense_check(const dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx c0,
                          const dkm_objs *objs)
{
    int labels = objs->type == DKM_LABELS;

    for (dkm_idx i = 0; objs->d > 0 && i < objs->n; i++) {
        const double *row = objs->values + i * objs->d;
        for (dkm_idx j = 0; j < objs->d; j++)
            if (isnan(row[j]) && file->missing_ok)
                continue;
            else if (!isfinite(row[j]) || (labels && !dkm_dense_is_label(row[j])))
                return tell_number(file, first + i * step, c0 + j, row[j]);
    }
    return DKM_LOCAL_OK;
}
