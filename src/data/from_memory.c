/* Objects from a program's own memory: copied or borrowed, checked, and moved into slabs. */
#include <dkmap/arrays.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "data/fetch.h"
#include "data/graph_text.h"
#include "data/word_set.h"

#define LARGEST_LABEL 9007199254740992.0 /* 2^53: beyond it not every integer is a double */

/* The objects of this rank on their way to become data. */
typedef struct intake {
    dkm_ctx *ctx;
    dkm_objs objs;
    int borrowed;    /* the values are the caller's */
    dkm_idx cols;    /* as the caller says; 0: not known */
    dkm_idx least;   /* columns that the objects need */
    dkm_idx *starts; /* the first object of each rank, and their total */
} intake;

static void close_intake(intake *in)
{
    if (in->borrowed)
        in->objs.values = NULL;
    dkm_objs_clear(&in->objs);
    DKM_FREE(in->starts);
}

/* The number of columns, the same on all ranks. Collective. */
static dkm_status agree_on_cols(intake *in)
{
    dkm_status status = DKM_OK;
    int64_t mine[2] = {in->cols, in->least}, most[2] = {0, 0};

    MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(in->ctx));
    DKM_REQUIRE(in->ctx, in->objs.n == 0 || in->cols == 0 || in->cols == most[0], DKM_ERR_ARG,
                "objects of %lld columns on this rank and of %lld on another", (long long)in->cols,
                (long long)most[0]);
    DKM_REQUIRE(in->ctx, in->objs.n == 0 || most[0] == 0 || in->least <= most[0], DKM_ERR_ARG,
                "column %lld, and there are %lld columns", (long long)(in->least - 1),
                (long long)most[0]);
    in->objs.d = most[0] > 0 ? most[0] : most[1];
out:
    return status;
}

/* Who holds what. Collective. */
static dkm_status find_starts(intake *in)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(in->ctx);

    DKM_AGREE(in->ctx, dkm_calloc(in->ctx, size + 1, &in->starts));
    MPI_Allgather(&in->objs.n, 1, MPI_INT64_T, in->starts + 1, 1, MPI_INT64_T,
                  dkm_ctx_comm(in->ctx));
    for (int r = 0; r < size; r++)
        in->starts[r + 1] += in->starts[r];
out:
    return status;
}

static int in_slabs(const intake *in)
{
    int size = dkm_ctx_size(in->ctx);

    for (int r = 0; r < size; r++)
        if (in->starts[r] != dkm_slab_first(in->starts[size], r, size))
            return 0;
    return 1;
}

/* The objects stay where they are. Collective. */
static dkm_status wrap_in_place(intake *in, dkm_data **data)
{
    dkm_status status = DKM_OK;
    double *values = in->objs.values;

    if (in->borrowed)
        in->objs.values = NULL;
    DKM_TRY(dkm_data_wrap(in->ctx, in->starts[dkm_ctx_size(in->ctx)], &in->objs, data));
    if (in->borrowed) {
        (*data)->mine.values = values;
        (*data)->borrowed = 1;
    }
    in->borrowed = 0;
out:
    return status;
}

/* The objects move to the ranks that have them in slabs. Collective. */
static dkm_status move_to_slabs(intake *in, dkm_data **data)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(in->ctx), size = dkm_ctx_size(in->ctx);
    dkm_idx m = in->starts[size], *indices = NULL;
    dkm_idx first = dkm_slab_first(m, rank, size), count = dkm_slab_count(m, rank, size);
    dkm_data here = {.ctx = in->ctx, .m = m, .first = in->starts[rank], .mine = in->objs};
    dkm_objs got = {0};

    DKM_AGREE(in->ctx, dkm_alloc(in->ctx, count, &indices));
    for (dkm_idx k = 0; k < count; k++)
        indices[k] = first + k;
    DKM_TRY(dkm_data_fetch_spread(&here, in->starts, count, indices, &got));
    DKM_TRY(dkm_data_wrap(in->ctx, m, &got, data));
out:
    dkm_objs_clear(&got);
    DKM_FREE(indices);
    return status;
}

static dkm_status finish_intake(intake *in, dkm_data **data)
{
    return in_slabs(in) ? wrap_in_place(in, data) : move_to_slabs(in, data);
}

dkm_array dkm_array_row_major(const double *values, dkm_idx rows, dkm_idx cols)
{
    return (dkm_array){.values = values, .rows = rows, .cols = cols};
}

dkm_array dkm_array_col_major(const double *values, dkm_idx rows, dkm_idx cols)
{
    return (dkm_array){
        .values = values, .rows = rows, .cols = cols, .row_stride = 1, .col_stride = rows};
}

