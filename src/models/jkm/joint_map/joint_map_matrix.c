/* The kernel matrix K of the training inputs in two dimensions, and G = K U.
 *
 * Rank (p, q) of the R x C grid, P = R C, has K(I_p, J_q): I_p are the slabs of its grid row, which lie
 * one after the other, J_q consecutive columns in blocks of BLOCK. Rows of U travel from the slabs to
 * the ranks of the grid column that needs them, each of them a share, and are gathered there; the
 * sums over J_q are reduced along the grid row to the slabs.
 *
 * Sums are the same to the last bit on any grid: the sum over one block of columns is added up in the
 * order of the index (models/common/reproducible.h), and sums of blocks are added as integers,
 * multiples of 2^-62 of a bound of all of them, ||K||_inf max |U|: integers add up in any order
 * (fixed-point accumulation, as in Demmel and Nguyen 2015, IEEE Trans. Comput. 64(7):2060-2070,
 * doi:10.1109/TC.2014.2345391, with one bin). Rounding to 2^-62 of the bound is less than that of a sum
 * of doubles.
 *
 * Sent per rank: for K m (1/R + 1/C) objects, m where C = 1; for a product t m (1/P + 1/C) bytes, t
 * those of a row of U (1 where classes tell it, else 8 r), and 8 r m (C - 1) / P of sums. With o bytes
 * of an object and T products that is least about C^2 = P (o + T t) / (o + 8 r T), and falls with
 * sqrt(P) then. Messages: a few per product, and log2 or as many as ranks in a grid row and column.
 * Held per rank: m^2 / P numbers of K, m d / R of objects while it is made, and for a product
 * m r / R sums. */
#include "models/jkm/joint_map/joint_map_matrix.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "models/common/reproducible.h"

#define BLOCK 256 /* columns whose sums are made at once: a panel of reproducible.h at most */
#define UNEVEN                                                                                     \
    1.25         /* columns of the fullest rank over the mean, at most, where the grid is chosen */
#define ROWS 512 /* that are multiplied at a time */
#define TAG  1

double dkm_joint_map_matrix_bytes(const dkm_joint_map_load *load, int R, int C)
{
    double P = (double)R * C, others = 1 - 1 / P;

    return load->object_bytes * load->m * (C > 1 ? 1.0 / R + 1.0 / C : 1.0) * others;
}

double dkm_joint_map_product_bytes(const dkm_joint_map_load *load, int R, int C)
{
    double P = (double)R * C, gathered = (R - 1.0) / P, dealt = C > 1 ? (1 - 1 / P) / P : 0;

    return load->m * (load->row_bytes * (gathered + dealt) + 8 * load->r * (C - 1) / P);
}

double dkm_joint_map_matrix_columns(double m, int C)
{
    return fmin(m, BLOCK * ceil(ceil(m / BLOCK) / C));
}

void dkm_joint_map_matrix_shape(int size, const dkm_joint_map_load *load, int *R, int *C)
{
    double best = INFINITY;

    for (int c = 1; c <= size; c++) {
        double bytes = dkm_joint_map_matrix_bytes(load, size / c, c) +
                       load->products * dkm_joint_map_product_bytes(load, size / c, c);
        if (size % c != 0 || (c * dkm_joint_map_matrix_columns(load->m, c) > UNEVEN * load->m) ||
            bytes >= best)
            continue;
        best = bytes;
        *C = c;
        *R = size / c;
    }
}

int dkm_joint_map_choice_bytes(dkm_idx count)
{
    return count < 1 ? 4 : count < UINT8_MAX ? 1 : count < UINT16_MAX ? 2 : 4;
}

/* Columns of grid column q. */
static dkm_range columns_of(const dkm_joint_map_matrix *g, int q)
{
    dkm_idx blocks = (g->m + BLOCK - 1) / BLOCK;
    int C = dkm_grid_cols(g->grid);
    dkm_idx first = dkm_idx_min(g->m, BLOCK * dkm_slab_first(blocks, q, C));

    return (dkm_range){first, dkm_idx_min(g->m, BLOCK * dkm_slab_first(blocks, q + 1, C)) - first};
}

