/* Exact integer GEMM: C(i, j) = <a_i, b_j> for rows of 16-bit integers, sums in 32 bits.
 *
 * A register-blocked micro-kernel over packed panels (Goto and van de Geijn 2008, ACM TOMS
 * 34(3):12, doi:10.1145/1356052.1356053; Van Zee and van de Geijn 2015, ACM TOMS 41(3):14,
 * doi:10.1145/2764454): two registers of rows of A against MICRO_COLS = 6 rows of B in twelve
 * registers of sums. Rows of A are packed so that a register holds pairs of neighboring numbers of
 * 8 or 16 rows; vpmaddwd multiplies them by a pair of B and adds the two products. Without AVX2,
 * plain loops compute the same sums. Sums are exact while width max|a| max|b| < 2^31. Compiled for
 * each instruction set (core/simd.h).
 *
 * Cost: 2 n_A n_B d integer operations, no communication; the caller provides a workspace of
 * DKM_I16_PANEL_ROWS x width 16-bit numbers. */
#include "linalg/kernels/gemm_i16.h"
#include "core/minmax.h"

#include <math.h>
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#define MICRO_ROWS  (DKM_SIMD_BYTES / 2) /* rows of A at a time: pairs fill two registers */
#define MICRO_COLS  6                    /* rows of B */
#define PANEL_DEPTH 96 /* rows of B that stay in cache while all of those pass by */
#define INT16_LIMIT 32767

/* The largest size among d numbers, or more than INT16_LIMIT where one of them is not an integer. */
static double gemm_i16_convert_row(dkm_idx d, const double *restrict x, int16_t *restrict row)
{
    double most = 0, off = 0;

    for (dkm_idx k = 0; k < d; k++) {
        double size = fabs(x[k]);
        int32_t near = size <= INT16_LIMIT ? (int32_t)x[k] : 0;
        most = most > size ? most : size;
        off += fabs(x[k] - near);
        row[k] = (int16_t)near;
    }
    return off == 0 ? most : INT16_LIMIT + 1.0;
}

static double gemm_i16_pack(dkm_idx n, dkm_idx d, const double *rows, int16_t *to)
{
    dkm_idx width = dkm_gemm_i16_ld(d);
    double most = 0;

    for (dkm_idx i = 0; i < n && most <= INT16_LIMIT; i++) {
        to[(i + 1) * width - 1] = 0;
        most = fmax(most, gemm_i16_convert_row(d, rows + i * d, to + i * width));
    }
    return most <= INT16_LIMIT ? most : -1.0;
}

/* Rows [from, from + count) of A, MICRO_ROWS together, pair after pair; rows that are not there are
 * zero.
 */
static void gemm_i16_pack_panel(const dkm_i16_rows *A, dkm_idx from, dkm_idx count, int16_t *to)
{
    for (dkm_idx g = 0; g < count; g += MICRO_ROWS, to += MICRO_ROWS * A->width)
        for (dkm_idx i = 0; i < MICRO_ROWS; i++) {
            const int16_t *row = A->rows + (from + g + i) * A->width;
            for (dkm_idx k = 0; k < A->width; k += 2) {
                int32_t two = 0;
                if (g + i < count)
                    memcpy(&two, row + k, sizeof two);
                memcpy(to + k * MICRO_ROWS + 2 * i, &two, sizeof two);
            }
        }
}

#if defined(__AVX512BW__)
typedef __m512i ivec;
#define LOAD(p)     _mm512_loadu_si512(p)
#define STORE(p, v) _mm512_storeu_si512((p), (v))
#define MADD(a, b)  _mm512_madd_epi16((a), (b))
#define ADD(a, b)   _mm512_add_epi32((a), (b))
#define ALL(x)      _mm512_set1_epi32(x)
#elif defined(__AVX2__)
typedef __m256i ivec;
#define LOAD(p)     _mm256_loadu_si256((const __m256i_u *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i_u *)(p), (v))
#define MADD(a, b)  _mm256_madd_epi16((a), (b))
#define ADD(a, b)   _mm256_add_epi32((a), (b))
#define ALL(x)      _mm256_set1_epi32(x)
#endif

