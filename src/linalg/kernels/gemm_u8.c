/* Exact GEMM of bytes: C(i, j) = <a_i, b_j>, sums in 32 bits.
 *
 * The micro-kernel of gemm_tn.c with vpdpbusd, which multiplies four unsigned by four signed bytes and
 * adds the products to a 32-bit sum: registers of 16 rows of A, less 128 so that they are signed,
 * against four bytes of a row of B. With <a, b> = <a - 128, b> + 128 sum_k b_k sums are exact; what
 * wraps round on the way comes back, since the result is below 2^31.
 *
 * Cost: 2 n_A n_B d integer operations, no communication; a workspace of DKM_U8_PANEL_ROWS rows. This
 * file alone is compiled for AVX-512 VNNI, and used where the processor has it and DKMAP_SIMD allows
 * AVX-512; gemm_i16.c computes the same everywhere. */
#include "linalg/kernels/gemm_u8.h"

#include <string.h>

#include "core/minmax.h"

int dkm_gemm_u8_pack(dkm_idx d, const int16_t *row, uint8_t *to)
{
    int outside = 0;

    for (dkm_idx k = 0; k < d; k++) {
        outside |= row[k];
        to[k] = (uint8_t)row[k];
    }
    memset(to + d, 0, (size_t)(dkm_gemm_u8_ld(d) - d));
    return (outside & ~255) == 0;
}

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)

#include "linalg/kernels/interleave_rows.h"

#define LANES 16
#define ROWS  (4 * LANES) /* rows of A at a time */
#define COLS  6           /* rows of B */
#define SHIFT 128

#define EACH_COLUMN(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#define BEGIN(j)        __m512i s##j##0 = zero, s##j##1 = zero, s##j##2 = zero, s##j##3 = zero;
#define STEP(j)                                                                                    \
    memcpy(&four, b[j] + k, sizeof four);                                                          \
    both = _mm512_set1_epi32(four);                                                                \
    s##j##0 = _mm512_dpbusd_epi32(s##j##0, both, a0);                                              \
    s##j##1 = _mm512_dpbusd_epi32(s##j##1, both, a1);                                              \
    s##j##2 = _mm512_dpbusd_epi32(s##j##2, both, a2);                                              \
    s##j##3 = _mm512_dpbusd_epi32(s##j##3, both, a3);
