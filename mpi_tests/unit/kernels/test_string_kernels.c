/* Kernels on strings, against enumeration. */
#include <math.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "kernels/string/ssk_batch.h"
#include "reference/reference_gram.h"
#include "reference/reference_kernel.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 29, NEW = 7 };

/* Strings of 0 to 10 letters a-c; 0 and 1 are empty, 2, 3 and 4 are short, 5 and 6 are equal, 7 has
 * bytes beyond ASCII and a zero byte. */
static reference_text text_of(dkm_idx i)
{
    static const char *const special[] = {"", "", "ab", "ab", "a", "abcabca", "abcabca"};
    reference_text t = {0};

    if (i < 7) {
        t.length = (dkm_idx)strlen(special[i]);
        memcpy(t.bytes, special[i], (size_t)t.length);
    } else if (i == 7) {
        t.length = 9;
        memcpy(t.bytes, "a\xff\x80\0b\xffq\xe9\x01", 9);
    } else {
        t.length = dkm_random_below(4, 0, (uint64_t)i, 8) + 3;
        for (dkm_idx k = 0; k < t.length; k++)
            t.bytes[k] = (char)('a' + dkm_random_below(4, (uint64_t)i + 1, (uint64_t)k, 3));
    }
    return t;
}

/* New strings: empty, short, one of the training strings, one with a new letter, and others. */
static reference_text new_text_of(dkm_idx i)
{
    reference_text t = text_of(i < 2 ? i + 1 : i == 2 ? 5 : 100 + i);

    if (i == 3)
        t.bytes[1] = 'Z';
    return t;
}

static dkm_idx text(dkm_idx i, char *out, dkm_idx room)
{
    reference_text t = text_of(i);

    (void)room;
    memcpy(out, t.bytes, (size_t)t.length);
    return t.length;
}

static dkm_idx new_text(dkm_idx i, char *out, dkm_idx room)
{
    reference_text t = new_text_of(i);

    (void)room;
    memcpy(out, t.bytes, (size_t)t.length);
    return t.length;
}

typedef double (*text_kernel)(const reference_text *s, const reference_text *t);

static text_kernel at_hand;

static double among(dkm_idx i, dkm_idx j)
{
    reference_text s = text_of(i), t = text_of(j);

    return at_hand(&s, &t);
}

static double to_others(dkm_idx i, dkm_idx j)
{
    reference_text s = new_text_of(i), t = text_of(j);

    return at_hand(&s, &t);
}

static double ssk_1(const reference_text *s, const reference_text *t)
{
    return reference_ssk(s, t, 1, 0.5);
}

static double ssk_2(const reference_text *s, const reference_text *t)
{
    return reference_ssk(s, t, 2, 1);
}

static double ssk_3(const reference_text *s, const reference_text *t)
{
    return reference_ssk(s, t, 3, 0.01);
}

static double ssk_5(const reference_text *s, const reference_text *t)
{
    return reference_ssk(s, t, 5, 0.7);
}

static double gaps_3(const reference_text *s, const reference_text *t)
{
    return reference_ssk(s, t, 3, 0.5) * 64;
}

static double unit(text_kernel k, const reference_text *s, const reference_text *t)
{
    double self_s = k(s, s), self_t = k(t, t);

    if (self_s == 0 || self_t == 0)
        return s->length == t->length && memcmp(s->bytes, t->bytes, (size_t)s->length) == 0;
    return k(s, t) / sqrt(self_s * self_t);
}

static double unit_ssk_3(const reference_text *s, const reference_text *t)
{
    return unit(ssk_3, s, t);
}

static double rbf_of_ssk(const reference_text *s, const reference_text *t)
{
    return exp(-(2 - 2 * unit_ssk_3(s, t)) / 2);
}

static double spectrum_1(const reference_text *s, const reference_text *t)
{
    return reference_spectrum(s, t, 1);
}

static double spectrum_3(const reference_text *s, const reference_text *t)
{
    return reference_spectrum(s, t, 3);
}

