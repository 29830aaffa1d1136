/* The kernel align against the definition of a local alignment, letter by letter. */
#include <math.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "reference/reference_gram.h"
#include "reference/reference_kernel.h"
#include "support/check.h"
#include "support/fixture_objects.h"

enum { M = 25, NEW = 6 };

#ifdef DKM_HAVE_PARASAIL

/* Strings of up to 60 amino acids; 0 and 1 are empty, 2 has every letter, 3 and 4 are equal; every
 * third has a piece of one common string with a few letters changed or lost, so that there is
 * something to find. */
static reference_text text_of(dkm_idx i)
{
    static const char letters[] = "ARNDCQEGHILKMFPSTWYV";
    reference_text t = {0};
    uint64_t who = (uint64_t)(i == 4 ? 3 : i);

    if (i == 2) {
        t.length = 20;
        memcpy(t.bytes, letters, 20);
    }
    if (i <= 2)
        return t;
    t.length = 5 + dkm_random_below(9, 0, who, 56);
    for (dkm_idx k = 0; k < t.length; k++) {
        int common = i % 3 == 0 && dkm_random_below(9, 1, who * 64 + (uint64_t)k, 5) > 0;
        dkm_idx lost = k > 30 ? dkm_random_below(9, 2, who, 4) : 0;
        uint64_t at = common ? (uint64_t)(k + lost) : 1000 + who * 64 + (uint64_t)k;
        t.bytes[k] = letters[dkm_random_below(9, 3, at, 20)];
    }
    return t;
}

/* New strings: empty, one of the others, and some more. */
static reference_text new_text_of(dkm_idx i)
{
    return text_of(i < 1 ? 0 : i == 1 ? 6 : 60 + i);
}

static dkm_idx put(reference_text t, char *out)
{
    memcpy(out, t.bytes, (size_t)t.length);
    return t.length;
}

static dkm_idx text(dkm_idx i, char *out, dkm_idx room)
{
    (void)room;
    return put(text_of(i), out);
}

static dkm_idx new_text(dkm_idx i, char *out, dkm_idx room)
{
    (void)room;
    return put(new_text_of(i), out);
}

static double open_at_hand, extend_at_hand;

static double among(dkm_idx i, dkm_idx j)
{
    reference_text s = text_of(i), t = text_of(j);

    return reference_align(&s, &t, open_at_hand, extend_at_hand);
}

static double to_others(dkm_idx i, dkm_idx j)
{
    reference_text s = new_text_of(i), t = text_of(j);

    return reference_align(&s, &t, open_at_hand, extend_at_hand);
}

static void alignments_agree_with_the_definition(dkm_ctx *ctx)
{
    static const struct {
        const char *text;
        double open, extend;
    } all[] = {{"align", 10, 1},
               {"align(open=11, extend=2)", 11, 2},
               {"align(open=3, extend=3)", 3, 3},
               {"align(open=2, extend=0)", 2, 0}};
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, text);
    dkm_data *Z = objects_texts(ctx, DKM_STRINGS, NEW, new_text);

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        gram_case c = {all[k].text, X, among, Z, to_others, 0};
        open_at_hand = all[k].open;
        extend_at_hand = all[k].extend;
        check_indefinite_gram(ctx, &c);
    }
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
}

static double unit(dkm_idx i, dkm_idx j)
{
    double a = among(i, i), b = among(j, j);

    return a == 0 || b == 0 ? a == b : among(i, j) / sqrt(a * b);
}

static void scores_can_be_normalized(dkm_ctx *ctx)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, M, text);
    gram_case c = {"normalize(align(open=10, extend=1))", X, unit, NULL, NULL, 1e-15};

    open_at_hand = 10;
    extend_at_hand = 1;
    check_indefinite_gram(ctx, &c);
    dkm_data_destroy(&X);
}

/* W scores 11 with itself: past the 127 and 32767 of 8 and 16 bits. */
static dkm_idx many_w(dkm_idx i, char *out, dkm_idx room)
{
    dkm_idx length = i == 0 ? 3 : i == 1 ? 40 : i == 2 ? 1000 : 3000;

    (void)room;
    memset(out, 'W', (size_t)length);
    return length;
}

static double many_w_score(dkm_idx i, dkm_idx j)
{
    const double length[] = {3, 40, 1000, 3000};

    return 11 * fmin(length[i], length[j]);
}

static void long_strings_have_large_scores(dkm_ctx *ctx)
{
    dkm_data *X = objects_texts(ctx, DKM_STRINGS, 4, many_w);
    gram_case c = {"align", X, many_w_score, X, many_w_score, 0};

    check_indefinite_gram(ctx, &c);
    dkm_data_destroy(&X);
}

static void gaps_that_grow_dearer_are_refused(dkm_ctx *ctx)
{
    dkm_kernel *k = NULL;

    CHECK(dkm_kernel_parse(ctx, "align(open=1, extend=2)", &k) == DKM_ERR_ARG && k == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "open must be at least extend") != NULL);
    CHECK(dkm_kernel_parse(ctx, "align(open=1.5)", &k) == DKM_ERR_ARG && k == NULL);
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    check_gram_allocations(ctx, dkm_ctx_size(ctx) - 1, "normalize(align)",
                           objects_texts(ctx, DKM_STRINGS, 7, text));
}

static const check_case cases[] = {
    CASE(alignments_agree_with_the_definition), CASE(scores_can_be_normalized),
    CASE(long_strings_have_large_scores),       CASE(gaps_that_grow_dearer_are_refused),
    CASE(any_failed_allocation_is_survived),
};

#else

static void what_is_missing_is_named(dkm_ctx *ctx)
{
    dkm_kernel *k = NULL;

    CHECK(dkm_kernel_parse(ctx, "align", &k) == DKM_ERR_ARG && k == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "libparasail-dev") != NULL);
}

static const check_case cases[] = {CASE(what_is_missing_is_named)};

#endif

CHECK_MAIN(cases)
