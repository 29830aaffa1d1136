#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "data/fetch.h"
#include "support/check.h"

enum { COLS = 5, EXTRAS = 2 };

static const dkm_fetch_bounds roomy = {1 << 20, 1 << 20};

/* Object g of any test data: how long it is and what item k of it is. */
static dkm_idx length_of(dkm_idx g)
{
    return g % 7 == 3 ? 0 : 1 + dkm_random_below(5, 1, (uint64_t)g, 40);
}

static double value_of(dkm_idx g, dkm_idx k)
{
    return (double)(g * 1000 + k);
}

static void fill_object(dkm_objs *objs, dkm_idx i, dkm_idx g)
{
    for (dkm_idx k = 0; objs->values && k < objs->d; k++)
        objs->values[i * objs->d + k] = value_of(g, k);
    for (dkm_idx k = 0; objs->start && k < length_of(g); k++) {
        dkm_idx at = objs->start[i] + k;
        if (objs->bytes)
            objs->bytes[at] = (char)('a' + (g + k) % 26);
        if (objs->col)
            objs->col[at] = g + k;
        if (objs->val)
            objs->val[at] = value_of(g, k);
    }
    for (dkm_idx k = 0; k < objs->extras; k++)
        objs->extra[i * objs->extras + k] = -value_of(g, k);
}

static dkm_local make_objects(dkm_ctx *ctx, dkm_type type, dkm_idx first, dkm_idx n, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx items = 0;

    for (dkm_idx i = 0; i < n; i++)
        items += length_of(first + i);
    DKM_STEP(dkm_objs_init(objs, ctx, type, n, COLS, items));
    DKM_STEP(dkm_objs_add_extra(objs, EXTRAS));
    for (dkm_idx i = 0; i < n; i++) {
        if (objs->start)
            objs->start[i + 1] = objs->start[i] + length_of(first + i);
        fill_object(objs, i, first + i);
    }
out:
    return local;
}

static dkm_status make_data(dkm_ctx *ctx, dkm_type type, dkm_idx m, dkm_data **data)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_objs objs = {0};

    *data = NULL;
    DKM_AGREE(ctx, make_objects(ctx, type, dkm_slab_first(m, rank, size),
                                dkm_slab_count(m, rank, size), &objs));
    DKM_TRY(dkm_data_wrap(ctx, m, &objs, data));
out:
    dkm_objs_clear(&objs);
    return status;
}

static int same_object(const dkm_objs *objs, dkm_idx i, dkm_idx g)
{
    int same = 1;

    for (dkm_idx k = 0; objs->values && k < objs->d; k++)
        same &= objs->values[i * objs->d + k] == value_of(g, k);
    if (objs->start)
        same &= objs->start[i + 1] - objs->start[i] == length_of(g);
    for (dkm_idx k = 0; same && objs->start && k < length_of(g); k++) {
        dkm_idx at = objs->start[i] + k;
        same &= !objs->bytes || objs->bytes[at] == (char)('a' + (g + k) % 26);
        same &= !objs->col || objs->col[at] == g + k;
        same &= !objs->val || objs->val[at] == value_of(g, k);
    }
    for (dkm_idx k = 0; k < objs->extras; k++)
        same &= objs->extra[i * objs->extras + k] == -value_of(g, k);
    return same;
}

static int same_objects(const dkm_objs *objs, dkm_type type, dkm_idx n, const dkm_idx *wanted)
{
    int same = objs->type == type && objs->n == n && objs->extras == EXTRAS;

    for (dkm_idx i = 0; same && i < n; i++)
        same &= same_object(objs, i, wanted[i]);
    return same;
}

/* Every rank asks for its own number of objects, at random and with repeats. */
static void fetch_some(dkm_ctx *ctx, const dkm_data *data, dkm_idx count, dkm_fetch_bounds bounds)
{
    dkm_idx *wanted = NULL, m = dkm_data_rows(data);
    uint64_t rank = (uint64_t)dkm_ctx_rank(ctx);
    dkm_objs got = {0};

    CHECK(dkm_alloc(ctx, count, &wanted).code == DKM_OK);
    for (dkm_idx k = 0; k < count; k++)
        wanted[k] = dkm_random_below(11, rank, (uint64_t)k, m);
    CHECK_OK(ctx, dkm_data_fetch_bounded(data, count, wanted, bounds, &got));
    CHECK(same_objects(&got, dkm_data_type(data), count, wanted));
    dkm_objs_clear(&got);
    DKM_FREE(wanted);
}