#define END(j)                                                                                     \
    _mm512_storeu_si512(sums[j], s##j##0);                                                         \
    _mm512_storeu_si512(sums[j] + LANES, s##j##1);                                                 \
    _mm512_storeu_si512(sums[j] + 2 * LANES, s##j##2);                                             \
    _mm512_storeu_si512(sums[j] + 3 * LANES, s##j##3);

/* sums[j][i] = <a_i - 128, b_j>. Sums have names: compilers keep those in registers. */
static void gemm_u8_microkernel(dkm_idx width, const uint8_t *a, const uint8_t *const b[COLS],
                                int32_t sums[COLS][ROWS])
{
    const __m512i zero = _mm512_setzero_si512();
    EACH_COLUMN(BEGIN)

    for (dkm_idx k = 0; k < width; k += 4, a += 4 * ROWS) {
        const __m512i a0 = _mm512_loadu_si512(a), a1 = _mm512_loadu_si512(a + 4 * LANES),
                      a2 = _mm512_loadu_si512(a + 8 * LANES),
                      a3 = _mm512_loadu_si512(a + 12 * LANES);
        __m512i both;
        int32_t four;
        EACH_COLUMN(STEP)
    }
    EACH_COLUMN(END)
}

/* Rows [from, from + count) of A less 128, ROWS together, four bytes of each after four. */
static void gemm_u8_pack_panel(const dkm_u8_rows *A, dkm_idx from, dkm_idx count, uint8_t *to)
{
    const __m512i shift = _mm512_set1_epi8((char)SHIFT);

    for (dkm_idx g = 0; g < count; g += ROWS, to += ROWS * A->width) {
        for (dkm_idx r = 0; r < ROWS; r += LANES) {
            const dkm_item_32 *row[LANES];
            for (dkm_idx l = 0; l < LANES; l++)
                row[l] = (const dkm_item_32 *)(const void *)(A->rows + dkm_idx_min(from + g + r + l,
                                                                                   A->n - 1) *
                                                                           A->width);
            interleave_rows_32(A->width / 4, row, ROWS, (dkm_item_32 *)(void *)to + r);
        }
        for (dkm_idx k = 0; k < ROWS * A->width; k += 4 * LANES)
            _mm512_storeu_si512(to + k, _mm512_xor_si512(_mm512_loadu_si512(to + k), shift));
    }
}

static int32_t gemm_u8_sum(dkm_idx width, const uint8_t *b)
{
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i sum = _mm512_setzero_si512();
    dkm_idx k = 0;

    for (; k + 4 * LANES <= width; k += 4 * LANES)
        sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(b + k), ones);
    sum = _mm512_dpbusd_epi32(
        sum, _mm512_maskz_loadu_epi8(((__mmask64)1 << (width - k)) - 1, b + k), ones);
    return _mm512_reduce_add_epi32(sum);
}

typedef struct gemm_u8_problem {
    const dkm_u8_rows *A, *B;
    dkm_precision precision;
    void *C;
    dkm_idx ldc;
} gemm_u8_problem;

/* n numbers of column j of C from row i on. */
static void gemm_u8_store(const gemm_u8_problem *p, dkm_idx i, dkm_idx j, dkm_idx n,
                          const int32_t *sums, int32_t all)
{
    double *restrict d = (double *)p->C + i + j * p->ldc;
    float *restrict f = (float *)p->C + i + j * p->ldc;
    uint32_t shift = SHIFT * (uint32_t)all;

    if (p->precision == DKM_F64)
        for (dkm_idx k = 0; k < n; k++)
            d[k] = (int32_t)((uint32_t)sums[k] + shift);
    else
        for (dkm_idx k = 0; k < n; k++)
            f[k] = (float)(int32_t)((uint32_t)sums[k] + shift);
}

/* Rows [from, from + count) of C, of A packed, against rows [j, j + COLS) of B. */
static void gemm_u8_columns(const gemm_u8_problem *p, dkm_idx from, dkm_idx count,
                            const uint8_t *packed, dkm_idx j)
{
    dkm_idx width = p->A->width, cols = dkm_idx_min(COLS, p->B->n - j);
    int32_t sums[COLS][ROWS], all[COLS];
    const uint8_t *b[COLS];

    for (dkm_idx c = 0; c < COLS; c++) {
        b[c] = p->B->rows + dkm_idx_min(j + c, p->B->n - 1) * width;
        all[c] = gemm_u8_sum(width, b[c]);
    }
    for (dkm_idx g = 0; g < count; g += ROWS) {
        gemm_u8_microkernel(width, packed + g * width, b, sums);
        for (dkm_idx c = 0; c < cols; c++)
            gemm_u8_store(p, from + g, j + c, dkm_idx_min(ROWS, count - g), sums[c], all[c]);
    }
}

void dkm_gemm_u8(const dkm_u8_rows *A, const dkm_u8_rows *B, dkm_precision precision, void *C,
                 dkm_idx ldc, void *work)
{
    gemm_u8_problem p = {A, B, precision, C, ldc};

    for (dkm_idx from = 0; from < A->n; from += DKM_U8_PANEL_ROWS) {
        dkm_idx count = dkm_idx_min(DKM_U8_PANEL_ROWS, A->n - from);
        gemm_u8_pack_panel(A, from, count, work);
        for (dkm_idx j = 0; j < B->n; j += COLS)
            gemm_u8_columns(&p, from, count, work, j);
    }
}

#else

void dkm_gemm_u8(const dkm_u8_rows *A, const dkm_u8_rows *B, dkm_precision precision, void *C,
                 dkm_idx ldc, void *work)
{
    (void)A, (void)B, (void)precision, (void)C, (void)ldc, (void)work;
}

#endif
