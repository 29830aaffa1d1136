#include "support/fixture_reading.h"

#include <string.h>

#include <dkmap/grid.h>

#include "support/scratch.h"

dkm_status reading_rows(reading *r, dkm_idx first, dkm_idx step, dkm_idx count)
{
    dkm_ctx *ctx = r->file.ctx;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx mine = dkm_slab_first(count, rank, size);

    dkm_objs_clear(&r->objs);
    r->first = mine;
    return dkm_agree(ctx,
                     r->format->read(&r->file, first + mine * step, step,
                                     dkm_slab_count(count, rank, size), 0, r->file.d, &r->objs));
}

dkm_status reading_begin(reading *r, dkm_ctx *ctx, const dkm_format *format, const char *path,
                         dkm_role role, dkm_type type)
{
    *r = (reading){.format = format};
    r->file = (dkm_file){.ctx = ctx, .path = path, .role = role, .type = type};
    r->status = format->open(&r->file);
    if (r->status == DKM_OK)
        r->status = reading_rows(r, 0, 1, r->file.m);
    return r->status;
}

void reading_end(reading *r)
{
    dkm_objs_clear(&r->objs);
    r->format->close(&r->file);
}

reading reading_of(dkm_ctx *ctx, const dkm_format *format, const char *text, dkm_role role,
                   dkm_type type)
{
    static char path[SCRATCH_LENGTH];
    reading r;

    scratch_path(ctx, "text", path);
    scratch_text(ctx, path, text);
    (void)reading_begin(&r, ctx, format, path, role, type);
    scratch_remove(ctx, path);
    return r;
}

reading reading_inputs(dkm_ctx *ctx, const dkm_format *format, const char *text)
{
    return reading_of(ctx, format, text, DKM_INPUTS, DKM_TYPE_COUNT);
}

void reading_refused(dkm_ctx *ctx, const dkm_format *format, const char *text, const char *words)
{
    reading r = reading_inputs(ctx, format, text);

    CHECK(r.status == DKM_ERR_FORMAT || r.status == DKM_ERR_IO);
    if (!strstr(dkm_ctx_message(ctx), words) || strchr(dkm_ctx_message(ctx), '\n'))
        check_failed(__FILE__, __LINE__, "'%s' does not say '%s'", dkm_ctx_message(ctx), words);
    reading_end(&r);
}

int reading_strings(const reading *r, dkm_idx m, const char *const *wanted)
{
    int same = r->status == DKM_OK && r->file.m == m;

    for (dkm_idx i = 0; same && i < r->objs.n; i++) {
        dkm_idx length = r->objs.start[i + 1] - r->objs.start[i];
        const char *want = wanted[r->first + i];
        same = (size_t)length == strlen(want) &&
               memcmp(r->objs.bytes + r->objs.start[i], want, (size_t)length) == 0;
    }
    return same;
}

double reading_entry(const reading *r, dkm_idx row, dkm_idx col, double missing, double elsewhere)
{
    dkm_idx i = row - r->first;

    if (i < 0 || i >= r->objs.n)
        return elsewhere;
    for (dkm_idx k = r->objs.start[i]; k < r->objs.start[i + 1]; k++)
        if (r->objs.col[k] == col)
            return r->objs.val ? r->objs.val[k] : 1.0;
    return missing;
}

int reading_lists(const reading *r, dkm_idx m, dkm_idx d, const double *wanted)
{
    int same = r->status == DKM_OK && r->file.m == m && r->file.d == d;

    for (dkm_idx k = 0; same && k < m * d; k++)
        same = reading_entry(r, k / d, k % d, 0.0, wanted[k]) == wanted[k];
    return same;
}

int reading_values(const reading *r, dkm_idx m, dkm_idx d, const double *wanted)
{
    int same = r->status == DKM_OK && r->file.m == m && r->file.d == d;

    for (dkm_idx k = 0; same && k < r->objs.n * d; k++)
        same = r->objs.values[k] == wanted[r->first * d + k];
    return same;
}