static double spectrum_9(const reference_text *s, const reference_text *t)
{
    return reference_spectrum(s, t, 9);
}

static double unit_spectrum(const reference_text *s, const reference_text *t)
{
    return unit(spectrum_3, s, t);
}

/* The letters of the training strings but for the zero byte, which ends the alphabet of the oracle:
 * here string 7 is left out of the training set by taking fewer of its kind. */
static double mismatch_21(const reference_text *s, const reference_text *t)
{
    return reference_mismatch(s, t, 2, 1, "abc");
}

static double mismatch_42(const reference_text *s, const reference_text *t)
{
    return reference_mismatch(s, t, 4, 2, "abc");
}

static double mismatch_30(const reference_text *s, const reference_text *t)
{
    return reference_mismatch(s, t, 3, 0, "abc");
}

static double degree_5(const reference_text *s, const reference_text *t)
{
    return reference_weighted_degree(s, t, 5, 0);
}

static double degree_2_shift_4(const reference_text *s, const reference_text *t)
{
    return reference_weighted_degree(s, t, 2, 4);
}

static double degree_3_shift_all(const reference_text *s, const reference_text *t)
{
    return reference_weighted_degree(s, t, 3, 1000);
}

typedef struct string_case {
    const char *text;
    text_kernel value;
} string_case;

static void check_all(dkm_ctx *ctx, size_t count, const string_case *all, dkm_idx m)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, m, text);
    dkm_data *Z = objects_texts(ctx, DKM_STRINGS, NEW, new_text);

    for (size_t k = 0; k < count; k++) {
        gram_case c = {all[k].text, X, among, Z, to_others, 1e-14};
        at_hand = all[k].value;
        check_gram(ctx, &c);
    }
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

static void subsequences_agree_with_enumeration(dkm_ctx *ctx)
{
    static const string_case all[] = {
        {"ssk(r=1, lambda=0.5)", ssk_1},
        {"ssk(r=2, lambda=1)", ssk_2},
        {"ssk", ssk_3},
        {"ssk(r=5, lambda=0.7)", ssk_5},
        {"ssk_gaps(r=3, lambda=0.5)", gaps_3},
        {"scale(ssk(r=3, lambda=0.5), by=64)", gaps_3},
        {"normalize(ssk(r=3, lambda=0.01))", unit_ssk_3},
        {"rbf(normalize(ssk(r=3, lambda=0.01)), sigma=1)", rbf_of_ssk},
    };

    check_all(ctx, sizeof all / sizeof *all, all, M);
    check_all(ctx, sizeof all / sizeof *all, all, 1);
    check_all(ctx, sizeof all / sizeof *all, all, 0);
}

static void stretches_agree_with_enumeration(dkm_ctx *ctx)
{
    static const string_case all[] = {
        {"spectrum(p=1)", spectrum_1},
        {"spectrum", spectrum_3},
        {"spectrum(p=9)", spectrum_9},
        {"normalize(spectrum(p=3))", unit_spectrum},
    };

    check_all(ctx, sizeof all / sizeof *all, all, M);
}

static void places_agree_with_enumeration(dkm_ctx *ctx)
{
    static const string_case all[] = {
        {"weighted-degree", degree_5},
        {"weighted-degree(degree=2, shift=4)", degree_2_shift_4},
        {"weighted-degree(degree=3, shift=1000)", degree_3_shift_all},
    };

    check_all(ctx, sizeof all / sizeof *all, all, M);
}

/* Training strings without number 7: letters a, b and c alone. */
static dkm_idx plain_text(dkm_idx i, char *out, dkm_idx room)
{
    return text(i < 7 ? i : i + 1, out, room);
}

static double plain_among(dkm_idx i, dkm_idx j)
{
    return among(i < 7 ? i : i + 1, j < 7 ? j : j + 1);
}

static double plain_others(dkm_idx i, dkm_idx j)
{
    return to_others(i, j < 7 ? j : j + 1);
}

