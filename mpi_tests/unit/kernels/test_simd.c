/* The vector kernels of every instruction set that this processor has, against plain loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/string/ssk_batch.h"
#include "kernels/vector/l1_distance.h"
#include "linalg/kernels/gemm_i16.h"
#include "linalg/kernels/gemm_tallskinny.h"
#include "linalg/kernels/gemm_tallskinny_f32_f64.h"
#include "linalg/kernels/gemm_tn.h"
#include "linalg/kernels/gemm_u8.h"
#include "linalg/kernels/parallel_products.h"
#include "search/prefilter.h"
#include "support/check.h"

enum { NA = 301, NB = 139, LD = 307, WIDEST = 24 };

/* Numbers in [-1, 1) that differ from each other. */
static double number(dkm_idx k)
{
    return (double)(k * 7919 % 2003) / 1001.5 - 1.0;
}

static void each_level(dkm_ctx *ctx, void (*test)(dkm_ctx *ctx))
{
    dkm_simd_level before = dkm_simd_current();

    for (int level = 0; level <= (int)dkm_simd_best(); level++) {
        dkm_simd_use((dkm_simd_level)level);
        CHECK((int)dkm_simd_current() == level);
        test(ctx);
    }
    dkm_simd_use(before);
}

typedef struct tile_fixture {
    double T[LD * NB], V[LD * WIDEST], W[LD * WIDEST], want[LD * WIDEST];
    float Tf[LD * NB], Vf[LD * WIDEST], Wf[LD * WIDEST];
} tile_fixture;

static tile_fixture *tile_fixture_create(dkm_ctx *ctx)
{
    tile_fixture *f = NULL;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_calloc(ctx, 1, &f)));
    for (dkm_idx k = 0; k < LD * NB; k++)
        f->T[k] = f->Tf[k] = (float)number(k);
    for (dkm_idx k = 0; k < LD * WIDEST; k++)
        f->V[k] = f->Vf[k] = (float)number(k + 17);
    return f;
}

/* want = op(T) V, row-major with @p p columns, from a start of 1. */
static void plain_product(tile_fixture *f, char trans, dkm_idx p)
{
    dkm_idx outs = trans == 'N' ? NA : NB, ins = trans == 'N' ? NB : NA;

    for (dkm_idx o = 0; o < outs; o++)
        for (dkm_idx c = 0; c < p; c++) {
            double sum = 1;
            for (dkm_idx k = 0; k < ins; k++)
                sum += f->T[trans == 'N' ? o + k * LD : k + o * LD] * f->V[k * p + c];
            f->want[o * p + c] = sum;
        }
    for (dkm_idx k = 0; k < LD * WIDEST; k++)
        f->W[k] = f->Wf[k] = 1;
}

static void compare_products(const tile_fixture *f, dkm_idx count)
{
    for (dkm_idx k = 0; k < count; k++) {
        CHECK_CLOSE(f->W[k], f->want[k], NA * 3e-16 * 4);
        CHECK_CLOSE((double)f->Wf[k], f->want[k], NA * 1.2e-7);
    }
}

static void tall_skinny(dkm_ctx *ctx)
{
    tile_fixture *f = tile_fixture_create(ctx);
    dkm_ts_tile d = {DKM_F64, NA, NB, LD, f->T}, s = {DKM_F32, NA, NB, LD, f->Tf};

    for (dkm_idx pad = 8; pad <= WIDEST; pad += 8) {
        plain_product(f, 'N', pad);
        dkm_ts_gemm_n(&d, pad, f->V, f->W);
        dkm_ts_gemm_n(&s, pad, f->Vf, f->Wf);
        compare_products(f, NA * pad);
        plain_product(f, 'T', pad);
        dkm_ts_gemm_t(&d, pad, f->V, f->W);
        dkm_ts_gemm_t(&s, pad, f->Vf, f->Wf);
        compare_products(f, NB * pad);
    }
    DKM_FREE(f);
}