/* Of those what rank p of the grid column hands to the others. */
static dkm_range share_of(const dkm_joint_map_matrix *g, int p, int q)
{
    dkm_range cols = columns_of(g, q);
    int R = dkm_grid_rows(g->grid);

    return (dkm_range){cols.first + dkm_slab_first(cols.count, p, R),
                       dkm_slab_count(cols.count, p, R)};
}

static dkm_range common(dkm_range a, dkm_range b)
{
    dkm_idx first = dkm_idx_max(a.first, b.first);
    dkm_idx end = dkm_idx_min(a.first + a.count, b.first + b.count);

    return (dkm_range){first, dkm_idx_max(end - first, 0)};
}

static void find_place(dkm_joint_map_matrix *g)
{
    int size = dkm_ctx_size(g->ctx), rank = dkm_ctx_rank(g->ctx), C = dkm_grid_cols(g->grid);
    int p = dkm_grid_row(g->grid);
    dkm_idx first = dkm_slab_first(g->m, p * C, size);

    g->slab = (dkm_range){dkm_slab_first(g->m, rank, size), dkm_slab_count(g->m, rank, size)};
    g->rows = (dkm_range){first, dkm_slab_first(g->m, (p + 1) * C, size) - first};
    g->cols = columns_of(g, dkm_grid_col(g->grid));
    g->dealt = share_of(g, p, dkm_grid_col(g->grid));
}

/* own <- the sums over a grid row of what each of its ranks has for their slabs. */
static dkm_status sum_along_row(dkm_joint_map_matrix *g, dkm_idx width, const int64_t *sums,
                                int64_t *own)
{
    dkm_status status = DKM_OK;
    int C = dkm_grid_cols(g->grid), first = dkm_grid_row(g->grid) * C, *counts = NULL;

    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, C, &counts));
    for (int q = 0; q < C; q++)
        counts[q] = (int)(width * dkm_slab_count(g->m, first + q, dkm_ctx_size(g->ctx)));
    if (C > 1)
        MPI_Reduce_scatter(sums, own, counts, MPI_INT64_T, MPI_SUM, dkm_grid_row_comm(g->grid));
    else
        memcpy(own, sums, (size_t)(width * g->slab.count) * sizeof *own);
out:
    DKM_FREE(counts);
    return status;
}

/* The sum of sizes of a row, in units of 2^-bits. */
static int64_t row_size(dkm_idx n, const double *row, int bits)
{
    int64_t sum = 0;

    for (dkm_idx first = 0; first < n; first += BLOCK) {
        double block = 0;
        for (dkm_idx j = first; j < n && j < first + BLOCK; j++)
            block += fabs(row[j]);
        sum += llrint(ldexp(block, bits)) + 1;
    }
    return sum;
}

/* norm <- at least ||K||_inf, the same number on any grid. */
static dkm_status find_norm(dkm_joint_map_matrix *g)
{
    dkm_status status = DKM_OK;
    double most = dkm_largest_size(g->rows.count * g->cols.count, g->K, 0);
    int64_t *sums = NULL, *own = NULL, norm = 0;
    int bits;

    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(g->ctx));
    DKM_REQUIRE(g->ctx, isfinite(most), DKM_ERR_NUMERIC,
                "values of the kernel of the inputs are not finite");
    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, g->rows.count, &sums));
    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, g->slab.count, &own));
    bits = dkm_fixed_point_bits(2 * most * (double)dkm_idx_max(g->m, 1));
    for (dkm_idx i = 0; i < g->rows.count; i++)
        sums[i] = row_size(g->cols.count, g->K + i * g->cols.count, bits);
    DKM_TRY(sum_along_row(g, 1, sums, own));
    for (dkm_idx i = 0; i < g->slab.count; i++)
        norm = own[i] > norm ? own[i] : norm;
    MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(g->ctx));
    g->norm = ldexp((double)norm, -bits);
out:
    DKM_FREE(own);
    DKM_FREE(sums);
    return status;
}

