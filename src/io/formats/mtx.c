/* Matrix Market files. Those in array form are dense rows (mtx_array.c), those in coordinate form
 * undirected graphs: entry (i, j) is the weight of the edge
 * between vertices i and j. A symmetric file has each edge once; a general one has it in both
 * directions, with equal weights. A loop stays an edge of a vertex to itself; a weight of zero is
 * no edge. Entries come in any order, so a rank goes over all of them and stores those of the
 * vertices it wants. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "data/builder.h"
#include "io/formats/mtx.h"
#include "io/text/scan.h"

#define LONELY_VERTICES (4 << 20) /* without an edge: 32 MiB of empty lists */

/* An entry in the list of wanted vertex i; side 1 when it stands transposed in the file. */
typedef struct entry {
    dkm_idx i, col;
    double val;
    int side;
} entry;

typedef struct entries {
    dkm_ctx *ctx;
    dkm_idx count, capacity;
    entry *list;
} entries;

static int is_word(char **at, const char *word)
{
    size_t length = strlen(word);
    char *from = dkm_scan_blanks(*at);

    if (strncasecmp(from, word, length) != 0 || !dkm_scan_ends(from[length]))
        return 0;
    *at = from + length;
    return 1;
}

/* %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric */
static dkm_local read_banner(const dkm_text *text, char *line, dkm_mtx *s)
{
    int numbers;

    if (!line || !is_word(&line, "%%MatrixMarket"))
        return dkm_fail(text->ctx, DKM_ERR_FORMAT,
                        "%s:1: a Matrix Market file begins with %%%%MatrixMarket", text->path);
    if (!is_word(&line, "matrix"))
        return dkm_fail_line(text, "'%s': a matrix is wanted", line);
    s->array = is_word(&line, "array");
    if (!s->array && !is_word(&line, "coordinate"))
        return dkm_fail_line(text,
                             "'%s': a graph is a 'matrix coordinate', rows of numbers are a "
                             "'matrix array'",
                             line);
    s->pattern = !s->array && is_word(&line, "pattern");
    numbers = s->pattern || is_word(&line, "real") || is_word(&line, "integer");
    if (!numbers)
        return dkm_fail_line(text, "'%s': entries must be real%s", line,
                             s->array ? " or integer" : ", integer or pattern");
    s->symmetric = is_word(&line, "symmetric");
    if (!s->symmetric && !is_word(&line, "general"))
        return dkm_fail_line(text, "'%s': a matrix must be symmetric or general", line);
    return DKM_LOCAL_OK;
}

static dkm_local check_graph_sizes(const dkm_text *text, const dkm_mtx *s)
{
    if (s->rows != s->cols)
        return dkm_fail_line(text, "%lld x %lld: the matrix of a graph is square",
                             (long long)s->rows, (long long)s->cols);
    if (s->rows > LONELY_VERTICES && (s->rows - LONELY_VERTICES) / 2 > s->promised)
        return dkm_fail_line(text,
                             "%lld vertices and %lld entries: more than %d vertices have no edge",
                             (long long)s->rows, (long long)s->promised, LONELY_VERTICES);
    return DKM_LOCAL_OK;
}

static dkm_local check_array_sizes(const dkm_text *text, dkm_mtx *s)
{
    dkm_local local = DKM_LOCAL_OK;

    if (s->symmetric && s->rows != s->cols)
        return dkm_fail_line(text, "%lld x %lld: a symmetric matrix is square", (long long)s->rows,
                             (long long)s->cols);
    DKM_STEP(dkm_checked_mul(text->ctx, s->rows, s->symmetric ? s->rows + 1 : s->cols, text->path,
                             &s->promised));
    s->promised /= s->symmetric ? 2 : 1;
out:
    return local;
}

static dkm_local mtx_read_sizes(const dkm_text *text, char *line, dkm_mtx *s)
{
    dkm_idx sizes[3] = {0};
    char *at = line;

    for (int k = 0; k < (s->array ? 2 : 3); k++) {
        at = dkm_scan_blanks(at);
        if (!dkm_scan_int(&at, 0, &sizes[k]) || !dkm_scan_ends(*at) || sizes[k] == INT64_MAX)
            return dkm_fail_line(text, "'%.40s' where rows, columns%s should be", line,
                                 s->array ? "" : " and entries");
    }
    s->rows = sizes[0];
    s->cols = sizes[1];
    s->promised = sizes[2];
    return s->array ? check_array_sizes(text, s) : check_graph_sizes(text, s);
}