static void mixed_tall_skinny(dkm_ctx *ctx)
{
    tile_fixture *f = tile_fixture_create(ctx);
    const dkm_idx pads[] = {1, 8, 16};

    for (int k = 0; k < 3; k++) {
        dkm_idx pad = pads[k];
        plain_product(f, 'N', pad);
        if (pad == 1)
            dkm_ts_mixed_gemv_n(NA, NB, f->Tf, LD, f->V, f->W);
        else
            dkm_ts_mixed_gemm_n(pad, NA, NB, f->Tf, LD, f->V, f->W);
        for (dkm_idx i = 0; i < NA * pad; i++)
            CHECK_CLOSE(f->W[i], f->want[i], NA * 3e-16 * 4);
        plain_product(f, 'T', pad);
        if (pad == 1)
            dkm_ts_mixed_gemv_t(NA, NB, f->Tf, LD, f->V, f->W);
        else
            dkm_ts_mixed_gemm_t(pad, NA, NB, f->Tf, LD, f->V, f->W);
        for (dkm_idx i = 0; i < NB * pad; i++)
            CHECK_CLOSE(f->W[i], f->want[i], NA * 3e-16 * 4);
    }
    DKM_FREE(f);
}

/* Both products of a tile at once, for 1 to 13 columns: all sizes of groups. */
static void fused_tile(dkm_ctx *ctx)
{
    tile_fixture *f = tile_fixture_create(ctx);

    for (dkm_idx p = 1; p <= 13; p++) {
        dkm_fused_tile t = {.na = NA, .nb = NB, .ld = LD, .T = f->Tf, .p = p};
        memset(f->W, 0, sizeof f->W);
        memset(f->want, 0, sizeof f->want);
        t.rows_ld = t.cols_ld = LD;
        t.V_rows = f->Vf;
        t.V_cols = f->Vf;
        t.W_rows = f->W;
        t.W_cols = f->want;
        dkm_tile_gemm_fused(1, &t);
        for (dkm_idx c = 0; c < p; c++) {
            for (dkm_idx i = 0; i < NA; i++) {
                double sum = 0;
                for (dkm_idx j = 0; j < NB; j++)
                    sum += f->T[i + j * LD] * f->V[j + c * LD];
                CHECK_CLOSE(f->W[i + c * LD], sum, NB * 1.2e-7);
            }
            for (dkm_idx j = 0; j < NB; j++) {
                double sum = 0;
                for (dkm_idx i = 0; i < NA; i++)
                    sum += f->T[i + j * LD] * f->V[i + c * LD];
                CHECK_CLOSE(f->want[j + c * LD], sum, NA * 1.2e-7);
            }
        }
    }
    DKM_FREE(f);
}

static void integer_products(dkm_ctx *ctx)
{
    enum { D = 37, N = 75 };
    dkm_idx width = dkm_gemm_i16_ld(D);
    double rows[N * D], C[N * N];
    int16_t packed[N * (D + 1)], *room = NULL;
    dkm_i16_rows A = {N, width, packed};

    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, dkm_gemm_i16_workspace(width), &room)));
    for (dkm_idx k = 0; k < N * D; k++)
        rows[k] = (double)(k * 101 % 511 - 255);
    CHECK(dkm_gemm_i16_pack(N, D, rows, packed) == 255.0);
    dkm_gemm_i16(&A, &A, DKM_F64, C, N, room);
    for (dkm_idx j = 0; j < N; j++)
        for (dkm_idx i = 0; i < N; i++) {
            double sum = 0;
            for (dkm_idx k = 0; k < D; k++)
                sum += rows[i * D + k] * rows[j * D + k];
            CHECK(C[i + j * N] == sum);
        }
    DKM_FREE(room);
}

/* Inner products of na and nb of N rows of d numbers, against plain sums; rows are LD apart. */
static void compare_tn(tile_fixture *f, void *work, dkm_idx na, dkm_idx nb, dkm_idx d)
{
    dkm_tn_product p = {DKM_F64, d, {na, LD, f->T}, {nb, LD, f->T + 7 * LD}, f->W, na + 1};
    dkm_tn_product s = {DKM_F32, d, {na, LD, f->Tf}, {nb, LD, f->Tf + 7 * LD}, f->Wf, na + 1};

    for (dkm_idx k = 0; k < LD * WIDEST; k++)
        f->W[k] = f->Wf[k] = -7;
    dkm_gemm_tn(&p, work);
    dkm_gemm_tn(&s, work);
    for (dkm_idx j = 0; j < nb; j++) {
        CHECK(f->W[na + j * (na + 1)] == -7 && f->Wf[na + j * (na + 1)] == -7);
        for (dkm_idx i = 0; i < na; i++) {
            double sum = 0;
            for (dkm_idx k = 0; k < d; k++)
                sum += f->T[i * LD + k] * f->T[(j + 7) * LD + k];
            CHECK_CLOSE(f->W[i + j * (na + 1)], sum, (double)(d + 1) * 3e-16);
            CHECK_CLOSE((double)f->Wf[i + j * (na + 1)], sum, (double)(d + 1) * 1.2e-7);
        }
    }
}

