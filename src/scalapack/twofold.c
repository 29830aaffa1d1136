/* A part of the tile stays in cache for both products, while the next one is asked for. Vectors run
 * along columns: sums for two vectors of rows, or for two columns, of up to six columns of W stay
 * in registers. */
#include "scalapack/twofold.h"

#include <stddef.h>

#define NEAR_ROWS 256
#define NEAR_COLS 128
#define LANES     8
#define LINE      16 /* numbers */
#define GROUP     6  /* columns of W at a time */

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

INLINE float sum_of(vec v)
{
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

/* w += s */
INLINE void add_lanes(vec s, double *w)
{
    for (int l = 0; l < LANES; l++)
        w[l] += (double)s[l];
}

/* `vectors` vectors of rows from row i on, columns [0, group) of W_rows. */
INLINE void rows_at(int vectors, int group, const dkm_twofold *t, dkm_idx i)
{
    vec sum[2 * GROUP];

    for (int k = 0; k < group * vectors; k++)
        sum[k] = (vec){0};
    for (dkm_idx j = 0; j < t->nb; j++) {
        const float *T = t->T + i + j * t->ld;
        for (int k = 0; k < group; k++) {
            const float v = t->V_cols[j + k * t->cols_ld];
            for (int l = 0; l < vectors; l++)
                sum[k * vectors + l] += *(const vec *)(T + l * LANES) * v;
        }
    }
    for (int k = 0; k < group; k++)
        for (int l = 0; l < vectors; l++)
            add_lanes(sum[k * vectors + l], t->W_rows + i + l * LANES + k * t->rows_ld);
}

/* Rows that are too few for a vector. */
INLINE void last_rows(int group, const dkm_twofold *t, dkm_idx i)
{
    for (; i < t->na; i++)
        for (int k = 0; k < group; k++) {
            float sum = 0;
            for (dkm_idx j = 0; j < t->nb; j++)
                sum += t->T[i + j * t->ld] * t->V_cols[j + k * t->cols_ld];
            t->W_rows[i + k * t->rows_ld] += (double)sum;
        }
}

INLINE void add_rows(int group, const dkm_twofold *t)
{
    dkm_idx i = 0;

    for (; i + 2 * LANES <= t->na; i += 2 * LANES)
        rows_at(2, group, t, i);
    for (; i + LANES <= t->na; i += LANES)
        rows_at(1, group, t, i);
    last_rows(group, t, i);
}

/* `wide` columns of T from column j on, columns [0, group) of W_cols. */
INLINE void cols_at(int wide, int group, const dkm_twofold *t, dkm_idx j)
{
    vec sum[2 * GROUP];
    float rest[2 * GROUP] = {0};
    dkm_idx i = 0;

    for (int k = 0; k < group * wide; k++)
        sum[k] = (vec){0};
    for (; i + LANES <= t->na; i += LANES)
        for (int k = 0; k < group; k++) {
            const vec v = *(const vec *)(t->V_rows + i + k * t->rows_ld);
            for (int l = 0; l < wide; l++)
                sum[k * wide + l] += *(const vec *)(t->T + i + (j + l) * t->ld) * v;
        }
    for (; i < t->na; i++)
        for (int k = 0; k < group; k++)
            for (int l = 0; l < wide; l++)
                rest[k * wide + l] += t->T[i + (j + l) * t->ld] * t->V_rows[i + k * t->rows_ld];
    for (int k = 0; k < group; k++)
        for (int l = 0; l < wide; l++)
            t->W_cols[j + l + k * t->cols_ld] +=
                (double)sum_of(sum[k * wide + l]) + (double)rest[k * wide + l];
}

/* Columns j and j + 1 of a part that begins at @p next; that there is none does no harm. */
INLINE void ask_for(const float *next, dkm_idx ld, dkm_idx j)
{
    for (dkm_idx i = 0; i < NEAR_ROWS; i += LINE) {
        __builtin_prefetch(next + i + j * ld, 0, 2);
        __builtin_prefetch(next + i + (j + 1) * ld, 0, 2);
    }
}

INLINE void add_cols(int group, const dkm_twofold *t, const float *next)
{
    dkm_idx j = 0;

    for (; j + 2 <= t->nb; j += 2) {
        if (next)
            ask_for(next, t->ld, j);
        cols_at(2, group, t, j);
    }
    if (j < t->nb)
        cols_at(1, group, t, j);
}

/* The number of columns is a constant in each copy of the loops. */
static void add_group(int group, const dkm_twofold *t, const float *next)
{
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        if (t->V_rows)                                                                             \
            add_cols(n, t, next);                                                                  \
        if (t->V_cols)                                                                             \
            add_rows(n, t);                                                                        \
        break;
    switch (group) {
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
    default:
        break;
    }
#undef CASE
}

/* Numbers of the tall matrices from other places on. */
static void move(dkm_twofold *t, dkm_idx rows, dkm_idx cols)
{
    if (t->V_rows) {
        t->V_rows += rows;
        t->W_cols += cols;
    }
    if (t->V_cols) {
        t->V_cols += cols;
        t->W_rows += rows;
    }
}

/* All columns for a part of the tile, in groups of about the same size. */
static void add_part(const dkm_twofold *t, const float *next)
{
    dkm_idx groups = (t->p + GROUP - 1) / GROUP;

    for (dkm_idx g = 0, k = 0, size; g < groups; g++, k += size) {
        dkm_twofold some = *t;
        size = (t->p - k + groups - g - 1) / (groups - g);
        move(&some, k * t->rows_ld, k * t->cols_ld);
        add_group((int)size, &some, g == 0 ? next : NULL);
    }
}

void dkm_twofold_add(const dkm_twofold *t)
{
    for (dkm_idx j = 0; j < t->nb; j += NEAR_COLS)
        for (dkm_idx i = 0; i < t->na; i += NEAR_ROWS) {
            dkm_idx next = j + NEAR_COLS;
            dkm_twofold part = *t;
            part.na = least(NEAR_ROWS, t->na - i);
            part.nb = least(NEAR_COLS, t->nb - j);
            part.T += i + j * t->ld;
            move(&part, i, j);
            add_part(&part, i + NEAR_ROWS < t->na ? part.T + NEAR_ROWS : t->T + next * t->ld);
        }
}
