/* Data from memory, in every type, layout and distribution over the ranks, and back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/arrays.h>
#include <dkmap/grid.h>

#include "support/check.h"

enum { M = 17, D = 3 };

/* How the M objects lie on the ranks before they become data. */
typedef enum spread { SLABS, FIRST_RANK, LAST_RANK, UNEVEN, SPREADS } spread;

static void share_of(dkm_ctx *ctx, spread s, dkm_idx *first, dkm_idx *count)
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    int holder = s == FIRST_RANK ? 0 : size - 1;

    *first = dkm_slab_first(M, rank, size);
    *count = dkm_slab_count(M, rank, size);
    if (s == FIRST_RANK || s == LAST_RANK) {
        *first = rank <= holder ? 0 : M;
        *count = rank == holder ? M : 0;
    } else if (s == UNEVEN) { /* rank r has 2 r + 1 objects, as far as there are any */
        dkm_idx end = (dkm_idx)(rank + 1) * (rank + 1);
        *first = (dkm_idx)rank * rank < M ? (dkm_idx)rank * rank : M;
        *count = (rank == size - 1 || end > M ? M : end) - *first;
    }
}

static double element(dkm_idx i, dkm_idx j)
{
    return (double)(i * 100 + j) / 8; /* a float holds it exactly */
}

static void check_values(dkm_ctx *ctx, const dkm_data *data, dkm_type type)
{
    CHECK(dkm_data_type(data) == type);
    CHECK(dkm_data_rows(data) == M);
    CHECK(dkm_data_cols(data) == D);
    CHECK(dkm_data_local_rows(data) == dkm_slab_count(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)));
    for (dkm_idx i = 0; i < dkm_data_local_rows(data); i++)
        for (dkm_idx j = 0; j < D; j++)
            CHECK(dkm_data_values_const(data)[i * D + j] ==
                  element(dkm_data_local_first(data) + i, j));
}

/* One array in one layout: 0 row-major, 1 column-major, 2 row-major with gaps. */
static void try_array(dkm_ctx *ctx, spread s, dkm_precision precision, int layout)
{
    double doubles[M * (D + 2)];
    float floats[M * (D + 2)];
    dkm_idx first, n;
    dkm_data *data = NULL;
    dkm_array a;

    share_of(ctx, s, &first, &n);
    a = (dkm_array){.precision = precision, .rows = n, .cols = D};
    a.row_stride = layout == 1 ? 1 : layout == 2 ? D + 2 : D;
    a.col_stride = layout == 1 ? n : 1;
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < D; j++) {
            doubles[i * a.row_stride + j * a.col_stride] = element(first + i, j);
            floats[i * a.row_stride + j * a.col_stride] = (float)element(first + i, j);
        }
    a.values = precision == DKM_F64 ? (const void *)doubles : floats;
    CHECK_OK(ctx, dkm_data_from_array(ctx, DKM_DENSE, &a, &data));
    if (data)
        check_values(ctx, data, DKM_DENSE);
    dkm_data_destroy(&data);
}

static void arrays_of_every_layout_become_the_same_rows(dkm_ctx *ctx)
{
    for (int s = 0; s < SPREADS; s++)
        for (int layout = 0; layout < 3; layout++) {
            try_array(ctx, (spread)s, DKM_F64, layout);
            try_array(ctx, (spread)s, DKM_F32, layout);
        }
}

static void fill_rows(double *rows, dkm_idx first, dkm_idx n)
{
    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < D; j++)
            rows[i * D + j] = element(first + i, j);
}

static void a_borrowed_array_is_used_in_place(dkm_ctx *ctx)
{
    double rows[M * D];
    int64_t before = dkm_ctx_live_bytes(ctx);
    dkm_idx first, n;
    dkm_data *data = NULL;
    dkm_array a;

    share_of(ctx, SLABS, &first, &n);
    fill_rows(rows, first, n);
    a = dkm_array_row_major(rows, n, D);
    a.borrow = 1;
    CHECK_OK(ctx, dkm_data_from_array(ctx, DKM_GRAM, &a, &data));
    CHECK(data && dkm_data_is_borrowed(data) && dkm_data_values_const(data) == rows);
    CHECK(dkm_ctx_live_bytes(ctx) - before < 512);
    check_values(ctx, data, DKM_GRAM);
    dkm_data_destroy(&data);
    CHECK(n == 0 || rows[0] == element(first, 0));
}