/* All remainders of rows in a register, in a block, and of numbers that are packed together. */
static void inner_products(dkm_ctx *ctx)
{
    const dkm_idx tall[] = {1, 7, 8, 17, 64, 65, 131}, wide[] = {1, 5, 6, 13, 48};
    const dkm_idx deep[] = {0, 1, 3, 4, 33};
    tile_fixture *f = tile_fixture_create(ctx);
    char *work = NULL;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, DKM_TN_WORKSPACE, &work)));
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 5; k++)
                compare_tn(f, work, tall[i], wide[j], deep[k]);
    DKM_FREE(work);
    DKM_FREE(f);
}

/* Rows so long that their sums are made in several parts are the same for (i, j) and (j, i). */
static void long_inner_products(dkm_ctx *ctx)
{
    enum { N = 75, D = 1801 };
    double *X = NULL, *C = NULL;
    char *work = NULL;
    dkm_tn_product p = {DKM_F64, D, {N, D, NULL}, {N, D, NULL}, NULL, N};

    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, N * D, &X)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, N * N, &C)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, DKM_TN_WORKSPACE, &work)));
    for (dkm_idx k = 0; k < N * D; k++)
        X[k] = number(k);
    p.A.rows = p.B.rows = X;
    p.C = C;
    dkm_gemm_tn(&p, work);
    for (dkm_idx j = 0; j < N; j++)
        for (dkm_idx i = 0; i < N; i++) {
            double sum = 0, sizes = 0;
            for (dkm_idx k = 0; k < D; k++) {
                sum += X[i * D + k] * X[j * D + k];
                sizes += fabs(X[i * D + k] * X[j * D + k]);
            }
            CHECK_CLOSE(C[i + j * N], sum, D * 2.3e-16 * sizes);
            CHECK(C[i + j * N] == C[j + i * N]);
        }
    DKM_FREE(work);
    DKM_FREE(C);
    DKM_FREE(X);
}

/* Of N rows of d bytes, the largest ones among them; widths with and without a remainder. */
static void compare_bytes(dkm_idx na, dkm_idx nb, dkm_idx d, void *work)
{
    enum { N = 131, D = 130 };
    static uint8_t rows[N * (D + 3)];
    static double C[N * N];
    static float F[N * N];
    dkm_idx width = dkm_gemm_u8_ld(d);
    dkm_u8_rows A = {na, width, rows}, B = {nb, width, rows};

    for (dkm_idx i = 0; i < N; i++) {
        int16_t row[D];
        for (dkm_idx k = 0; k < d; k++)
            row[k] = (int16_t)(i % 5 == 0 ? 255 : (i * 37 + k * 101) % 256);
        CHECK(dkm_gemm_u8_pack(d, row, rows + i * width));
    }
    dkm_gemm_u8(&A, &B, DKM_F64, C, N, work);
    dkm_gemm_u8(&A, &B, DKM_F32, F, N, work);
    for (dkm_idx j = 0; j < nb; j++)
        for (dkm_idx i = 0; i < na; i++) {
            int sum = 0;
            for (dkm_idx k = 0; k < d; k++)
                sum += (int)rows[i * width + k] * (int)rows[j * width + k];
            CHECK(C[i + j * N] == sum && F[i + j * N] == (float)sum);
        }
}

static void byte_products(dkm_ctx *ctx)
{
    const int16_t wrong[] = {0, 256, 1}, negative[] = {5, -1, 3};
    const dkm_idx tall[] = {1, 16, 63, 64, 131}, deep[] = {1, 4, 63, 64, 130};
    uint8_t kept[4];
    char *work = NULL;

    if (!dkm_gemm_u8_available())
        return;
    CHECK(!dkm_gemm_u8_pack(3, wrong, kept) && !dkm_gemm_u8_pack(3, negative, kept));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, dkm_gemm_u8_workspace(132), &work)));
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            compare_bytes(tall[i], tall[4 - i], deep[j], work);
    DKM_FREE(work);
}