static void objects_of_every_type_are_fetched(dkm_ctx *ctx)
{
    for (int type = 0; type < DKM_TYPE_COUNT; type++) {
        dkm_data *data = NULL;
        CHECK_OK(ctx, make_data(ctx, (dkm_type)type, 101, &data));
        fetch_some(ctx, data, 50 + 17 * dkm_ctx_rank(ctx), roomy);
        fetch_some(ctx, data, dkm_ctx_rank(ctx) == 0 ? 200 : 0, roomy);
        fetch_some(ctx, data, 0, roomy);
        dkm_data_destroy(&data);
    }
}

static void tight_bounds_give_the_same_objects(dkm_ctx *ctx)
{
    static const dkm_fetch_bounds tight[] = {{1, 1}, {7, 1 << 20}, {1 << 20, 37}, {50, 1000}};
    static const dkm_type types[] = {DKM_DENSE, DKM_GRAPH, DKM_LABEL_SETS, DKM_STRINGS};

    for (int k = 0; k < 4; k++)
        for (int b = 0; b < 4; b++) {
            dkm_data *data = NULL;
            CHECK_OK(ctx, make_data(ctx, types[k], 23, &data));
            fetch_some(ctx, data, b == 0 ? 3 : 30, tight[b]);
            dkm_data_destroy(&data);
        }
}

static void fewer_objects_than_ranks_are_fetched(dkm_ctx *ctx)
{
    for (dkm_idx m = 1; m < dkm_ctx_size(ctx) + 2; m++) {
        dkm_data *data = NULL;
        CHECK_OK(ctx, make_data(ctx, DKM_SPARSE, m, &data));
        fetch_some(ctx, data, 5, roomy);
        dkm_data_destroy(&data);
    }
}

static void nothing_can_be_fetched_from_nothing(dkm_ctx *ctx)
{
    dkm_idx wanted = 0;
    dkm_data *data = NULL;
    dkm_objs got = {0};

    CHECK_OK(ctx, make_data(ctx, DKM_STRINGS, 0, &data));
    CHECK_OK(ctx, dkm_data_fetch(data, 0, NULL, &got));
    CHECK(got.n == 0 && got.start && got.start[0] == 0);
    dkm_objs_clear(&got);
    CHECK(dkm_data_fetch(data, 1, &wanted, &got) == DKM_ERR_ARG);
    dkm_objs_clear(&got);
    dkm_data_destroy(&data);
}

static void an_index_outside_fails_on_all_ranks(dkm_ctx *ctx)
{
    dkm_data *data = NULL;

    CHECK_OK(ctx, make_data(ctx, DKM_DENSE, 10, &data));
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++) {
        dkm_idx wanted = dkm_ctx_rank(ctx) == victim ? 10 : 3;
        dkm_objs got = {0};
        CHECK(dkm_data_fetch(data, 1, &wanted, &got) == DKM_ERR_ARG);
        CHECK(strstr(dkm_ctx_message(ctx), "object 10") != NULL);
        dkm_objs_clear(&got);
    }
    dkm_data_destroy(&data);
}

static void rows_are_selected_in_the_order_given(dkm_ctx *ctx)
{
    static const dkm_idx rows[] = {9, 0, 4, 4, 12, 1, 9};
    dkm_data *data = NULL, *chosen = NULL;

    for (dkm_idx count = 0; count <= 7; count++) {
        CHECK_OK(ctx, make_data(ctx, DKM_SETS, 13, &data));
        CHECK_OK(ctx, dkm_data_select(data, count, rows, &chosen));
        CHECK(dkm_data_rows(chosen) == count && dkm_data_type(chosen) == DKM_SETS);
        CHECK(same_objects(&chosen->mine, DKM_SETS, dkm_data_local_rows(chosen),
                           rows + dkm_data_local_first(chosen)));
        dkm_data_destroy(&chosen);
        dkm_data_destroy(&data);
    }
}

static void made_data_are_zero(dkm_ctx *ctx)
{
    dkm_data *X = NULL, *y = NULL;
    double sum = 0;

    CHECK_OK(ctx, dkm_data_create_dense(ctx, 11, 3, &X));
    CHECK_OK(ctx, dkm_data_create_labels(ctx, 11, &y));
    CHECK(dkm_data_rows(X) == 11 && dkm_data_cols(X) == 3 && dkm_data_type(X) == DKM_DENSE);
    CHECK(dkm_data_rows(y) == 11 && dkm_data_cols(y) == 1 && dkm_data_type(y) == DKM_LABELS);
    for (dkm_idx k = 0; k < dkm_data_local_rows(X) * 3; k++)
        sum += dkm_data_values(X)[k] * dkm_data_values(X)[k];
    for (dkm_idx k = 0; k < dkm_data_local_rows(y); k++)
        sum += dkm_data_values_const(y)[k] * dkm_data_values_const(y)[k];
    CHECK(sum == 0.0 && dkm_data_ctx(X) == ctx);
    dkm_data_destroy(&X);
    dkm_data_destroy(&y);
    CHECK(dkm_data_create_dense(ctx, -1, 3, &X) == DKM_ERR_ARG && X == NULL);
}

