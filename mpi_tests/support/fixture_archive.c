#include "support/fixture_archive.h"

#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/store.h>

#include "core/alloc.h"
#include "io/archive/archive_file.h"
#include "support/check.h"

/* Object ig of every type: what it holds follows from ig alone. */
static double value_of(dkm_idx ig, dkm_idx j)
{
    return (double)ig + 0.125 * (double)j;
}

static dkm_idx items_of(dkm_idx ig)
{
    return ig % 4;
}

static char byte_of(dkm_idx ig, dkm_idx j)
{
    return (char)(unsigned char)((ig * 31 + j * 97 + 200) % 256);
}

static dkm_local fill(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, dkm_objs *o)
{
    dkm_local local = DKM_LOCAL_OK;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(m, rank, size), n = dkm_slab_count(m, rank, size), at = 0;

    DKM_STEP(dkm_objs_init(o, ctx, type, n, d, 4 * n));
    for (dkm_idx k = 0; o->values && k < n * d; k++)
        o->values[k] = value_of(first + k / d, k % d);
    for (dkm_idx i = 0; o->start && i < n; i++) {
        for (dkm_idx j = 0; j < items_of(first + i); j++, at++) {
            if (o->bytes)
                o->bytes[at] = byte_of(first + i, j);
            if (o->col)
                o->col[at] = j;
            if (o->val)
                o->val[at] = value_of(first + i, j);
        }
        o->start[i + 1] = at;
    }
out:
    return local;
}

static dkm_status make(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_idx d, dkm_data **data)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    *data = NULL;
    DKM_AGREE(ctx, fill(ctx, type, m, d, &objs));
    DKM_TRY(dkm_data_wrap(ctx, m, &objs, data));
out:
    dkm_objs_clear(&objs);
    return status;
}

/* Whether this rank's slab is that of make(). */
static int is_made(dkm_ctx *ctx, const dkm_data *data, dkm_type type, dkm_idx m, dkm_idx d)
{
    dkm_objs o = {0};
    const dkm_objs *got = &data->mine;
    int same = data->m == m && got->type == type && got->d == d;
    size_t items;

    CHECK(fill(ctx, type, m, d, &o).code == DKM_OK);
    same = same && got->n == o.n;
    items = same && o.start ? (size_t)o.start[o.n] : 0;
    if (same && o.values)
        same = memcmp(got->values, o.values, (size_t)(o.n * d) * sizeof *o.values) == 0;
    if (same && o.start)
        same = memcmp(got->start, o.start, (size_t)(o.n + 1) * sizeof *o.start) == 0;
    if (same && o.bytes)
        same = memcmp(got->bytes, o.bytes, items) == 0;
    if (same && o.col)
        same = memcmp(got->col, o.col, items * sizeof *o.col) == 0;
    if (same && o.val)
        same = memcmp(got->val, o.val, items * sizeof *o.val) == 0;
    dkm_objs_clear(&o);
    return same;
}

static dkm_idx width_of(dkm_type type)
{
    dkm_storage_form keeping = dkm_type_storage_form(type);

    return keeping == DKM_STORED_BYTES   ? 0
           : keeping == DKM_STORED_LISTS ? 4
           : type == DKM_LABELS          ? 1
                                         : 3;
}

static const double three[] = {1.5, -2.0, 1e300};

static dkm_local put_small(dkm_archive *b)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_text(b, "kernel", "rbf(sigma=2)"));
    DKM_STEP(dkm_archive_put_text(b, "nothing", ""));
    DKM_STEP(dkm_archive_put_real(b, "gamma", 0.1));
    DKM_STEP(dkm_archive_put_reals(b, "mean", 3, three));
    DKM_STEP(dkm_archive_put_reals(b, "none", 0, three));
out:
    return local;
}

dkm_status fixture_store_save(dkm_ctx *ctx, dkm_idx m, const char *path)
{
    dkm_status status = DKM_OK;
    dkm_archive b = dkm_archive_empty(ctx);
    dkm_data *data = NULL;

    DKM_AGREE(ctx, put_small(&b));
    for (int t = 0; t < DKM_TYPE_COUNT; t++) {
        DKM_TRY(make(ctx, (dkm_type)t, m, width_of((dkm_type)t), &data));
        DKM_AGREE(ctx, dkm_archive_put_data(&b, dkm_type_name((dkm_type)t), &data));
    }
    DKM_TRY(dkm_archive_save(&b, path, "krr", "dkmap fit krr"));
out:
    dkm_data_destroy(&data);
    dkm_archive_clear(&b);
    return status;
}

static void check_small(const dkm_archive *b)
{
    const char *text = NULL;
    const double *reals = NULL;
    double gamma = 0;
    dkm_idx count = 0;

    CHECK(dkm_archive_text(b, "kernel", &text).code == DKM_OK && strcmp(text, "rbf(sigma=2)") == 0);
    CHECK(dkm_archive_text(b, "nothing", &text).code == DKM_OK && text[0] == '\0');
    CHECK(dkm_archive_real(b, "gamma", &gamma).code == DKM_OK && gamma == 0.1);
    CHECK(dkm_archive_reals(b, "mean", &count, &reals).code == DKM_OK && count == 3);
    CHECK(memcmp(reals, three, sizeof three) == 0);
    CHECK(dkm_archive_reals(b, "none", &count, &reals).code == DKM_OK && count == 0);
}

static void check_header(const dkm_archive_header *h, int writers)
{
    CHECK(h->version == DKM_BUNDLE_VERSION && h->ranks == writers);
    CHECK(strcmp(h->method, "krr") == 0 && strcmp(h->command, "dkmap fit krr") == 0);
    CHECK(strcmp(h->program, DKMAP_VERSION) == 0 && strlen(h->created) == 20);
}

void fixture_store_check(dkm_ctx *ctx, dkm_idx m, const char *path, int writers)
{
    dkm_archive b;
    dkm_archive_header h;
    dkm_data *data = NULL;

    CHECK_OK(ctx, dkm_archive_load(ctx, path, &b, &h));
    if (b.count == 5 + DKM_TYPE_COUNT) {
        check_small(&b);
        check_header(&h, writers);
        for (int t = 0; t < DKM_TYPE_COUNT; t++) {
            dkm_type type = (dkm_type)t;
            CHECK(dkm_archive_take_data(&b, dkm_type_name(type), &data).code == DKM_OK);
            CHECK(data && is_made(ctx, data, type, m, width_of(type)));
            dkm_data_destroy(&data);
        }
    } else {
        CHECK(b.count == 5 + DKM_TYPE_COUNT);
    }
    dkm_archive_header_clear(&h);
    dkm_archive_clear(&b);
}

dkm_status fixture_store_load(dkm_ctx *ctx, const char *path)
{
    dkm_archive b;
    dkm_archive_header h;
    dkm_status status = dkm_archive_load(ctx, path, &b, &h);

    dkm_archive_header_clear(&h);
    dkm_archive_clear(&b);
    return status;
}
