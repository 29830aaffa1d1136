/* Combined kernels, and kernels on labels and sets, against the definitions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "reference/reference_gram.h"
#include "reference/reference_kernel.h"
#include "support/check.h"
#include "support/fixture_rows.h"

enum { D = ROWS_D, M = 23, NEW = 9 };

typedef double (*pair_value)(object_value a, dkm_idx i, object_value b, dkm_idx j);

/* The case at hand: kernel_value has no room for it. */
static pair_value at_hand;

static double among(dkm_idx i, dkm_idx j)
{
    return at_hand(rows_element, i, rows_element, j);
}

static double to_others(dkm_idx i, dkm_idx j)
{
    return at_hand(rows_new, i, rows_element, j);
}

static double poly(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return pow(rows_dot(a, i, b, j) + 1, 3);
}

static double sum(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return rows_rbf(a, i, b, j) + rows_dot(a, i, b, j) + poly(a, i, b, j);
}

static double product(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return rows_rbf(a, i, b, j) * poly(a, i, b, j) * rows_dot(a, i, b, j);
}

static double nested(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double inner = sum(a, i, b, j) * (rows_rbf(a, i, b, j) + 2.5 * poly(a, i, b, j));

    return rows_dot(a, i, b, j) + inner;
}

static double power(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return pow(rows_dot(a, i, b, j), 4);
}

static double exp_of(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return exp(rows_dot(a, i, b, j) / 4);
}

static double normalized(pair_value k, object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double self_a = k(a, i, a, i), self_b = k(b, j, b, j);

    if (self_a == 0 || self_b == 0)
        return self_a == self_b; /* here only zero rows have zero self-kernel, and all are equal */
    return k(a, i, b, j) / sqrt(self_a * self_b);
}

static double normalized_linear(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return normalized(rows_dot, a, i, b, j);
}

static double normalized_product(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return normalized(product, a, i, b, j);
}

static double normalized_exp(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return normalized(exp_of, a, i, b, j);
}

static double normalized_poly(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return normalized(poly, a, i, b, j);
}

static double row_sum(object_value a, dkm_idx i)
{
    double total = 0;

    for (dkm_idx t = 0; t < M; t++)
        total += rows_rbf(a, i, rows_element, t);
    return total;
}

static double rownorm(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return rows_rbf(a, i, b, j) / (row_sum(a, i) * row_sum(b, j));
}

static double rbf_of_rownorm(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double gap = rownorm(a, i, a, i) + rownorm(b, j, b, j) - 2 * rownorm(a, i, b, j);

    return exp(-gap / 0.0002);
}

/* exp(-sum_k (x_k - y_k)^2 / (2 sigma_k^2)) and exp(-sum_k |x_k - y_k| / sigma_k). */
static const double widths[D] = {0.5, 2, 3};

static double rbf_widths(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double sum_of = 0;

    for (dkm_idx k = 0; k < D; k++)
        sum_of += pow((a(i, k) - b(j, k)) / widths[k], 2) / 2;
    return exp(-sum_of);
}

static double laplace_widths(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double sum_of = 0;

    for (dkm_idx k = 0; k < D; k++)
        sum_of += fabs(a(i, k) - b(j, k)) / widths[k];
    return exp(-sum_of);
}

static double dot_on(object_value a, dkm_idx i, object_value b, dkm_idx j, dkm_idx first)
{
    double sum_of = 0;

    for (dkm_idx k = first; k < D; k++)
        sum_of += a(i, k) * b(j, k);
    return sum_of;
}

/* rbf of all columns, times <x, x'> of the last two and poly of the last. */
static double on_columns(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return rows_rbf(a, i, b, j) * (dot_on(a, i, b, j, 1) + pow(dot_on(a, i, b, j, 2) + 1, 3)) +
           rbf_widths(a, i, b, j) + rows_dot(a, i, b, j);
}