static void mismatches_agree_with_enumeration(dkm_ctx *ctx)
{
    static const string_case all[] = {
        {"mismatch(p=2, k=1)", mismatch_21},
        {"mismatch(p=4, k=2)", mismatch_42},
        {"mismatch(p=3, k=0)", mismatch_30},
    };
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M - 1, plain_text);
    dkm_data *Z = objects_texts(ctx, DKM_STRINGS, NEW, new_text);

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        gram_case c = {all[k].text, X, plain_among, Z, plain_others, 1e-15};
        at_hand = all[k].value;
        check_gram(ctx, &c);
    }
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

enum { LONG = 17, OTHERS = LONG - 1 };

/* Words of 17 letters from an alphabet of 17: too many for digits, their numbers are random sums.
 */
static dkm_idx long_word(dkm_idx i, char *out, dkm_idx room)
{
    (void)room;
    for (dkm_idx k = 0; k < LONG; k++)
        out[k] = (char)('a' + k + (k == 2 && i == 1) + (k >= 5 && k < 8 && i == 2));
    return LONG;
}

/* How many words are within 2 changes of both of two words at a distance of 0, 1, 3 or 4. */
static double long_mismatch(dkm_idx i, dkm_idx j)
{
    if (i == j)
        return 1 + LONG * OTHERS + LONG * (LONG - 1) / 2 * OTHERS * OTHERS;
    if (i + j == 1)
        return LONG + LONG * OTHERS * (LONG - 1);
    return i + j == 2 ? 3 + 3 + 6 * (OTHERS - 1) : 6;
}

static void long_words_are_told_apart(dkm_ctx *ctx)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, 3, long_word);
    gram_case c = {"mismatch(p=17, k=2)", X, long_mismatch, X, long_mismatch, 0};

    check_gram(ctx, &c);
    dkm_data_destroy(&X);
}

static dkm_idx same_letters(dkm_idx i, char *out, dkm_idx room)
{
    dkm_idx length = i == 0 ? 10000 : i == 1 ? 137 : 0;

    (void)room;
    memset(out, 'x', (size_t)length);
    return length;
}

static double choose_3(double n)
{
    return n * (n - 1) * (n - 2) / 6;
}

static double same_value(dkm_idx i, dkm_idx j)
{
    const double length[] = {10000, 137, 0};

    return choose_3(length[i]) * choose_3(length[j]);
}

static double same_stretches(dkm_idx i, dkm_idx j)
{
    const double stretches[] = {9996, 133, 0};

    return stretches[i] * stretches[j];
}

/* Strings of one letter: every choice of r places matches. */
static void strings_of_ten_thousand_letters_are_exact(dkm_ctx *ctx)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, 3, same_letters);
    const struct {
        const char *text;
        kernel_value value;
    } all[] = {{"ssk(r=3, lambda=1)", same_value}, {"spectrum(p=5)", same_stretches}};

    for (int k = 0; k < 2; k++) {
        dkm_grid *grid = NULL;
        dkm_kernel *kernel = NULL;
        dkm_prepared *P = NULL;
        dkm_dmat *K = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
        CHECK_OK(ctx, dkm_kernel_parse(ctx, all[k].text, &kernel));
        CHECK_OK(ctx, dkm_kernel_prepare(kernel, X, &P));
        CHECK_OK(ctx, dkm_gram(grid, kernel, P, 1, DKM_F64, &K));
        for (dkm_idx jl = 0; K && jl < dkm_dmat_local_cols(K); jl++)
            for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++) {
                dkm_idx ig = dkm_dmat_global_row(K, il), jg = dkm_dmat_global_col(K, jl);
                double want = ig >= jg ? all[k].value(ig, jg) : 0;
                CHECK_CLOSE(dkm_dmat_f64(K)[il + jl * dkm_dmat_ld(K)], want, 1e-11 * want);
            }
        dkm_dmat_destroy(&K);
        dkm_prepared_destroy(&P);
        dkm_kernel_destroy(&kernel);
        dkm_grid_destroy(&grid);
    }
    dkm_data_destroy(&X);
}

