/* Sixteen rows of A against six of B at a time: twelve registers of sums. Rows of A are packed so
 * that a register holds pairs of neighbouring numbers of eight rows; vpmaddwd multiplies them with
 * a pair of B and adds the two products. */
#include "scalapack/whole.h"

#include <math.h>
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#define TALL  16  /* rows of A at a time */
#define WIDE  6   /* rows of B */
#define ROWS  256 /* of A that are packed at a time */
#define STRIP 96  /* rows of B that stay in cache while all of those pass by */
#define MOST  32767

int dkm_whole_pays(void)
{
#ifdef __AVX2__
    return 1;
#else
    return 0;
#endif
}

/* The largest size among d numbers, or more than MOST where one of them is not whole. */
static double take_row(dkm_idx d, const double *restrict x, int16_t *restrict row)
{
    double most = 0, off = 0;

    for (dkm_idx k = 0; k < d; k++) {
        double size = fabs(x[k]);
        int32_t near = size <= MOST ? (int32_t)x[k] : 0;
        most = most > size ? most : size;
        off += fabs(x[k] - near);
        row[k] = (int16_t)near;
    }
    return off == 0 ? most : MOST + 1.0;
}

double dkm_whole_take(dkm_idx n, dkm_idx d, const double *rows, int16_t *to)
{
    dkm_idx width = dkm_whole_width(d);
    double most = 0;

    for (dkm_idx i = 0; i < n && most <= MOST; i++) {
        to[(i + 1) * width - 1] = 0;
        most = fmax(most, take_row(d, rows + i * d, to + i * width));
    }
    return most <= MOST ? most : -1.0;
}

dkm_idx dkm_whole_room(dkm_idx width)
{
    return ROWS * width;
}

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

/* Rows [from, from + count) of A, TALL together, pair after pair; rows that are not there are zero.
 */
static void pack(const dkm_whole *A, dkm_idx from, dkm_idx count, int16_t *to)
{
    for (dkm_idx g = 0; g < count; g += TALL, to += TALL * A->width)
        for (dkm_idx i = 0; i < TALL; i++) {
            const int16_t *row = A->rows + (from + g + i) * A->width;
            for (dkm_idx k = 0; k < A->width; k += 2) {
                int32_t two = 0;
                if (g + i < count)
                    memcpy(&two, row + k, sizeof two);
                memcpy(to + k * TALL + 2 * i, &two, sizeof two);
            }
        }
}

/* sums[j][i] = <a_i, b_j> */
static void multiply(dkm_idx width, const int16_t *a, const int16_t *const *b,
                     int32_t sums[WIDE][TALL])
{
#ifdef __AVX2__
    __m256i low[WIDE], high[WIDE];

    for (int j = 0; j < WIDE; j++)
        low[j] = high[j] = _mm256_setzero_si256();
    for (dkm_idx k = 0; k < width; k += 2, a += 2 * TALL) {
        const __m256i a0 = _mm256_loadu_si256((const __m256i_u *)a);
        const __m256i a1 = _mm256_loadu_si256((const __m256i_u *)(a + TALL));
        for (int j = 0; j < WIDE; j++) {
            int32_t two;
            memcpy(&two, b[j] + k, sizeof two);
            const __m256i both = _mm256_set1_epi32(two);
            low[j] = _mm256_add_epi32(low[j], _mm256_madd_epi16(a0, both));
            high[j] = _mm256_add_epi32(high[j], _mm256_madd_epi16(a1, both));
        }
    }
    for (int j = 0; j < WIDE; j++) {
        _mm256_storeu_si256((__m256i_u *)sums[j], low[j]);
        _mm256_storeu_si256((__m256i_u *)(sums[j] + TALL / 2), high[j]);
    }
#else
    memset(sums, 0, sizeof(int32_t[WIDE][TALL]));
    for (dkm_idx k = 0; k < width; k++)
        for (int j = 0; j < WIDE; j++)
            for (int i = 0; i < TALL; i++)
                sums[j][i] += a[k / 2 * 2 * TALL + 2 * i + k % 2] * b[j][k];
#endif
}

typedef struct product {
    const dkm_whole *A, *B;
    dkm_precision precision;
    void *C;
    dkm_idx ldc;
} product;

/* Column j of C from row i on. */
static void put(const product *p, dkm_idx i, dkm_idx j, dkm_idx n, const int32_t *sums)
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

/* Rows [i, i + TALL) of A, packed at a, against rows [j, end) of B. */
static void do_group(const product *p, dkm_idx i, const int16_t *a, dkm_idx j, dkm_idx end)
{
    int32_t sums[WIDE][TALL];
    const int16_t *b[WIDE];

    for (; j < end; j += WIDE) {
        for (dkm_idx c = 0; c < WIDE; c++)
            b[c] = p->B->rows + least(j + c, p->B->n - 1) * p->B->width;
        multiply(p->A->width, a, b, sums);
        for (dkm_idx c = 0; c < least(WIDE, end - j); c++)
            put(p, i, j + c, least(TALL, p->A->n - i), sums[c]);
    }
}

void dkm_whole_dots(const dkm_whole *A, const dkm_whole *B, dkm_precision precision, void *C,
                    dkm_idx ldc, int16_t *room)
{
    product p = {A, B, precision, C, ldc};

    for (dkm_idx from = 0; from < A->n; from += ROWS) {
        dkm_idx count = least(ROWS, A->n - from);
        pack(A, from, count, room);
        for (dkm_idx j = 0; j < B->n; j += STRIP)
            for (dkm_idx g = 0; g < count; g += TALL)
                do_group(&p, from + g, room + g * A->width, j, least(j + STRIP, B->n));
    }
}