static void kernels_combine(dkm_ctx *ctx)
{
    static const struct {
        const char *text;
        pair_value value;
    } all[] = {
        {"sum(rbf(sigma=2), linear, poly(degree=3))", sum},
        {"sum(linear)", rows_dot},
        {"product(rbf(sigma=2), poly, linear)", product},
        {"sum(linear, product(sum(rbf(sigma=2), linear, poly), "
         "sum(rbf(sigma=2), scale(poly, by=2.5))))",
         nested},
        {"power(linear, degree=4)", power},
        {"exp(scale(linear, by=0.25))", exp_of},
        {"normalize(linear)", normalized_linear},
        {"normalize(product(rbf(sigma=2), poly, linear))", normalized_product},
        {"normalize(exp(scale(linear, by=0.25)))", normalized_exp},
        {"normalize(expdot(sigma=2))", normalized_exp},
        {"normalize(normalize(poly))", normalized_poly},
        {"rbf(sigma=0.5;2;3)", rbf_widths},
        {"laplace(sigma=0.5;2;3)", laplace_widths},
        {"on(:, rbf(sigma=0.5;2;3))", rbf_widths},
        {"sum(product(rbf(sigma=2), sum(on(1:, linear), on(-2:, on(1, poly)))), "
         "rbf(sigma=0.5;2;3), linear)",
         on_columns},
        {"rownorm(rbf(sigma=2))", rownorm},
        {"rbf(rownorm(rbf(sigma=2)), sigma=0.01)", rbf_of_rownorm},
    };
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, rows_element);
    dkm_data *Z = objects_values(ctx, DKM_DENSE, NEW, D, rows_new);
    dkm_data *S = objects_lists(ctx, DKM_SPARSE, M, D, rows_element);
    dkm_data *T = objects_lists(ctx, DKM_SPARSE, NEW, D, rows_new);

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        gram_case dense = {all[k].text, X, among, Z, to_others, 1e-11};
        gram_case sparse = {all[k].text, S, among, T, to_others, 1e-11};
        at_hand = all[k].value;
        check_gram(ctx, &dense);
        check_gram(ctx, &sparse);
    }
    dkm_data_destroy(&X);
    dkm_data_destroy(&Z);
    dkm_data_destroy(&S);
    dkm_data_destroy(&T);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median over pairs, none of the distances being counted twice. */
static double median_gap(dkm_idx first)
{
    double gap[M * (M - 1) / 2];
    dkm_idx count = 0;

    for (dkm_idx i = 0; i < M; i++)
        for (dkm_idx j = 0; j < i; j++)
            gap[count++] = sqrt(dot_on(rows_element, i, rows_element, i, first) +
                                dot_on(rows_element, j, rows_element, j, first) -
                                2 * dot_on(rows_element, i, rows_element, j, first));
    qsort(gap, (size_t)count, sizeof *gap, by_size);
    return gap[count / 2];
}

/* The text after the last '=' becomes a number. */
static void resolves_to(dkm_ctx *ctx, const dkm_data *X, const char *text, double want)
{
    dkm_kernel *k = NULL;
    double got = 0;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &k));
    CHECK(!dkm_kernel_is_resolved(k) && dkm_kernel_is_data_dependent(k));
    CHECK_OK(ctx, dkm_kernel_resolve(k, X));
    CHECK(dkm_kernel_is_resolved(k) && !dkm_kernel_is_data_dependent(k));
    got = strtod(strrchr(dkm_kernel_text(k), '=') + 1, NULL);
    CHECK_CLOSE(got, want, 1e-12 * want);
    dkm_kernel_destroy(&k);
}

static void the_median_becomes_a_number(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, rows_element);
    dkm_data *S = objects_lists(ctx, DKM_SPARSE, M, D, rows_element);
    dkm_data *one = objects_values(ctx, DKM_DENSE, 1, D, rows_element);
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;

    resolves_to(ctx, X, "rbf(sigma=median)", median_gap(0));
    resolves_to(ctx, S, "rbf(sigma=median)", median_gap(0));
    resolves_to(ctx, X, "rbf(linear, sigma=median)", median_gap(0));
    resolves_to(ctx, X, "on(1:, rbf(sigma=median))", median_gap(1));
    resolves_to(ctx, X, "rbf(on(1:, linear), sigma=median)", median_gap(1));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=median)", &k));
    CHECK(dkm_kernel_prepare(k, X, &P) == DKM_ERR_ARG && P == NULL);
    CHECK(dkm_kernel_resolve(k, one) == DKM_ERR_NUMERIC);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&X);
    dkm_data_destroy(&S);
    dkm_data_destroy(&one);
}

static void refuses(dkm_ctx *ctx, const dkm_data *X, const char *text, dkm_status want,
                    const char *words)
{
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &k));
    CHECK(dkm_kernel_prepare(k, X, &P) == want && P == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), words) != NULL);
    dkm_kernel_destroy(&k);
}

static void columns_and_widths_must_fit_the_rows(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, rows_element);
    dkm_data *S = objects_lists(ctx, DKM_SPARSE, M, D, rows_element);

    refuses(ctx, X, "rbf(sigma=1;2)", DKM_ERR_ARG, "a list of 2 numbers for rows of 3 columns");
    refuses(ctx, S, "laplace(sigma=1;2)", DKM_ERR_ARG, "a list of 2 numbers for rows of 3 columns");
    refuses(ctx, X, "on(3, linear)", DKM_ERR_ARG, "from 0 to 2");
    refuses(ctx, X, "on(1;0, linear)", DKM_ERR_ARG, "each column once and in order");
    refuses(ctx, X, "on(2:1, linear)", DKM_ERR_ARG, "on(2:1, ...)");
    refuses(ctx, X, "on(0:9, linear)", DKM_ERR_ARG, "on(0:9, ...)");
    refuses(ctx, X, "on(1:, on(2, linear))", DKM_ERR_ARG, "from 0 to 1");
    dkm_data_destroy(&X);
    dkm_data_destroy(&S);
}