static double array_at(const dkm_array *a, dkm_idx i, dkm_idx j)
{
    dkm_idx at = i * a->row_stride + j * a->col_stride;

    return a->precision == DKM_F64 ? ((const double *)a->values)[at]
                                   : (double)((const float *)a->values)[at];
}

static dkm_local check_array(dkm_ctx *ctx, dkm_type type, const dkm_array *a)
{
    if (dkm_type_storage_form(type) != DKM_STORED_VALUES)
        return dkm_fail(ctx, DKM_ERR_ARG, "an array holds dense, gram, distance or labels, not %s",
                        dkm_type_name(type));
    if (a->rows < 0 || a->cols < 0 || (!a->values && a->rows > 0 && a->cols > 0))
        return dkm_fail(ctx, DKM_ERR_ARG, "an array of %lld x %lld%s", (long long)a->rows,
                        (long long)a->cols, a->values ? "" : " without values");
    if (a->precision != DKM_F64 && a->precision != DKM_F32)
        return dkm_fail(ctx, DKM_ERR_ARG, "an array of unknown precision");
    if (type == DKM_LABELS && a->rows > 0 && a->cols != 1)
        return dkm_fail(ctx, DKM_ERR_ARG, "labels are one column, not %lld", (long long)a->cols);
    return DKM_LOCAL_OK;
}

static dkm_local check_number(dkm_ctx *ctx, dkm_type type, dkm_idx i, dkm_idx j, double x)
{
    if (!isfinite(x))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "row %lld, column %lld of this rank's array is %s: remove or fill in such "
                        "numbers first",
                        (long long)i, (long long)j, isnan(x) ? "NaN" : "Inf");
    if (type == DKM_LABELS && (x != floor(x) || fabs(x) > LARGEST_LABEL))
        return dkm_fail(ctx, DKM_ERR_ARG, "label %lld of this rank is %.17g, not an integer",
                        (long long)i, x);
    return DKM_LOCAL_OK;
}

/* Can the array be used as it is? */
static int is_native(const dkm_array *a)
{
    return a->precision == DKM_F64 && a->col_stride == 1 && a->row_stride == a->cols && a->values;
}

static dkm_local take_array(intake *in, dkm_type type, const dkm_array *given)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_objs *objs = &in->objs;
    dkm_array a = *given;

    DKM_STEP(check_array(in->ctx, type, &a));
    if (a.row_stride == 0 && a.col_stride == 0) {
        a.row_stride = a.cols;
        a.col_stride = 1;
    }
    if (a.borrow && is_native(&a)) {
        *objs = (dkm_objs){.ctx = in->ctx, .type = type, .n = a.rows, .d = a.cols};
        objs->values = (double *)(uintptr_t)a.values;
        in->borrowed = 1;
    } else {
        DKM_STEP(dkm_objs_init(objs, in->ctx, type, a.rows, a.cols, 0));
        for (dkm_idx i = 0; i < a.rows; i++)
            for (dkm_idx j = 0; j < a.cols; j++)
                objs->values[i * a.cols + j] = array_at(&a, i, j);
    }
    for (dkm_idx i = 0; i < a.rows; i++)
        for (dkm_idx j = 0; j < a.cols; j++)
            DKM_STEP(check_number(in->ctx, type, i, j, objs->values[i * a.cols + j]));
    in->cols = a.rows > 0 ? a.cols : 0; /* a rank without rows need not know how wide they are */
    in->least = a.cols;
out:
    return local;
}

dkm_status dkm_data_from_array(dkm_ctx *ctx, dkm_type type, const dkm_array *array, dkm_data **data)
{
    dkm_status status = DKM_OK;
    intake in = {.ctx = ctx};

    *data = NULL;
    DKM_AGREE(ctx, take_array(&in, type, array));
    DKM_TRY(agree_on_cols(&in));
    if (type == DKM_LABELS)
        in.objs.d = 1;
    DKM_TRY(find_starts(&in));
    DKM_TRY(finish_intake(&in, data));
out:
    close_intake(&in);
    return status;
}

static dkm_local take_labels(intake *in, dkm_idx n, const int64_t *labels)
{
    dkm_local local = DKM_LOCAL_OK;

    if (n < 0 || (n > 0 && !labels))
        return dkm_fail(in->ctx, DKM_ERR_ARG, "%lld labels", (long long)n);
    DKM_STEP(dkm_objs_init(&in->objs, in->ctx, DKM_LABELS, n, 1, 0));
    for (dkm_idx i = 0; i < n; i++) {
        in->objs.values[i] = (double)labels[i];
        DKM_STEP(check_number(in->ctx, DKM_LABELS, i, 0, in->objs.values[i]));
    }
out:
    return local;
}