static void maps(dkm_ctx *ctx)
{
    enum { N = 67 };
    double a[N], b[N], C[N * N], first[N * N];
    float F[N * N];
    dkm_tile tile = {DKM_F64, N, N, N, C}, single = {DKM_F32, N, N, N, F};

    (void)ctx;
    for (dkm_idx i = 0; i < N; i++) {
        a[i] = 1.5 + number(i);
        b[i] = 1.5 + number(i + 31);
    }
    for (dkm_idx k = 0; k < N * N; k++)
        first[k] = C[k] = F[k] = (float)number(k);
    dkm_map_gauss(&tile, a, b, 0.7);
    dkm_map_gauss(&single, a, b, 0.7);
    dkm_map_power(&tile, 0.25, 5);
    dkm_map_normalize(&tile, a, b);
    for (dkm_idx j = 0; j < N; j++)
        for (dkm_idx i = 0; i < N; i++) {
            dkm_idx k = i + j * N;
            double gauss = exp(-0.7 * fmax(0, a[i] + b[j] - 2 * first[k]));
            double want = pow(gauss + 0.25, 5) / sqrt(a[i] * b[j]);
            CHECK_CLOSE((double)F[k], gauss, 1e-6);
            CHECK_CLOSE(C[k], want, 4e-15 * want);
        }
    dkm_tile_widen(&single, 0, N, C);
    for (dkm_idx k = 0; k < N * N; k++)
        CHECK(C[k] == (double)F[k]);
}

/* (1 + t) exp(-t) and (1 + t + t^2 / 3) exp(-t), distances from 0 on. */
static void matern_maps(dkm_ctx *ctx)
{
    enum { N = 45 };
    const double by[3][2] = {{0, 0}, {1, 0}, {1, 1.0 / 3.0}};
    double C[N * N], first[N * N], a[N], b[N];
    float F[N * N];
    dkm_tile tile = {DKM_F64, N, N, N, C}, single = {DKM_F32, N, N, N, F};

    (void)ctx;
    for (dkm_idx i = 0; i < N; i++) {
        a[i] = 1.5 + number(i);
        b[i] = 1.5 + 900.0 * fabs(number(i + 31));
    }
    for (int nu = 0; nu < 3; nu++) {
        for (dkm_idx k = 0; k < N * N; k++)
            first[k] = C[k] = F[k] = k % 7 ? (float)number(k) : 900.0F;
        dkm_map_matern(&tile, a, b, 0.7, by[nu]);
        dkm_map_matern(&single, a, b, 0.7, by[nu]);
        for (dkm_idx k = 0; k < N * N; k++) {
            double t = sqrt(0.7 * fmax(0, a[k % N] + b[k / N] - 2 * first[k]));
            double want = (1.0 + by[nu][0] * t + by[nu][1] * t * t) * exp(-t);
            CHECK_CLOSE(C[k], want, 1e-14 * want);
            CHECK_CLOSE((double)F[k], want, 1e-6);
        }
    }
}

static void l1_distances(dkm_ctx *ctx)
{
    enum { N = 45, D = 19 };
    double A[N * D], C[N * N], turned[DKM_L1_LANES * D];
    dkm_tile tile = {DKM_F64, N, N, N, C};

    (void)ctx;
    for (dkm_idx k = 0; k < N * D; k++)
        A[k] = number(k);
    dkm_l1_distances(D, A, A, turned, &tile);
    for (dkm_idx j = 0; j < N; j++)
        for (dkm_idx i = 0; i < N; i++) {
            double sum = 0;
            for (dkm_idx k = 0; k < D; k++)
                sum += fabs(A[i * D + k] - A[j * D + k]);
            CHECK_CLOSE(C[i + j * N], sum, D * 2.3e-16 * (1 + sum));
        }
}

