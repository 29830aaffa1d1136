/* Symmetrize: copy one strict triangle of a distributed matrix to the other (p?tran on triangles,
 * without a second matrix).
 *
 * Block (i, j) becomes the transpose of block (j, i). Blocks are sent in rounds of block columns,
 * one alltoallv per round, so that buffers stay bounded; each diagonal block is on one process,
 * which copies its triangle in place.
 *
 * Cost per rank: n^2 / (2 ranks) words sent and received, no flops. Held: one round of what is sent
 * and one of what is received, 1/16 of the rank's share of the matrix each, but between 4 and
 * 32 MiB. Nothing is replicated. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "matrix/dmat_impl.h"
#include "matrix/symmetrize.h"

#define ROUND_MIN   4194304.0 /* bytes that a rank sends in a round, about */
#define ROUND_MAX   33554432.0
#define ROUND_SHARE 16.0 /* or such a fraction of its part of the matrix */

typedef struct symmetrization {
    dkm_dmat *A;
    char uplo;
    int p, q, P, Q, size;
    dkm_idx blocks; /* along a side */
    size_t bytes;   /* of a number */
    void *sent, *got;
    int *send_counts, *send_starts, *get_counts, *get_starts;
} symmetrization;

static dkm_idx block_order(const symmetrization *m, dkm_idx b)
{
    return dkm_idx_min(m->A->nb, m->A->n - b * m->A->nb);
}

/* The first block from b on that process k of K has. */
static dkm_idx next_own_block(dkm_idx b, int k, int K)
{
    return b + (k - b % K + K) % K;
}

/* What is done with block (I, J), I > J, that this rank has in its lower or upper triangle. */
typedef void visit(symmetrization *m, int lower, dkm_idx I, dkm_idx J, int other);

/* Visit this rank's blocks of one triangle that belong to block columns [first, end) below the
 * diagonal, with the rank that has the other of the pair. */
static void for_each_block(symmetrization *m, int lower, dkm_idx first, dkm_idx end, visit *see)
{
    int Jk = lower ? m->q : m->p, JK = lower ? m->Q : m->P;
    int Ik = lower ? m->p : m->q, IK = lower ? m->P : m->Q;

    for (dkm_idx J = next_own_block(first, Jk, JK); J < end && m->p >= 0; J += JK)
        for (dkm_idx I = next_own_block(J + 1, Ik, IK); I < m->blocks; I += IK) {
            dkm_idx row = lower ? J % m->P : I % m->P, col = lower ? I % m->Q : J % m->Q;
            see(m, lower, I, J, (int)(row * m->Q + col));
        }
}

static void count_sent(symmetrization *m, int lower, dkm_idx I, dkm_idx J, int other)
{
    (void)lower;
    m->send_counts[other] += (int)(block_order(m, I) * block_order(m, J));
}

static void count_got(symmetrization *m, int lower, dkm_idx I, dkm_idx J, int other)
{
    (void)lower;
    m->get_counts[other] += (int)(block_order(m, I) * block_order(m, J));
}

static void prefix_sum(int size, const int *counts, int *starts)
{
    for (int r = 0, at = 0; r < size; at += counts[r++])
        starts[r] = at;
}

static void symmetrize_plan_round(symmetrization *m, dkm_idx first, dkm_idx end)
{
    memset(m->send_counts, 0, (size_t)m->size * sizeof *m->send_counts);
    memset(m->get_counts, 0, (size_t)m->size * sizeof *m->get_counts);
    for_each_block(m, m->uplo == 'L', first, end, count_sent);
    for_each_block(m, m->uplo != 'L', first, end, count_got);
    prefix_sum(m->size, m->send_counts, m->send_starts);
    prefix_sum(m->size, m->get_counts, m->get_starts);
}

/* Place in the local array of block (I, J), or of its mirror image. */
static dkm_idx symmetrize_block_address(const symmetrization *m, int lower, dkm_idx I, dkm_idx J)
{
    dkm_idx row = (lower ? I : J) / m->P * m->A->mb, col = (lower ? J : I) / m->Q * m->A->nb;

    return row + col * m->A->ld;
}

/* to = from', from of h x w with leading dimension ld, to of w x h without gaps. */
static void transpose_f64(dkm_idx h, dkm_idx w, const double *restrict from, dkm_idx ld,
                          double *restrict to)
{
    for (dkm_idx j = 0; j < w; j++)
        for (dkm_idx i = 0; i < h; i++)
            to[j + i * w] = from[i + j * ld];
}

static void transpose_f32(dkm_idx h, dkm_idx w, const float *restrict from, dkm_idx ld,
                          float *restrict to)
{
    for (dkm_idx j = 0; j < w; j++)
        for (dkm_idx i = 0; i < h; i++)
            to[j + i * w] = from[i + j * ld];
}

static void symmetrize_pack(symmetrization *m, int lower, dkm_idx I, dkm_idx J, int other)
{
    const dkm_dmat *A = m->A;
    dkm_idx h = block_order(m, lower ? I : J), w = block_order(m, lower ? J : I);
    dkm_idx from = symmetrize_block_address(m, lower, I, J), to = m->send_starts[other];

    if (A->precision == DKM_F64)
        transpose_f64(h, w, A->a.f64 + from, A->ld, (double *)m->sent + to);
    else
        transpose_f32(h, w, A->a.f32 + from, A->ld, (float *)m->sent + to);
    m->send_starts[other] += (int)(h * w);
}