static double label(dkm_idx i, dkm_idx k)
{
    return (double)dkm_random_below(3, (uint64_t)k, (uint64_t)i, 4) - 1;
}

static double class_value(dkm_idx i, dkm_idx j)
{
    return label(i, 0) == label(j, 0) ? 0.5 : 0.0;
}

static double label_value(dkm_idx i, dkm_idx j)
{
    return label(i, 0) == label(j, 0) ? 1.0 : 0.0;
}

static double label_subsets(dkm_idx i, dkm_idx j)
{
    return label(i, 0) == label(j, 0) ? 2.0 : 1.0;
}

/* Is k a member of set i? Set 2 is empty. */
static double member(dkm_idx i, dkm_idx k)
{
    return i != 2 && dkm_random_uniform(8, 0, (uint64_t)i, (uint64_t)k) < 0.4;
}

enum { UNIVERSE = 12 };

static double shared(dkm_idx i, dkm_idx j)
{
    double count = 0;

    for (dkm_idx k = 0; k < UNIVERSE; k++)
        count += member(i, k) * member(j, k);
    return count;
}

static double subsets(dkm_idx i, dkm_idx j)
{
    return pow(2, shared(i, j));
}

static double unit_subsets(dkm_idx i, dkm_idx j)
{
    return pow(2, shared(i, j) - (shared(i, i) + shared(j, j)) / 2);
}

static double unit_shared(dkm_idx i, dkm_idx j)
{
    if (i == 2 || j == 2)
        return i == j;
    return shared(i, j) / sqrt(shared(i, i) * shared(j, j));
}

static dkm_idx words(dkm_idx i, char *text, dkm_idx room)
{
    static const char *const all[UNIVERSE] = {
        "a",        "aa", "b", "\xc3\xa9t\xc3\xa9", "seven77",  "eight888", "seven78",
        "eight889", "x",  "y", "longword1",         "longword2"};
    dkm_idx used = 0;

    for (dkm_idx k = 0; k < UNIVERSE; k++)
        if (member(i, k) != 0)
            used += snprintf(text + used, (size_t)(room - used), "%s%s", used ? " " : "", all[k]);
    return used;
}

static void labels_and_sets_agree_with_the_definitions(dkm_ctx *ctx)
{
    dkm_data *L = objects_values(ctx, DKM_LABELS, M, 1, label);
    dkm_data *S = objects_lists(ctx, DKM_LABEL_SETS, M, UNIVERSE, member);
    dkm_data *W = objects_texts(ctx, DKM_SETS, M, words);
    const gram_case all[] = {
        {"class", L, class_value, L, class_value, 0},
        {"labels", L, label_value, L, label_value, 0},
        {"set", L, label_subsets, L, label_subsets, 0},
        {"labels", S, shared, S, shared, 0},
        {"set", S, subsets, S, subsets, 0},
        {"set", W, subsets, W, subsets, 0},
        {"normalize(set)", W, unit_subsets, W, unit_subsets, 1e-15},
        {"normalize(labels)", S, unit_shared, S, unit_shared, 1e-15},
    };

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        check_gram(ctx, &all[k]);
    dkm_data_destroy(&L);
    dkm_data_destroy(&S);
    dkm_data_destroy(&W);
}

/* Sets of 0, 500, 1000, ... numbers. */
static double in_big(dkm_idx i, dkm_idx k)
{
    return k < 500 * i;
}

static double unit_big(dkm_idx i, dkm_idx j)
{
    return pow(2, -250.0 * (double)(i > j ? i - j : j - i));
}

static void big_sets_need_normalize(dkm_ctx *ctx)
{
    dkm_data *S = objects_lists(ctx, DKM_LABEL_SETS, 5, 2000, in_big);
    gram_case c = {"normalize(set)", S, unit_big, S, unit_big, 1e-15};
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL;

    check_gram(ctx, &c);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "set", &k));
    CHECK(dkm_kernel_prepare(k, S, &P) == DKM_ERR_NUMERIC && P == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "set leaves the range of numbers at object 3") != NULL);
    dkm_kernel_destroy(&k);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(set)", &k));
    CHECK(dkm_kernel_prepare(k, S, &P) == DKM_ERR_NUMERIC && P == NULL);
    dkm_kernel_destroy(&k);
    dkm_data_destroy(&S);
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "rownorm(normalize(sum(poly, rbf)))",
                           objects_values(ctx, DKM_DENSE, 7, D, rows_element));
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "normalize(set)",
                           objects_texts(ctx, DKM_SETS, 7, words));
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "class",
                           objects_values(ctx, DKM_LABELS, 7, 1, label));
}

static const check_case cases[] = {
    CASE(kernels_combine),
    CASE(the_median_becomes_a_number),
    CASE(columns_and_widths_must_fit_the_rows),
    CASE(labels_and_sets_agree_with_the_definitions),
    CASE(big_sets_need_normalize),
    CASE(any_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