/* Pairs of the letters that "aab" and "abb" share in order: with r = 2, lambda^gaps. */
static void subsequences(dkm_ctx *ctx)
{
    const char *s = "aab", *t = "abb";
    const double lambda = 0.5, want = 1.0 + lambda + lambda + lambda * lambda;
    double values[DKM_SSK_LANES];

    for (dkm_idx lanes = DKM_SSK_FEW; lanes <= DKM_SSK_LANES; lanes += DKM_SSK_FEW) {
        dkm_ssk k = {0};
        CHECK_OK(ctx, dkm_agree(ctx, dkm_ssk_open(&k, ctx, 2, lambda, 3, 3)));
        dkm_ssk_use(&k, lanes);
        for (dkm_idx l = 0; l < lanes; l++) {
            dkm_ssk_put(&k, k.s, l, s, 3, 3);
            dkm_ssk_put(&k, k.t, l, t, 3, 3);
        }
        dkm_ssk_run(&k, 3, 3, values);
        for (dkm_idx l = 0; l < lanes; l++)
            CHECK_CLOSE(values[l], want, 1e-15);
        dkm_ssk_close(&k);
    }
}

/* One point against candidates on a line: those nearer than the bound, in ascending order. */
static void screening(dkm_ctx *ctx)
{
    enum { N = 500 };
    dkm_query_points points = {.n = 1, .p = 1};
    dkm_prefilter screen = {0};
    double Z[N], norms[N];
    int found[N];

    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, 1, &points.values)));
    points.values[0] = 0.5;
    CHECK_OK(ctx, dkm_agree(ctx, dkm_query_points_open(&points, ctx)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_prefilter_open(&screen, ctx, 1, 3)));
    for (dkm_idx c = 0; c < N; c++) {
        Z[c] = number(c);
        norms[c] = Z[c] * Z[c];
    }
    for (int precision = DKM_F64; precision <= DKM_F32; precision++) {
        dkm_idx count, next = 0;
        CHECK(dkm_prefilter_load_block(&screen, (dkm_precision)precision, &points, N, Z, norms));
        dkm_prefilter_values(&screen, &points, 0, 1);
        count = dkm_prefilter_find(&screen, 0, 0.5, 0.01 - 0.25, 3, found);
        for (dkm_idx c = 0; c < N; c++)
            if (fabs(Z[c] - 0.5) < 0.0999) {
                while (next < count && found[next] < c)
                    next++;
                CHECK(next < count && found[next] == c);
            }
        for (dkm_idx k = 0; k < count; k++)
            CHECK(fabs(Z[found[k]] - 0.5) < 0.1001);
    }
    dkm_prefilter_close(&screen);
    dkm_query_points_close(&points);
}

#define LEVELS(topic)                                                                              \
    static void every_instruction_set_has_right_##topic(dkm_ctx *ctx)                              \
    {                                                                                              \
        each_level(ctx, topic);                                                                    \
    }
LEVELS(tall_skinny)
LEVELS(mixed_tall_skinny)
LEVELS(fused_tile)
LEVELS(integer_products)
LEVELS(inner_products)
LEVELS(long_inner_products)
LEVELS(byte_products)
LEVELS(maps)
LEVELS(matern_maps)
LEVELS(l1_distances)
LEVELS(subsequences)
LEVELS(screening)

/* A rank that has less brings all of them down to what it has. */
static void contexts_agree_on_the_least(dkm_ctx *ctx)
{
    dkm_simd_level before = dkm_simd_current();
    dkm_ctx *inner = NULL;

    if (dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1)
        dkm_simd_use(DKM_SIMD_BASELINE);
    CHECK(dkm_ctx_create(dkm_ctx_comm(ctx), &inner) == DKM_OK);
    CHECK(dkm_simd_current() == DKM_SIMD_BASELINE);
    dkm_ctx_destroy(&inner);
    dkm_simd_use(before);
}

static const check_case cases[] = {
    CASE(every_instruction_set_has_right_tall_skinny),
    CASE(every_instruction_set_has_right_mixed_tall_skinny),
    CASE(every_instruction_set_has_right_fused_tile),
    CASE(every_instruction_set_has_right_integer_products),
    CASE(every_instruction_set_has_right_inner_products),
    CASE(every_instruction_set_has_right_long_inner_products),
    CASE(every_instruction_set_has_right_byte_products),
    CASE(every_instruction_set_has_right_maps),
    CASE(every_instruction_set_has_right_matern_maps),
    CASE(every_instruction_set_has_right_l1_distances),
    CASE(every_instruction_set_has_right_subsequences),
    CASE(every_instruction_set_has_right_screening),
    CASE(contexts_agree_on_the_least),
};

CHECK_MAIN(cases)