static void symmetrize_unpack(symmetrization *m, int lower, dkm_idx I, dkm_idx J, int other)
{
    dkm_dmat *A = m->A;
    dkm_idx h = block_order(m, lower ? I : J), w = block_order(m, lower ? J : I);
    char *to = (char *)A->a.any + (size_t)symmetrize_block_address(m, lower, I, J) * m->bytes;
    const char *from = (const char *)m->got + (size_t)m->get_starts[other] * m->bytes;

    for (dkm_idx j = 0; j < w; j++)
        memcpy(to + (size_t)(j * A->ld) * m->bytes, from + (size_t)(j * h) * m->bytes,
               (size_t)h * m->bytes);
    m->get_starts[other] += (int)(h * w);
}

static void symmetrize_round(symmetrization *m, dkm_idx first, dkm_idx end)
{
    MPI_Datatype type = m->A->precision == DKM_F64 ? MPI_DOUBLE : MPI_FLOAT;

    symmetrize_plan_round(m, first, end);
    for_each_block(m, m->uplo == 'L', first, end, symmetrize_pack);
    prefix_sum(m->size, m->send_counts, m->send_starts);
    MPI_Alltoallv(m->sent, m->send_counts, m->send_starts, type, m->got, m->get_counts,
                  m->get_starts, type, dkm_ctx_comm(dkm_grid_ctx(m->A->grid)));
    for_each_block(m, m->uplo != 'L', first, end, symmetrize_unpack);
}

/* Each diagonal block is on one process. */
static void symmetrize_diagonal_blocks(const symmetrization *m)
{
    dkm_dmat *A = m->A;

    for (dkm_idx b = next_own_block(0, m->q, m->Q); b < m->blocks; b += m->Q) {
        dkm_idx i0 = b / m->P * A->mb, j0 = b / m->Q * A->nb, side = block_order(m, b);
        for (dkm_idx j = 0; b % m->P == m->p && j < side; j++)
            for (dkm_idx i = j + 1; i < side; i++) {
                if (m->uplo == 'L')
                    dkm_dmat_put(A, i0 + j, j0 + i, dkm_dmat_at(A, i0 + i, j0 + j));
                else
                    dkm_dmat_put(A, i0 + i, j0 + j, dkm_dmat_at(A, i0 + j, j0 + i));
            }
    }
}

/* Block columns of a round: enough that all processes have a part in it. */
static dkm_idx round_blocks(const symmetrization *m)
{
    double ranks = (double)m->P * m->Q, n = (double)m->A->n, bytes = (double)m->bytes;
    double round = fmin(fmax(n * n * bytes / ranks / ROUND_SHARE, ROUND_MIN), ROUND_MAX);
    dkm_idx fit = (dkm_idx)(round * ranks / fmax(n * (double)m->A->nb * bytes, 1.0));
    dkm_idx turn = m->P > m->Q ? m->P : m->Q;

    return fit > turn ? fit : turn;
}

/* Buffers for the largest of the rounds. */
static dkm_local symmetrize_alloc(symmetrization *m, dkm_idx each)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(m->A->grid);
    dkm_idx most[2] = {0, 0};

    DKM_STEP(dkm_alloc(ctx, m->size, &m->send_counts));
    DKM_STEP(dkm_alloc(ctx, m->size, &m->send_starts));
    DKM_STEP(dkm_alloc(ctx, m->size, &m->get_counts));
    DKM_STEP(dkm_alloc(ctx, m->size, &m->get_starts));
    for (dkm_idx first = 0; first < m->blocks; first += each) {
        dkm_idx sum[2] = {0, 0};
        symmetrize_plan_round(m, first, dkm_idx_min(first + each, m->blocks));
        for (int r = 0; r < m->size; r++) {
            sum[0] += m->send_counts[r];
            sum[1] += m->get_counts[r];
        }
        most[0] = sum[0] > most[0] ? sum[0] : most[0];
        most[1] = sum[1] > most[1] ? sum[1] : most[1];
    }
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, most[0], m->bytes, &m->sent));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, most[1], m->bytes, &m->got));
out:
    return local;
}

static void symmetrize_free(symmetrization *m)
{
    DKM_FREE(m->got);
    DKM_FREE(m->sent);
    DKM_FREE(m->get_starts);
    DKM_FREE(m->get_counts);
    DKM_FREE(m->send_starts);
    DKM_FREE(m->send_counts);
}

dkm_status dkm_dmat_symmetrize(char uplo, dkm_dmat *A)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    symmetrization m = {.A = A, .uplo = uplo, .size = dkm_ctx_size(ctx)};
    dkm_idx each;

    assert(A->m == A->n && A->mb == A->nb);
    m.p = dkm_grid_row(A->grid);
    m.q = dkm_grid_col(A->grid);
    m.P = dkm_grid_rows(A->grid);
    m.Q = dkm_grid_cols(A->grid);
    m.blocks = (A->n + A->nb - 1) / A->nb;
    m.bytes = A->precision == DKM_F64 ? sizeof(double) : sizeof(float);
    each = round_blocks(&m);
    DKM_AGREE(ctx, symmetrize_alloc(&m, each));
    for (dkm_idx first = 0; first < m.blocks; first += each)
        symmetrize_round(&m, first, dkm_idx_min(first + each, m.blocks));
    if (m.p >= 0)
        symmetrize_diagonal_blocks(&m);
out:
    symmetrize_free(&m);
    return status;
}
