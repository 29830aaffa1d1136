/* Inner products of sparse rows: a blocked sparse matrix product with a hash accumulator (cf.
 * Gustavson 1978, ACM TOMS 4(3):250-269, doi:10.1145/355791.355796). Several lists of A at once are
 * scattered side by side: a hash table maps a column to a row of LANES numbers, one per list. Then
 * each list of B is traversed once and adds to all lanes. Memory does not depend on the largest
 * column number.
 *
 * Cost of a tile: na / LANES traversals of the lists of B, LANES multiply-adds per entry. Local. */
#include "kernels/evaluation/sparse_dot.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

#define LANES     16
#define WIDE_MOST (1 << 18) /* entries of lists spread out together; longer ones go one by one */

typedef struct spread {
    dkm_ctx *ctx;
    dkm_idx stride; /* LANES, or 1 when a list is alone */
    int shift;      /* the hash is what is left of 64 bits */
    dkm_idx rows;
    dkm_idx *key, *row; /* row is -1 where the slot is empty */
    double *x;          /* rows x stride */
} spread;

/* How many lists from i on are spread out together. */
static dkm_idx together(const dkm_objs *A, dkm_idx i, dkm_idx end)
{
    dkm_idx count = end - i < LANES ? end - i : LANES;

    return A->start[i + count] - A->start[i] <= WIDE_MOST ? count : 1;
}

static int shift_for(dkm_idx entries)
{
    int bits = 4;

    while (((dkm_idx)1 << bits) < 2 * entries)
        bits++;
    return 64 - bits;
}

static dkm_local open_spread(spread *s, const dkm_objs *A, dkm_idx first, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx most = 0, capacity = 0;

    for (dkm_idx i = first; i < first + count;) {
        dkm_idx lists = together(A, i, first + count);
        dkm_idx entries = A->start[i + lists] - A->start[i];
        dkm_idx wants = entries * (lists > 1 ? LANES : 1);
        most = entries > most ? entries : most;
        capacity = wants > capacity ? wants : capacity;
        i += lists;
    }
    *s = (spread){.ctx = A->ctx, .shift = shift_for(most)};
    DKM_STEP(dkm_alloc(s->ctx, (dkm_idx)1 << (64 - s->shift), &s->key));
    DKM_STEP(dkm_alloc(s->ctx, (dkm_idx)1 << (64 - s->shift), &s->row));
    DKM_STEP(dkm_alloc(s->ctx, capacity, &s->x));
out:
    return local;
}

static void close_spread(spread *s)
{
    DKM_FREE(s->key);
    DKM_FREE(s->row);
    DKM_FREE(s->x);
}

/* Where a column is stored, or the empty place where it would be. */
static dkm_idx sparse_dot_place(const spread *s, dkm_idx col)
{
    uint64_t mask = UINT64_MAX >> s->shift;
    uint64_t at = (uint64_t)col * 0x9e3779b97f4a7c15u >> s->shift;

    while (s->row[at] >= 0 && s->key[at] != col)
        at = (at + 1) & mask;
    return (dkm_idx)at;
}

static double sparse_dot_entry(const dkm_objs *A, dkm_idx k)
{
    return A->val ? A->val[k] : 1.0;
}

static void add_list(spread *s, const dkm_objs *A, dkm_idx i, dkm_idx lane)
{
    for (dkm_idx k = A->start[i]; k < A->start[i + 1]; k++) {
        dkm_idx at = sparse_dot_place(s, A->col[k]);
        if (s->row[at] < 0) {
            s->key[at] = A->col[k];
            s->row[at] = s->rows++;
            memset(s->x + s->row[at] * s->stride, 0, (size_t)s->stride * sizeof *s->x);
        }
        s->x[s->row[at] * s->stride + lane] = sparse_dot_entry(A, k);
    }
}

static void spread_out(spread *s, const dkm_objs *A, dkm_idx i, dkm_idx lists)
{
    s->shift = shift_for(A->start[i + lists] - A->start[i]);
    memset(s->row, 0xff, ((size_t)1 << (64 - s->shift)) * sizeof *s->row);
    s->stride = lists > 1 ? LANES : 1;
    s->rows = 0;
    for (dkm_idx lane = 0; lane < lists; lane++)
        add_list(s, A, i + lane, lane);
}

static void add_products(dkm_idx stride, const double *restrict x, double v, double *restrict sum)
{
    if (stride == LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += x[l] * v;
    else
        sum[0] += x[0] * v;
}

static void add_gaps(dkm_idx stride, const double *restrict x, double v, double *restrict sum)
{
    if (stride == LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += fabs(x[l] - v) - fabs(x[l]) - fabs(v);
    else
        sum[0] += fabs(x[0] - v) - fabs(x[0]) - fabs(v);
}

static void meet_list(const spread *s, dkm_sparse_term meeting, const dkm_objs *B, dkm_idx j,
                      double *sum)
{
    memset(sum, 0, LANES * sizeof *sum);
    for (dkm_idx k = B->start[j]; k < B->start[j + 1]; k++) {
        dkm_idx row = s->row[sparse_dot_place(s, B->col[k])];
        if (row < 0)
            continue;
        if (meeting == DKM_SPARSE_PRODUCT)
            add_products(s->stride, s->x + row * s->stride, sparse_dot_entry(B, k), sum);
        else
            add_gaps(s->stride, s->x + row * s->stride, sparse_dot_entry(B, k), sum);
    }
}

dkm_local dkm_sparse_dot_tile(dkm_sparse_term meeting, const dkm_objs *A, dkm_idx a,
                              const dkm_objs *B, dkm_idx b, const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    spread s = {0};
    double sum[LANES];

    DKM_STEP(open_spread(&s, A, a, C->na));
    for (dkm_idx i = 0, lists; i < C->na; i += lists) {
        lists = together(A, a + i, a + C->na);
        spread_out(&s, A, a + i, lists);
        for (dkm_idx j = 0; j < C->nb; j++) {
            meet_list(&s, meeting, B, b + j, sum);
            dkm_map_store(C, i, j, lists, sum);
        }
    }
out:
    close_spread(&s);
    return local;
}