dkm_status dkm_data_from_labels(dkm_ctx *ctx, dkm_idx n, const int64_t *labels, dkm_data **data)
{
    dkm_status status = DKM_OK;
    intake in = {.ctx = ctx};

    *data = NULL;
    DKM_AGREE(ctx, take_labels(&in, n, labels));
    DKM_TRY(find_starts(&in));
    DKM_TRY(finish_intake(&in, data));
out:
    close_intake(&in);
    return status;
}

typedef struct entry {
    dkm_idx col;
    double value;
} entry;

static int by_column(const void *a, const void *b)
{
    const entry *u = a, *v = b;

    return (u->col > v->col) - (u->col < v->col);
}

static dkm_local check_csr(dkm_ctx *ctx, dkm_type type, const dkm_csr *c)
{
    if (dkm_type_storage_form(type) != DKM_STORED_LISTS)
        return dkm_fail(ctx, DKM_ERR_ARG, "lists are sparse rows, label sets or a graph, not %s",
                        dkm_type_name(type));
    if (c->rows < 0 || c->cols < 0 || (c->rows > 0 && !c->start))
        return dkm_fail(ctx, DKM_ERR_ARG, "lists of %lld x %lld%s", (long long)c->rows,
                        (long long)c->cols, c->start ? "" : " without starts");
    for (dkm_idx i = 0; i < c->rows; i++)
        if (c->start[i] < 0 || c->start[i + 1] < c->start[i])
            return dkm_fail(ctx, DKM_ERR_ARG, "list %lld of this rank runs from %lld to %lld",
                            (long long)i, (long long)c->start[i], (long long)c->start[i + 1]);
    if (c->rows > 0 && c->start[c->rows] > c->start[0] && !c->col)
        return dkm_fail(ctx, DKM_ERR_ARG, "lists without columns");
    return DKM_LOCAL_OK;
}

static dkm_local check_entry(dkm_ctx *ctx, dkm_type type, dkm_idx i, const entry *list, dkm_idx k)
{
    const entry *e = &list[k];

    if (e->col < 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "list %lld of this rank has column %lld", (long long)i,
                        (long long)e->col);
    if (k > 0 && list[k - 1].col == e->col)
        return dkm_fail(ctx, DKM_ERR_ARG, "list %lld of this rank has column %lld twice",
                        (long long)i, (long long)e->col);
    if (!isfinite(e->value) || (type == DKM_GRAPH && !(e->value > 0)))
        return dkm_fail(ctx, DKM_ERR_ARG, "list %lld of this rank has %s %g in column %lld",
                        (long long)i, type == DKM_GRAPH ? "the weight" : "the value", e->value,
                        (long long)e->col);
    return DKM_LOCAL_OK;
}

/* One list, sorted by column and checked. */
static dkm_local take_list(intake *in, dkm_idx i, entry *list, dkm_idx length)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_objs *objs = &in->objs;
    dkm_idx at = objs->start[i];

    qsort(list, (size_t)length, sizeof *list, by_column);
    for (dkm_idx k = 0; k < length; k++) {
        DKM_STEP(check_entry(in->ctx, objs->type, i, list, k));
        objs->col[at + k] = list[k].col;
        if (objs->val)
            objs->val[at + k] = list[k].value;
        in->least = list[k].col >= in->least ? list[k].col + 1 : in->least;
    }
    objs->start[i + 1] = at + length;
out:
    return local;
}

static dkm_local take_csr(intake *in, dkm_type type, const dkm_csr *c)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx longest = 0, items = 0;
    entry *list = NULL;

    DKM_STEP(check_csr(in->ctx, type, c));
    in->cols = c->cols;
    for (dkm_idx i = 0; i < c->rows; i++)
        longest = c->start[i + 1] - c->start[i] > longest ? c->start[i + 1] - c->start[i] : longest;
    items = c->rows > 0 ? c->start[c->rows] - c->start[0] : 0;
    DKM_STEP(dkm_alloc(in->ctx, longest, &list));
    DKM_STEP(dkm_objs_init(&in->objs, in->ctx, type, c->rows, c->cols, items));
    for (dkm_idx i = 0; i < c->rows; i++) {
        dkm_idx at = c->start[i], length = c->start[i + 1] - at;
        for (dkm_idx k = 0; k < length; k++)
            list[k] = (entry){c->col[at + k],
                              c->value && type != DKM_LABEL_SETS ? c->value[at + k] : 1.0};
        DKM_STEP(take_list(in, i, list, length));
    }
out:
    DKM_FREE(list);
    return local;
}