static void a_borrowed_array_is_copied_where_it_must_move(dkm_ctx *ctx)
{
    double rows[M * D];
    dkm_idx first, n;
    dkm_data *data = NULL;
    dkm_array a;

    if (dkm_ctx_size(ctx) == 1)
        return;
    share_of(ctx, FIRST_RANK, &first, &n);
    fill_rows(rows, first, n);
    a = dkm_array_row_major(rows, n, n > 0 ? D : 0);
    a.borrow = 1;
    CHECK_OK(ctx, dkm_data_from_array(ctx, DKM_DISTANCE, &a, &data));
    CHECK(data && !dkm_data_is_borrowed(data));
    check_values(ctx, data, DKM_DISTANCE);
    dkm_data_destroy(&data);
}

static void labels_come_from_integers(dkm_ctx *ctx)
{
    int64_t labels[M];
    dkm_idx first, n;
    dkm_data *data = NULL;

    share_of(ctx, UNEVEN, &first, &n);
    for (dkm_idx i = 0; i < n; i++)
        labels[i] = (first + i) % 5 - 2;
    CHECK_OK(ctx, dkm_data_from_labels(ctx, n, labels, &data));
    CHECK(dkm_data_type(data) == DKM_LABELS && dkm_data_rows(data) == M);
    for (dkm_idx i = 0; i < dkm_data_local_rows(data); i++)
        CHECK(dkm_data_values_const(data)[i] == (double)((dkm_data_local_first(data) + i) % 5 - 2));
    dkm_data_destroy(&data);
}

/* Row i has entries in columns i, i - 1, ..., i - i % 3 (modulo M), the last one first. */
static dkm_idx make_lists(dkm_idx first, dkm_idx n, dkm_idx *start, dkm_idx *col, double *value)
{
    dkm_idx used = 7; /* lists need not begin at 0 */

    for (dkm_idx i = 0; i < n; i++) {
        start[i] = used;
        for (dkm_idx k = 0; k <= (first + i) % 3; k++, used++) {
            col[used] = (first + i - k + M) % M;
            value[used] = element(first + i, col[used]);
        }
    }
    start[n] = used;
    return used;
}

static void check_list(dkm_idx i, dkm_idx count, const dkm_idx *cols, const double *values)
{
    CHECK(count == i % 3 + 1);
    for (dkm_idx k = 0; k < count; k++) {
        CHECK(k == 0 || cols[k - 1] < cols[k]);
        CHECK((i - cols[k] + M) % M <= i % 3);
        CHECK(!values || values[k] == element(i, cols[k]));
    }
}

static void try_lists(dkm_ctx *ctx, dkm_type type, spread s)
{
    dkm_idx start[M + 1], col[4 * M + 7], first, n;
    double value[4 * M + 7];
    const dkm_idx *cols;
    const double *values;
    dkm_data *data = NULL;
    dkm_rows *rows = NULL;

    share_of(ctx, s, &first, &n);
    (void)make_lists(first, n, start, col, value);
    CHECK_OK(ctx, dkm_data_from_csr(
                      ctx, type, &(dkm_csr){n, type == DKM_SPARSE ? M + 4 : 0, start, col, value},
                      &data));
    if (!data)
        return;
    CHECK(dkm_data_cols(data) == (type == DKM_SPARSE ? M + 4 : M));
    for (dkm_idx i = 0; i < dkm_data_local_rows(data); i++) {
        dkm_idx count = dkm_data_entries(data, i, &cols, &values);
        check_list(dkm_data_local_first(data) + i, count, cols, values);
        CHECK((values == NULL) == (type == DKM_LABEL_SETS));
    }
    CHECK_OK(ctx, dkm_rows_get(data, first, n, &rows));
    CHECK(dkm_rows_count(rows) == n && dkm_rows_type(rows) == type);
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx count = dkm_rows_entries(rows, i, &cols, &values);
        check_list(first + i, count, cols, values);
    }
    dkm_rows_destroy(&rows);
    dkm_data_destroy(&data);
}