/* x^101, and x^50 y x^50. */
static dkm_idx nearly_alike(dkm_idx i, char *out, dkm_idx room)
{
    (void)room;
    memset(out, 'x', 101);
    out[50] = i == 0 ? 'x' : 'y';
    return 101;
}

/* Subsequences of 100 letters leave one out, with no gap at the ends and one letter of gap inside:
 * of the second string, 50 each spell x^49 y x^50 and x^50 y x^49, and one x^100. */
static double nearly_alike_value(dkm_idx i, dkm_idx j)
{
    double lambda = 0.01, side = 1 + 49 * lambda;

    return i == j ? 1.0 : lambda / sqrt(lambda * lambda + 2 * side * side);
}

/* Here lambda^(2 r) = 1e-400 is below the range of numbers. */
static void normalized_values_survive_any_weight(dkm_ctx *ctx)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, 2, nearly_alike);
    gram_case c = {
        "normalize(ssk(r=100, lambda=0.01))", X, nearly_alike_value, X, nearly_alike_value, 1e-13};

    check_gram(ctx, &c);
    dkm_data_destroy(&X);
}

/* "xy" + 9 others + "z" against "xyz": one match, with nine letters skipped. */
static void tiny_values_survive(dkm_ctx *ctx)
{
    dkm_ssk k = {0};
    double values[DKM_SSK_LANES];

    CHECK_OK(ctx, dkm_agree(ctx, dkm_ssk_open(&k, ctx, 3, 0.01, 12, 3)));
    for (dkm_idx l = 0; l < DKM_SSK_LANES; l++) {
        dkm_ssk_put(&k, k.s, l, "xyabcdefghiz", 12, 12);
        dkm_ssk_put(&k, k.t, l, l % 2 ? "xyz" : "xzy", 3, 3);
    }
    dkm_ssk_run(&k, 12, 3, values);
    for (int l = 0; l < DKM_SSK_LANES; l++)
        CHECK_CLOSE(values[l], l % 2 ? 1e-18 : 0.0, 1e-32);
    dkm_ssk_close(&k);
}

static void what_strings_cannot_do_is_refused(dkm_ctx *ctx)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, 3, same_letters);
    dkm_data *Y = objects_texts(ctx, DKM_STRINGS, M, text);
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1)", &k));
    CHECK(dkm_kernel_prepare(k, X, &P) == DKM_ERR_UNSUPPORTED && P == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "rbf is a kernel for dense or sparse") != NULL);
    dkm_kernel_destroy(&k);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "mismatch(p=9, k=8)", &k));
    CHECK(dkm_kernel_prepare(k, Y, &P) == DKM_ERR_SIZE && P == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "use a smaller k") != NULL);
    dkm_kernel_destroy(&k);
    CHECK(dkm_kernel_parse(ctx, "mismatch(p=3, k=3)", &k) == DKM_ERR_ARG && k == NULL);
    CHECK(dkm_kernel_parse(ctx, "ssk(lambda=1.5)", &k) == DKM_ERR_ARG && k == NULL);
    dkm_data_destroy(&X);
    dkm_data_destroy(&Y);
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    const char *texts[] = {"normalize(ssk(r=2))", "spectrum(p=2)", "mismatch(p=2, k=1)"};

    for (int k = 0; k < 3; k++)
        check_gram_allocations(ctx, k % dkm_ctx_size(ctx), texts[k],
                               objects_texts(ctx, DKM_STRINGS, 9, text));
}

static const check_case cases[] = {
    CASE(subsequences_agree_with_enumeration),
    CASE(stretches_agree_with_enumeration),
    CASE(places_agree_with_enumeration),
    CASE(mismatches_agree_with_enumeration),
    CASE(long_words_are_told_apart),
    CASE(strings_of_ten_thousand_letters_are_exact),
    CASE(tiny_values_survive),
    CASE(normalized_values_survive_any_weight),
    CASE(what_strings_cannot_do_is_refused),
    CASE(any_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