static void made_strings_have_their_lengths(dkm_ctx *ctx)
{
    enum { M = 9 };
    dkm_idx lengths[M], wanted[] = {7, 0, 7}, first, length;
    dkm_data *made = NULL, *chosen = NULL;

    first = dkm_slab_first(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    for (dkm_idx i = 0; i < M; i++)
        lengths[i] = first + i;
    CHECK_OK(ctx, dkm_data_create_strings(ctx, M, lengths, &made));
    CHECK(dkm_data_type(made) == DKM_STRINGS && dkm_data_rows(made) == M);
    for (dkm_idx i = 0; i < dkm_data_local_rows(made); i++) {
        char *text = dkm_data_string(made, i, &length);
        CHECK(length == first + i);
        memset(text, 'a' + (int)length, (size_t)length);
    }
    CHECK_OK(ctx, dkm_data_select(made, 3, wanted, &chosen));
    for (dkm_idx i = 0; i < dkm_data_local_rows(chosen); i++) {
        const char *text = dkm_data_string_const(chosen, i, &length);
        CHECK(length == wanted[dkm_data_local_first(chosen) + i]);
        CHECK(length == 0 || (text[0] == 'h' && text[length - 1] == 'h'));
    }
    dkm_data_destroy(&chosen);
    dkm_data_destroy(&made);
    lengths[0] = -1;
    CHECK(dkm_data_create_strings(ctx, M, lengths, &made) == DKM_ERR_ARG && made == NULL);
}

static void types_have_names(dkm_ctx *ctx)
{
    (void)ctx;
    for (int type = 0; type < DKM_TYPE_COUNT; type++)
        CHECK(dkm_type_from_name(dkm_type_name((dkm_type)type)) == (dkm_type)type);
    CHECK(dkm_type_from_name("dance") == DKM_TYPE_COUNT);
    CHECK(strcmp(dkm_type_name(DKM_LABEL_SETS), "label-sets") == 0);
}

static dkm_status fetch_under_pressure(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_idx wanted[] = {3, 17, 0, 8, 19};
    dkm_data *data = NULL, *chosen = NULL;

    DKM_TRY(make_data(ctx, DKM_SPARSE, 20, &data));
    DKM_TRY(dkm_data_select(data, 5, wanted, &chosen));
out:
    dkm_data_destroy(&chosen);
    dkm_data_destroy(&data);
    return status;
}

static void every_allocation_of_a_fetch_may_fail(dkm_ctx *ctx)
{
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, fetch_under_pressure);
}

/* Beside the rows: their places and buffers that do not grow with m. First of the cases, as the
 * peak is that of the context's whole life. */
static void fetching_holds_little_beside_the_objects(dkm_ctx *ctx)
{
    enum { M = 4000, D = 64, WANTED = 500 };
    dkm_idx wanted[WANTED], before;
    dkm_data *data = NULL;
    dkm_objs got = {0};

    CHECK_OK(ctx, dkm_data_create_dense(ctx, M, D, &data));
    for (int k = 0; k < WANTED; k++)
        wanted[k] = M - 1 - k;
    before = dkm_ctx_live_bytes(ctx);
    CHECK_OK(ctx,
             dkm_data_fetch_bounded(data, WANTED, wanted, (dkm_fetch_bounds){100, 8192}, &got));
    CHECK(dkm_ctx_live_bytes(ctx) - before == WANTED * D * (dkm_idx)sizeof(double));
    CHECK(dkm_ctx_peak_bytes(ctx) <= before + WANTED * (D + 1) * (dkm_idx)sizeof(double) + 32768);
    dkm_objs_clear(&got);
    dkm_data_destroy(&data);
}

static const check_case cases[] = {
    CASE(fetching_holds_little_beside_the_objects), CASE(objects_of_every_type_are_fetched),
    CASE(tight_bounds_give_the_same_objects),       CASE(fewer_objects_than_ranks_are_fetched),
    CASE(nothing_can_be_fetched_from_nothing),      CASE(an_index_outside_fails_on_all_ranks),
    CASE(rows_are_selected_in_the_order_given),     CASE(made_data_are_zero),
    CASE(made_strings_have_their_lengths),          CASE(types_have_names),
    CASE(every_allocation_of_a_fetch_may_fail),
};

CHECK_MAIN(cases)