static void sparse_rows_and_label_sets_come_from_lists(dkm_ctx *ctx)
{
    for (int s = 0; s < SPREADS; s++) {
        try_lists(ctx, DKM_SPARSE, (spread)s);
        try_lists(ctx, DKM_LABEL_SETS, (spread)s);
    }
}

/* A ring with weights; @p skew makes one edge differ between its two directions. */
static dkm_status make_ring(dkm_ctx *ctx, spread s, double skew, dkm_data **data)
{
    dkm_idx start[M + 1], col[2 * M], first, n;
    double value[2 * M];

    share_of(ctx, s, &first, &n);
    start[0] = 0;
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx v = first + i, low = v == 0 ? M - 1 : v - 1;
        col[2 * i] = (v + 1) % M;
        value[2 * i] = (double)v + 1 + (v == 5 ? skew : 0);
        col[2 * i + 1] = low;
        value[2 * i + 1] = (double)low + 1;
        start[i + 1] = 2 * (i + 1);
    }
    return dkm_data_from_csr(ctx, DKM_GRAPH, &(dkm_csr){n, 0, start, col, value}, data);
}

static void graphs_are_square_and_symmetric(dkm_ctx *ctx)
{
    dkm_data *data = NULL;

    for (int s = 0; s < SPREADS; s++) {
        CHECK_OK(ctx, make_ring(ctx, (spread)s, 0, &data));
        CHECK(data && dkm_data_cols(data) == M);
        dkm_data_destroy(&data);
        CHECK(make_ring(ctx, (spread)s, 0.5, &data) == DKM_ERR_ARG && !data);
        CHECK(strstr(dkm_ctx_message(ctx), "both directions") != NULL);
    }
}

static void try_strings(dkm_ctx *ctx, dkm_type type, spread s)
{
    char text[M][32], want[32];
    const char *strings[M];
    dkm_idx lengths[M], first, n, length;
    dkm_data *data = NULL;
    dkm_rows *rows = NULL;

    share_of(ctx, s, &first, &n);
    for (dkm_idx i = 0; i < n; i++) {
        snprintf(text[i], sizeof text[i], "w%lld b a  b", (long long)(first + i));
        strings[i] = text[i];
        lengths[i] = (dkm_idx)strlen(text[i]);
    }
    CHECK_OK(ctx, dkm_data_from_strings(ctx, type, n, strings, s == SLABS ? lengths : NULL, &data));
    CHECK_OK(ctx, dkm_rows_get(data, 0, M, &rows));
    for (dkm_idx i = 0; rows && i < M; i++) {
        const char *got = dkm_rows_string(rows, i, &length);
        snprintf(want, sizeof want, type == DKM_SETS ? "a b w%lld" : "w%lld b a  b", (long long)i);
        CHECK(length == (dkm_idx)strlen(want) && memcmp(got, want, (size_t)length) == 0);
    }
    dkm_rows_destroy(&rows);
    dkm_data_destroy(&data);
}

static void strings_and_sets_come_from_texts(dkm_ctx *ctx)
{
    for (int s = 0; s < SPREADS; s++) {
        try_strings(ctx, DKM_STRINGS, (spread)s);
        try_strings(ctx, DKM_SETS, (spread)s);
    }
}

static void no_objects_at_all_are_data(dkm_ctx *ctx)
{
    dkm_array none = dkm_array_row_major(NULL, 0, D);
    dkm_data *data = NULL;

    CHECK_OK(ctx, dkm_data_from_array(ctx, DKM_DENSE, &none, &data));
    CHECK(data && dkm_data_rows(data) == 0 && dkm_data_cols(data) == D);
    dkm_data_destroy(&data);
}