/* sums[j][i] = <a_i, b_j> */
static void gemm_i16_microkernel(dkm_idx width, const int16_t *a, const int16_t *const *b,
                                 int32_t sums[MICRO_COLS][MICRO_ROWS])
{
#ifdef MADD
    ivec low[MICRO_COLS], high[MICRO_COLS];

    for (int j = 0; j < MICRO_COLS; j++)
        low[j] = high[j] = ALL(0);
    for (dkm_idx k = 0; k < width; k += 2, a += 2 * MICRO_ROWS) {
        const ivec a0 = LOAD(a), a1 = LOAD(a + MICRO_ROWS);
        for (int j = 0; j < MICRO_COLS; j++) {
            int32_t two;
            memcpy(&two, b[j] + k, sizeof two);
            const ivec both = ALL(two);
            low[j] = ADD(low[j], MADD(a0, both));
            high[j] = ADD(high[j], MADD(a1, both));
        }
    }
    for (int j = 0; j < MICRO_COLS; j++) {
        STORE(sums[j], low[j]);
        STORE(sums[j] + MICRO_ROWS / 2, high[j]);
    }
#else
    memset(sums, 0, sizeof(int32_t[MICRO_COLS][MICRO_ROWS]));
    for (dkm_idx k = 0; k < width; k++)
        for (int j = 0; j < MICRO_COLS; j++)
            for (int i = 0; i < MICRO_ROWS; i++)
                sums[j][i] += a[k / 2 * 2 * MICRO_ROWS + 2 * i + k % 2] * b[j][k];
#endif
}

typedef struct gemm_i16_problem {
    const dkm_i16_rows *A, *B;
    dkm_precision precision;
    void *C;
    dkm_idx ldc;
} gemm_i16_problem;

/* Column j of C from row i on. */
static void gemm_i16_store(const gemm_i16_problem *p, dkm_idx i, dkm_idx j, dkm_idx n,
                           const int32_t *sums)
{
    double *restrict d = (double *)p->C + i + j * p->ldc;
    float *restrict f = (float *)p->C + i + j * p->ldc;

    if (p->precision == DKM_F64)
        for (dkm_idx k = 0; k < n; k++)
            d[k] = sums[k];
    else
        for (dkm_idx k = 0; k < n; k++)
            f[k] = (float)sums[k];
}

/* Rows [i, i + MICRO_ROWS) of A, packed at a, against rows [j, end) of B. */
static void gemm_i16_group(const gemm_i16_problem *p, dkm_idx i, const int16_t *a, dkm_idx j,
                           dkm_idx end)
{
    int32_t sums[MICRO_COLS][MICRO_ROWS];
    const int16_t *b[MICRO_COLS];

    for (; j < end; j += MICRO_COLS) {
        for (dkm_idx c = 0; c < MICRO_COLS; c++)
            b[c] = p->B->rows + dkm_idx_min(j + c, p->B->n - 1) * p->B->width;
        gemm_i16_microkernel(p->A->width, a, b, sums);
        for (dkm_idx c = 0; c < dkm_idx_min(MICRO_COLS, end - j); c++)
            gemm_i16_store(p, i, j + c, dkm_idx_min(MICRO_ROWS, p->A->n - i), sums[c]);
    }
}

static void gemm_i16(const dkm_i16_rows *A, const dkm_i16_rows *B, dkm_precision precision, void *C,
                     dkm_idx ldc, int16_t *work)
{
    gemm_i16_problem p = {A, B, precision, C, ldc};

    for (dkm_idx from = 0; from < A->n; from += DKM_I16_PANEL_ROWS) {
        dkm_idx count = dkm_idx_min(DKM_I16_PANEL_ROWS, A->n - from);
        gemm_i16_pack_panel(A, from, count, work);
        for (dkm_idx j = 0; j < B->n; j += PANEL_DEPTH)
            for (dkm_idx g = 0; g < count; g += MICRO_ROWS)
                gemm_i16_group(&p, from + g, work + g * A->width, j,
                               dkm_idx_min(j + PANEL_DEPTH, B->n));
    }
}

const dkm_i16_kernels DKM_SIMD(dkm_i16_kernels) = {gemm_i16_pack, gemm_i16};
