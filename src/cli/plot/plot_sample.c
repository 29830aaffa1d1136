#include "cli/plot/plot_sample.h"

#include <stdlib.h>

#include <dkmap/random.h>

enum { STREAM = 7301 };

dkm_status sample_open(sample *s, run *r, dkm_idx m, int width)
{
    dkm_status status = DKM_OK;

    *s = (sample){.r = r, .m = m, .count = m < SAMPLE_ROWS ? m : SAMPLE_ROWS, .width = width};
    s->values = calloc((size_t)(s->count * width + 1), sizeof *s->values);
    DKM_AGREE(r->ctx, s->values ? DKM_LOCAL_OK
                                : dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for a picture"));
out:
    return status;
}

void sample_close(sample *s)
{
    free(s->values);
    s->values = NULL;
}

/* The row of range k. */
static dkm_idx chosen_row(const sample *s, dkm_idx k)
{
    dkm_idx from = k * s->m / s->count, to = (k + 1) * s->m / s->count;

    return from + dkm_random_below(0, STREAM, (uint64_t)k, to - from);
}

void sample_take(sample *s, const dkm_data *data, dkm_idx first, dkm_idx column, int at, int width)
{
    const double *values = dkm_data_values_const(data);
    dkm_idx rows = dkm_data_local_rows(data), d = dkm_data_cols(data);

    first += dkm_data_local_first(data);
    for (dkm_idx k = 0; k < s->count; k++) {
        dkm_idx row = chosen_row(s, k) - first;
        for (int j = 0; row >= 0 && row < rows && j < width; j++)
            s->values[k * s->width + at + j] = values[row * d + column + j];
    }
}

void sample_gather(sample *s)
{
    MPI_Allreduce(MPI_IN_PLACE, s->values, (int)(s->count * s->width), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(s->r->ctx));
}