dkm_status dkm_joint_map_matrix_create(const dkm_prepared *X, int R, int C,
                                       dkm_joint_map_matrix **matrix)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = X->ctx;
    dkm_joint_map_matrix *g = NULL;
    int all = R * C == dkm_ctx_size(ctx);

    *matrix = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &g));
    g->ctx = ctx;
    g->m = X->X->m;
    DKM_TRY(dkm_grid_create(ctx, all ? R : dkm_ctx_size(ctx), all ? C : 1, &g->grid));
    find_place(g);
    DKM_TRY(dkm_memory_check(ctx, (double)g->rows.count * (double)g->cols.count * sizeof(double),
                             "the kernel matrix of the inputs"));
    DKM_AGREE(ctx, dkm_alloc(ctx, g->rows.count * g->cols.count, &g->K));
    DKM_TRY(dkm_gram_part(X, g->rows, g->cols, g->K));
    DKM_TRY(find_norm(g));
    *matrix = g;
    g = NULL;
out:
    dkm_joint_map_matrix_destroy(&g);
    return status;
}

void dkm_joint_map_matrix_destroy(dkm_joint_map_matrix **matrix)
{
    dkm_joint_map_matrix *g = *matrix;

    if (!g)
        return;
    dkm_grid_destroy(&g->grid);
    DKM_FREE(g->K);
    DKM_FREE(g->truth);
    DKM_FREE(*matrix);
}

/* Rows of @p width bytes from the slabs to the shares of columns. */
static dkm_status deal(dkm_joint_map_matrix *g, int width, const char *mine, char *dealt)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(g->ctx), rank = dkm_ctx_rank(g->ctx), C = dkm_grid_cols(g->grid), n = 0;
    MPI_Comm comm = dkm_ctx_comm(g->ctx);
    MPI_Datatype row;
    MPI_Request *requests = NULL;

    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, 2 * (dkm_idx)size, &requests));
    MPI_Type_contiguous(width, MPI_BYTE, &row);
    MPI_Type_commit(&row);
    for (int s = 0; s < size; s++) {
        dkm_range slab = {dkm_slab_first(g->m, s, size), dkm_slab_count(g->m, s, size)};
        dkm_range in = common(slab, g->dealt), to = common(g->slab, share_of(g, s / C, s % C));
        if (s == rank && in.count > 0)
            memcpy(dealt + (in.first - g->dealt.first) * width,
                   mine + (in.first - g->slab.first) * width, (size_t)(in.count * width));
        else if (in.count > 0)
            MPI_Irecv(dealt + (in.first - g->dealt.first) * width, (int)in.count, row, s, TAG, comm,
                      &requests[n++]);
        if (s != rank && to.count > 0)
            MPI_Isend(mine + (to.first - g->slab.first) * width, (int)to.count, row, s, TAG, comm,
                      &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&row);
out:
    DKM_FREE(requests);
    return status;
}

/* Rows of some of the columns, from their shares to all of the grid column. @p counts is space for
 * two numbers per rank of it. */
static void gather(const dkm_joint_map_matrix *g, int width, const char *dealt, dkm_range cols,
                   int *counts, char *rows)
{
    int R = dkm_grid_rows(g->grid), *starts = counts + R;
    dkm_range own = common(g->dealt, cols);
    MPI_Datatype row;

    for (int p = 0; p < R; p++) {
        dkm_range in = common(share_of(g, p, dkm_grid_col(g->grid)), cols);
        counts[p] = (int)in.count;
        starts[p] = in.count > 0 ? (int)(in.first - cols.first) : 0;
    }
    MPI_Type_contiguous(width, MPI_BYTE, &row);
    MPI_Type_commit(&row);
    MPI_Allgatherv(own.count > 0 ? dealt + (own.first - g->dealt.first) * width : dealt,
                   (int)own.count, row, rows, counts, starts, row, dkm_grid_col_comm(g->grid));
    MPI_Type_free(&row);
}

static void pack_choices(dkm_idx n, const int32_t *from, int bytes, unsigned char *to)
{
    for (dkm_idx i = 0; i < n; i++)
        for (int k = 0; k < bytes; k++)
            to[i * bytes + k] = (unsigned char)(((uint32_t)from[i] + 1u) >> (8 * k));
}