/* Array that is wrong on the last rank only. */
static void refuse_array(dkm_ctx *ctx, dkm_type type, double wrong, dkm_idx cols, const char *text)
{
    double rows[2 * (D + 1)] = {0};
    dkm_data *data = NULL;
    dkm_array a = dkm_array_row_major(rows, 2, cols);

    if (dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1)
        rows[1] = wrong;
    CHECK(dkm_data_from_array(ctx, type, &a, &data) == DKM_ERR_ARG && !data);
    CHECK(strstr(dkm_ctx_message(ctx), text) != NULL);
}

static void one_bad_rank_fails_them_all(dkm_ctx *ctx)
{
    int last = dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1;
    dkm_idx start[] = {0, 2}, twice[] = {4, 4}, once[] = {4, 5};
    double nan[] = {1, NAN};
    dkm_data *data = NULL;

    refuse_array(ctx, DKM_DENSE, NAN, D, "NaN");
    refuse_array(ctx, DKM_DENSE, INFINITY, D, "Inf");
    refuse_array(ctx, DKM_LABELS, 0.5, 1, "not an integer");
    refuse_array(ctx, DKM_STRINGS, 0, 1, "strings");
    if (dkm_ctx_size(ctx) > 1)
        refuse_array(ctx, DKM_DENSE, 0, last ? D + 1 : D, "columns");
    CHECK(dkm_data_from_csr(ctx, DKM_SPARSE, &(dkm_csr){1, 9, start, last ? twice : once, NULL},
                            &data) == DKM_ERR_ARG);
    CHECK(dkm_data_from_csr(ctx, DKM_SPARSE, &(dkm_csr){1, 5, start, once, NULL}, &data) ==
          DKM_ERR_ARG);
    CHECK(dkm_data_from_csr(ctx, DKM_SPARSE, &(dkm_csr){1, 9, start, once, last ? nan : NULL},
                            &data) == DKM_ERR_ARG);
    CHECK(dkm_data_from_strings(ctx, DKM_STRINGS, last ? -1 : 0, NULL, NULL, &data) == DKM_ERR_ARG);
    CHECK(!data);
}

static void rows_outside_are_refused(dkm_ctx *ctx)
{
    dkm_data *data = NULL;
    dkm_rows *rows = NULL;

    CHECK_OK(ctx, dkm_data_create_labels(ctx, 5, &data));
    CHECK(dkm_rows_get(data, dkm_ctx_rank(ctx) == 0 ? 4 : 0, 2, &rows) == DKM_ERR_ARG && !rows);
    dkm_data_destroy(&data);
}

static dkm_status move_under_pressure(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    const char *strings[] = {"b a", "c", "", "d e f"};
    dkm_idx n = dkm_ctx_rank(ctx) == 0 ? 4 : 0;
    dkm_data *data = NULL, *graph = NULL;
    dkm_rows *rows = NULL;

    DKM_TRY(dkm_data_from_strings(ctx, DKM_SETS, n, strings, NULL, &data));
    DKM_TRY(make_ring(ctx, FIRST_RANK, 0, &graph));
    DKM_TRY(dkm_rows_get(data, 1, 2, &rows));
out:
    dkm_rows_destroy(&rows);
    dkm_data_destroy(&graph);
    dkm_data_destroy(&data);
    return status;
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    check_every_allocation(ctx, 0, move_under_pressure);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, move_under_pressure);
}

static const check_case cases[] = {
    CASE(arrays_of_every_layout_become_the_same_rows),
    CASE(a_borrowed_array_is_used_in_place),
    CASE(a_borrowed_array_is_copied_where_it_must_move),
    CASE(labels_come_from_integers),
    CASE(sparse_rows_and_label_sets_come_from_lists),
    CASE(graphs_are_square_and_symmetric),
    CASE(strings_and_sets_come_from_texts),
    CASE(no_objects_at_all_are_data),
    CASE(one_bad_rank_fails_them_all),
    CASE(rows_outside_are_refused),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