static dkm_local read_head(dkm_file *file, dkm_mtx *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_text text = {0};
    dkm_idx length;
    char *line;

    DKM_STEP(dkm_text_open(&text, file->ctx, file->path));
    DKM_STEP(dkm_text_next(&text, &line, &length));
    DKM_STEP(read_banner(&text, line, s));
    if (!s->array && file->type != DKM_TYPE_COUNT && file->type != DKM_GRAPH)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_ARG,
                          "%s: a Matrix Market file in coordinate form is a graph, not %s",
                          file->path, dkm_type_name(file->type)));
    do
        DKM_STEP(dkm_text_next(&text, &line, &length));
    while (line && (line[0] == '%' || !*dkm_scan_blanks(line)));
    if (!line)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s: cut short before its sizes", file->path));
    DKM_STEP(mtx_read_sizes(&text, line, s));
    DKM_STEP(dkm_text_next(&text, &line, &length));
    s->offset = text.offset;
    s->number = text.number;
    s->ended = line == NULL;
out:
    dkm_text_close(&text);
    return local;
}

/* Collective. */
static dkm_status mtx_check_count(dkm_file *file, const dkm_mtx *s)
{
    dkm_status status = DKM_OK;
    dkm_records records = {0};
    dkm_local local = DKM_LOCAL_OK;

    if (!s->ended)
        DKM_TRY(dkm_records_index(&records, file->ctx, file->path, DKM_RECORDS_FILLED, s->offset,
                                  s->number));
    if (records.count != s->promised)
        local = dkm_fail(
            file->ctx, DKM_ERR_FORMAT,
            "%s: promises %lld entries and holds %lld: cut short or not written to its end",
            file->path, (long long)s->promised, (long long)records.count);
    DKM_AGREE(file->ctx, local);
out:
    dkm_records_clear(&records);
    return status;
}

static dkm_local mtx_make_state(dkm_file *file)
{
    dkm_mtx *s = NULL;
    dkm_local local = dkm_calloc(file->ctx, 1, &s);

    file->state = s;
    return local;
}

static dkm_status open_mtx(dkm_file *file)
{
    dkm_status status = DKM_OK;
    dkm_mtx *s;

    DKM_AGREE(file->ctx, mtx_make_state(file));
    s = file->state;
    DKM_AGREE(file->ctx, read_head(file, s));
    DKM_TRY(mtx_check_count(file, s));
    if (s->array) {
        DKM_AGREE(file->ctx, dkm_mtx_array_settle(file));
        goto out;
    }
    file->type = DKM_GRAPH;
    file->m = file->d = s->rows;
    snprintf(file->about, sizeof file->about, "Matrix Market graph, %s, %lld entries",
             s->symmetric ? "symmetric" : "general", (long long)s->promised);
out:
    return status;
}

static dkm_local read_entry(const dkm_text *text, char *line, const dkm_mtx *s, entry *e)
{
    dkm_idx ends[2];
    char *at = line;

    for (int k = 0; k < 2; k++) {
        at = dkm_scan_blanks(at);
        if (!dkm_scan_int(&at, 1, &ends[k]) || !dkm_scan_ends(*at))
            return dkm_fail_line(text, "'%.40s' where row, column%s should be", line,
                                 s->pattern ? "" : " and weight");
        if (ends[k] < 1 || ends[k] > s->rows)
            return dkm_fail_line(text, "index %lld is not in 1 to %lld", (long long)ends[k],
                                 (long long)s->rows);
    }
    *e = (entry){.i = ends[0] - 1, .col = ends[1] - 1, .val = 1.0};
    at = dkm_scan_blanks(at);
    if (!s->pattern && (!dkm_scan_real(&at, &e->val) || !dkm_scan_ends(*at)))
        return dkm_fail_line(text, "the weight '%.*s' is not a finite number", dkm_scan_word(at),
                             at);
    if (*dkm_scan_blanks(at))
        return dkm_fail_line(text, "'%.40s' after the entry", dkm_scan_blanks(at));
    if (e->val < 0)
        return dkm_fail_line(text, "weight %g: the edges of a graph have weights >= 0", e->val);
    return DKM_LOCAL_OK;
}

/* The rows that are wanted: first, first + step, ... */
typedef struct wanted {
    dkm_idx first, step, count;
} wanted;

static dkm_local mtx_keep(entries *all, const wanted *w, entry e)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx i = (e.i - w->first) / w->step;

    if (i < 0 || i >= w->count || w->first + i * w->step != e.i)
        return local;
    if (all->count == all->capacity) {
        DKM_STEP(dkm_realloc(all->ctx, 2 * all->capacity + 256, &all->list));
        all->capacity = 2 * all->capacity + 256;
    }
    e.i = i;
    all->list[all->count++] = e;