static void unpack_choices(dkm_idx n, const unsigned char *from, int bytes, int32_t *to)
{
    for (dkm_idx i = 0; i < n; i++) {
        uint32_t choice = 0;
        for (int k = 0; k < bytes; k++)
            choice |= (uint32_t)from[i * bytes + k] << (8 * k);
        to[i] = (int32_t)(choice - 1u);
    }
}

/* all <- the choices of the examples of this rank's columns. */
static dkm_status bring_choices(dkm_joint_map_matrix *g, const int32_t *mine, dkm_idx count,
                                int32_t *all)
{
    dkm_status status = DKM_OK;
    int bytes = dkm_joint_map_choice_bytes(count), *counts = NULL;
    unsigned char *packed = NULL, *dealt = NULL, *rows = NULL;

    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, 2 * (dkm_idx)dkm_grid_rows(g->grid), &counts));
    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, bytes * g->slab.count, &packed));
    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, bytes * g->dealt.count, &dealt));
    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, bytes * g->cols.count, &rows));
    pack_choices(g->slab.count, mine, bytes, packed);
    DKM_TRY(deal(g, bytes, (const char *)packed, (char *)dealt));
    gather(g, bytes, (const char *)dealt, g->cols, counts, (char *)rows);
    unpack_choices(g->cols.count, rows, bytes, all);
out:
    DKM_FREE(rows);
    DKM_FREE(dealt);
    DKM_FREE(packed);
    DKM_FREE(counts);
    return status;
}

/* Sums of a product, in units of 2^-bits. */
typedef struct product {
    dkm_idx r, step; /* rows of U that are taken at a time */
    int bits;
    int64_t *sums; /* rows x r */
    int64_t *own;  /* slab x r */
    double *part;  /* ROWS x r */
    double *U;     /* step x r */
} product;

static void close_product(product *p)
{
    DKM_FREE(p->sums);
    DKM_FREE(p->own);
    DKM_FREE(p->part);
    DKM_FREE(p->U);
}

static dkm_local open_product(const dkm_joint_map_matrix *g, dkm_idx r, double most, product *p)
{
    dkm_local local = DKM_LOCAL_OK;

    *p = (product){.r = r,
                   .step = dkm_idx_min(BLOCK, dkm_repro_panel_rows(r)),
                   .bits = dkm_fixed_point_bits(1.001 * g->norm * most)};
    DKM_STEP(dkm_calloc(g->ctx, g->rows.count * r, &p->sums));
    DKM_STEP(dkm_alloc(g->ctx, g->slab.count * r, &p->own));
    DKM_STEP(dkm_alloc(g->ctx, dkm_idx_min(ROWS, g->rows.count) * r, &p->part));
    DKM_STEP(dkm_alloc(g->ctx, dkm_idx_min(p->step, g->cols.count) * r, &p->U));
out:
    return local;
}

/* sums += K(:, cols) U for some columns, the first of which is the first of this rank's + at. */
static void add_columns(const dkm_joint_map_matrix *g, dkm_idx at, dkm_idx count, product *p)
{
    dkm_idx ld = g->cols.count;
    double unit = ldexp(1.0, p->bits);

    for (dkm_idx i = 0; i < g->rows.count; i += ROWS) {
        dkm_idx n = dkm_idx_min(ROWS, g->rows.count - i) * p->r;
        int64_t *sums = p->sums + i * p->r;
        dkm_repro_gemm(n / p->r, p->r, count, 1.0, (dkm_row_block){g->K + i * ld + at, ld},
                       (dkm_row_block){p->U, p->r}, 0.0, p->part);
        for (dkm_idx k = 0; k < n; k++)
            sums[k] += (int64_t)rint(unit * p->part[k]);
    }
    dkm_phase_flops(g->ctx, 2.0 * (double)g->rows.count * (double)count * (double)p->r);
}

/* G <- the sums of all columns, of this rank's examples. */
static dkm_status finish_product(dkm_joint_map_matrix *g, product *p, double *G)
{
    dkm_status status = DKM_OK;
    double unit = ldexp(1.0, -p->bits);

    DKM_TRY(sum_along_row(g, p->r, p->sums, p->own));
    for (dkm_idx k = 0; k < g->slab.count * p->r; k++)
        G[k] = unit * (double)p->own[k];
out:
    return status;
}