/* A graph is square, and its edges are the same in both directions: a sum of hashes of all entries
 * (i, j, w), each less that of (j, i, w), is zero modulo 2^64. Collective. */
static dkm_status check_graph(const intake *in)
{
    dkm_status status = DKM_OK;
    const dkm_objs *o = &in->objs;
    dkm_idx m = in->starts[dkm_ctx_size(in->ctx)], first = in->starts[dkm_ctx_rank(in->ctx)];
    uint64_t mine = 0, all = 0, weight;

    DKM_REQUIRE(in->ctx, o->d <= m, DKM_ERR_ARG, "a graph of %lld vertices with neighbor %lld",
                (long long)m, (long long)(o->d - 1));
    for (dkm_idx i = 0; i < o->n; i++)
        for (dkm_idx k = o->start[i]; k < o->start[i + 1]; k++) {
            uint64_t from = (uint64_t)(first + i), to = (uint64_t)o->col[k];
            memcpy(&weight, &o->val[k], sizeof weight);
            mine += dkm_random_bits(weight, 0, from, to) - dkm_random_bits(weight, 0, to, from);
        }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, dkm_ctx_comm(in->ctx));
    DKM_REQUIRE(in->ctx, all == 0, DKM_ERR_ARG,
                "an edge of the graph is not the same in both directions: an undirected graph "
                "needs a symmetric matrix");
out:
    return status;
}

dkm_status dkm_data_from_csr(dkm_ctx *ctx, dkm_type type, const dkm_csr *lists, dkm_data **data)
{
    dkm_status status = DKM_OK;
    intake in = {.ctx = ctx};

    *data = NULL;
    DKM_AGREE(ctx, take_csr(&in, type, lists));
    DKM_TRY(agree_on_cols(&in));
    DKM_TRY(find_starts(&in));
    if (type == DKM_GRAPH) {
        DKM_TRY(check_graph(&in));
        in.objs.d = in.starts[dkm_ctx_size(ctx)];
    }
    DKM_TRY(finish_intake(&in, data));
out:
    close_intake(&in);
    return status;
}

static dkm_local check_strings(dkm_ctx *ctx, dkm_type type, dkm_idx n, const char *const *strings,
                               const dkm_idx *lengths)
{
    if (dkm_type_storage_form(type) != DKM_STORED_BYTES)
        return dkm_fail(ctx, DKM_ERR_ARG, "texts are strings, sets or graphs, not %s",
                        dkm_type_name(type));
    if (n < 0 || (n > 0 && !strings))
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld strings", (long long)n);
    for (dkm_idx i = 0; i < n; i++)
        if (!strings[i] || (lengths && lengths[i] < 0))
            return dkm_fail(ctx, DKM_ERR_ARG, "string %lld of this rank is missing", (long long)i);
    return DKM_LOCAL_OK;
}

static dkm_local take_graph(dkm_builder *g, const char *text, dkm_idx length, dkm_idx i,
                            dkm_graph *graph)
{
    dkm_local local = dkm_graph_add(g, text, length, graph);

    if (local.code == DKM_OK && graph->wrong[0])
        local = dkm_fail(g->objs->ctx, DKM_ERR_ARG, "graph %lld of this rank: %s", (long long)i,
                         graph->wrong);
    return local;
}

static dkm_local take_strings(intake *in, dkm_type type, dkm_idx n, const char *const *strings,
                              const dkm_idx *lengths)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_words words = {0};
    dkm_graph graph = {0};
    dkm_builder g;

    DKM_STEP(check_strings(in->ctx, type, n, strings, lengths));
    DKM_STEP(dkm_builder_begin(&g, &in->objs, in->ctx, type, n, 0));
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx length = lengths ? lengths[i] : (dkm_idx)strlen(strings[i]);
        if (type == DKM_SETS)
            DKM_STEP(dkm_word_set_add(&g, strings[i], length, &words));
        else if (type == DKM_GRAPHS)
            DKM_STEP(take_graph(&g, strings[i], length, i, &graph));
        else
            DKM_STEP(dkm_builder_bytes(&g, strings[i], length));
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    dkm_graph_clear(&graph);
    DKM_FREE(words.list);
    return local;
}

dkm_status dkm_data_from_strings(dkm_ctx *ctx, dkm_type type, dkm_idx n, const char *const *strings,
                                 const dkm_idx *lengths, dkm_data **data)
{
    dkm_status status = DKM_OK;
    intake in = {.ctx = ctx};

    *data = NULL;
    DKM_AGREE(ctx, take_strings(&in, type, n, strings, lengths));
    DKM_TRY(find_starts(&in));
    DKM_TRY(finish_intake(&in, data));
out:
    close_intake(&in);
    return status;
}