out:
    return local;
}

/* Both directions of an entry. A loop of a symmetric file has only one. */
static dkm_local keep_both(entries *all, const wanted *w, const dkm_mtx *s, entry e)
{
    dkm_local local = DKM_LOCAL_OK;
    entry turned = {.i = e.col, .col = e.i, .val = e.val, .side = !s->symmetric};

    DKM_STEP(mtx_keep(all, w, e));
    if (e.i != e.col || !s->symmetric)
        DKM_STEP(mtx_keep(all, w, turned));
out:
    return local;
}

static dkm_local mtx_collect(const dkm_file *file, const wanted *w, entries *all)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_mtx *s = file->state;
    dkm_text text = {0};
    dkm_idx length;
    char *line;
    entry e;

    DKM_STEP(dkm_text_open(&text, file->ctx, file->path));
    DKM_STEP(dkm_text_seek(&text, s->offset, s->number));
    for (;;) {
        DKM_STEP(dkm_text_next(&text, &line, &length));
        if (!line)
            break;
        if (!dkm_records_begins(DKM_RECORDS_FILLED, line, length))
            continue;
        DKM_STEP(read_entry(&text, line, s, &e));
        DKM_STEP(keep_both(all, w, s, e));
    }
out:
    dkm_text_close(&text);
    return local;
}

static int in_order(const void *a, const void *b)
{
    const entry *u = a, *v = b;

    if (u->i != v->i)
        return u->i < v->i ? -1 : 1;
    if (u->col != v->col)
        return u->col < v->col ? -1 : 1;
    return u->side - v->side;
}

/* Sorted, an edge of a general file stands there twice, once from each direction, and one of a
 * symmetric file once. */
static dkm_local check_edge(const dkm_file *file, const wanted *w, const entries *all, dkm_idx k)
{
    const dkm_mtx *s = file->state;
    const entry *e = &all->list[k], *end = all->list + all->count;
    dkm_idx width = s->symmetric ? 1 : 2;
    int paired = s->symmetric || (e + 1 < end && e[1].i == e->i && e[1].col == e->col &&
                                  e->side == 0 && e[1].side == 1 && e[1].val == e->val);

    if (e + width < end && e[width].i == e->i && e[width].col == e->col)
        paired = 0;
    if (paired)
        return DKM_LOCAL_OK;
    return dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s: the edge between %lld and %lld %s", file->path,
                    (long long)(w->first + e->i * w->step + 1), (long long)(e->col + 1),
                    s->symmetric ? "stands there twice: give each edge once"
                                 : "is not the same in both directions, or stands there twice: an "
                                   "undirected graph needs a symmetric matrix");
}

static dkm_local make_lists(const dkm_file *file, const wanted *w, const entries *all,
                            dkm_builder *g, dkm_idx c0, dkm_idx c1)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_mtx *s = file->state;

    for (dkm_idx k = 0; k < all->count; k += s->symmetric ? 1 : 2) {
        const entry *e = &all->list[k];
        DKM_STEP(check_edge(file, w, all, k));
        while (g->made < e->i)
            dkm_builder_next(g);
        if (e->val > 0 && e->col >= c0 && e->col < c1)
            DKM_STEP(dkm_builder_entry(g, e->col - c0, e->val));
    }
    while (g->made < w->count)
        dkm_builder_next(g);
    DKM_STEP(dkm_builder_end(g));
out:
    return local;
}

static dkm_local read_mtx(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                          dkm_idx c1, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_mtx *s = file->state;
    wanted w = {first, step, count};
    entries all = {.ctx = file->ctx};
    dkm_builder g;

    if (s->array)
        return dkm_mtx_array_read(file, first, step, count, c0, c1, objs);
    DKM_STEP(dkm_builder_begin(&g, objs, file->ctx, DKM_GRAPH, count, c1 - c0));
    if (count > 0 && !s->ended)
        DKM_STEP(mtx_collect(file, &w, &all));
    if (all.count > 1)
        qsort(all.list, (size_t)all.count, sizeof *all.list, in_order);
    DKM_STEP(make_lists(file, &w, &all, &g, c0, c1));
out:
    DKM_FREE(all.list);
    return local;
}

static void close_mtx(dkm_file *file)
{
    DKM_FREE(file->state);
}

const dkm_format dkm_format_mtx = {
    .name = "Matrix Market",
    .endings = ".mtx .mtx.gz",
    .open = open_mtx,
    .read = read_mtx,
    .close = close_mtx,
};