/* The step that begins at column @p at ends where a block does. */
static dkm_range next_columns(const dkm_joint_map_matrix *g, dkm_idx at, dkm_idx step)
{
    dkm_idx left = BLOCK - at % BLOCK;

    return (dkm_range){g->cols.first + at,
                       dkm_idx_min(dkm_idx_min(step, left), g->cols.count - at)};
}

dkm_status dkm_joint_map_matrix_multiply(dkm_joint_map_matrix *matrix, dkm_idx r, const double *U,
                                         double *G)
{
    dkm_status status = DKM_OK;
    double most = dkm_largest_size(matrix->slab.count * r, U, 0);
    int width = (int)(r * (dkm_idx)sizeof *U), *counts = NULL;
    double *dealt = NULL;
    product p = {0};

    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(matrix->ctx));
    DKM_AGREE(matrix->ctx, open_product(matrix, r, most, &p));
    DKM_AGREE(matrix->ctx,
              dkm_alloc(matrix->ctx, 2 * (dkm_idx)dkm_grid_rows(matrix->grid), &counts));
    DKM_AGREE(matrix->ctx, dkm_alloc(matrix->ctx, matrix->dealt.count * r, &dealt));
    DKM_TRY(deal(matrix, width, (const char *)U, (char *)dealt));
    for (dkm_idx at = 0; at < matrix->cols.count;) {
        dkm_range cols = next_columns(matrix, at, p.step);
        gather(matrix, width, (const char *)dealt, cols, counts, (char *)p.U);
        add_columns(matrix, at, cols.count, &p);
        at += cols.count;
    }
    DKM_TRY(finish_product(matrix, &p, G));
out:
    DKM_FREE(dealt);
    DKM_FREE(counts);
    close_product(&p);
    return status;
}

/* The right classes of the examples of this rank's columns, once. */
static dkm_status learn_truth(dkm_joint_map_matrix *g, const dkm_joint_map_choices *choices)
{
    dkm_status status = DKM_OK;
    int32_t *mine = NULL, *all = NULL;

    if (g->truth)
        return DKM_OK;
    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, g->slab.count, &mine));
    DKM_AGREE(g->ctx, dkm_alloc(g->ctx, dkm_idx_max(g->cols.count, 1), &all));
    for (dkm_idx i = 0; i < g->slab.count; i++)
        mine[i] = (int32_t)choices->truth[i];
    DKM_TRY(bring_choices(g, mine, choices->count, all));
    g->truth = all;
    all = NULL;
out:
    DKM_FREE(all);
    DKM_FREE(mine);
    return status;
}

/* The rows of a weight vector that choices tell. */
static void rows_of_choices(const int32_t *truth, const int32_t *choice, double unit, dkm_idx n,
                            dkm_idx r, double *rows)
{
    memset(rows, 0, (size_t)(n * r) * sizeof *rows);
    for (dkm_idx i = 0; i < n; i++)
        if (choice[i] >= 0) {
            rows[i * r + truth[i]] += unit;
            rows[i * r + choice[i]] -= unit;
        }
}

dkm_status dkm_joint_map_matrix_multiply_choices(dkm_joint_map_matrix *matrix,
                                                 const dkm_joint_map_choices *choices, double *G)
{
    dkm_status status = DKM_OK;
    int32_t *choice = NULL;
    product p = {0};

    DKM_TRY(learn_truth(matrix, choices));
    DKM_AGREE(matrix->ctx, open_product(matrix, choices->count, fabs(choices->unit), &p));
    DKM_AGREE(matrix->ctx, dkm_alloc(matrix->ctx, matrix->cols.count, &choice));
    DKM_TRY(bring_choices(matrix, choices->choice, choices->count, choice));
    for (dkm_idx at = 0; at < matrix->cols.count;) {
        dkm_range cols = next_columns(matrix, at, p.step);
        rows_of_choices(matrix->truth + at, choice + at, choices->unit, cols.count, p.r, p.U);
        add_columns(matrix, at, cols.count, &p);
        at += cols.count;
    }
    DKM_TRY(finish_product(matrix, &p, G));
out:
    DKM_FREE(choice);
    close_product(&p);
    return status;
}
