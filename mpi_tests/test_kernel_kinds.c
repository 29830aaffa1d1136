/* Combined kernels, and kernels on labels, sets and precomputed matrices, against the definitions.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "check.h"
#include "oracle_gram.h"
#include "oracle_kernel.h"
#include "oracle_objects.h"

enum { D = 3, M = 23, NEW = 9 };

/* Dense rows; 4 and 11 are zero, 7 is equal to 6. */
static double element(dkm_idx i, dkm_idx k)
{
    if (i == 4 || i == 11)
        return 0;
    return dkm_random_normal(5, 1, (uint64_t)(i == 7 ? 6 : i), (uint64_t)k);
}

/* New rows; 0 is zero, 1 is training row 6. */
static double new_element(dkm_idx i, dkm_idx k)
{
    return i == 0 ? 0 : element(i == 1 ? 6 : i + 500, k);
}

static double dot_of(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double sum = 0;

    for (dkm_idx k = 0; k < D; k++)
        sum += a(i, k) * b(j, k);
    return sum;
}

typedef double (*pair_value)(object_value a, dkm_idx i, object_value b, dkm_idx j);

/* The case at hand: kernel_value has no room for it. */
static pair_value at_hand;

static double among(dkm_idx i, dkm_idx j)
{
    return at_hand(element, i, element, j);
}

static double to_others(dkm_idx i, dkm_idx j)
{
    return at_hand(new_element, i, element, j);
}

static double rbf(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double gap = dot_of(a, i, a, i) + dot_of(b, j, b, j) - 2 * dot_of(a, i, b, j);

    return exp(-gap / 8);
}

static double poly(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return pow(dot_of(a, i, b, j) + 1, 3);
}

static double sum(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return rbf(a, i, b, j) + dot_of(a, i, b, j) + poly(a, i, b, j);
}

static double product(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return rbf(a, i, b, j) * poly(a, i, b, j) * dot_of(a, i, b, j);
}

static double nested(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double inner = sum(a, i, b, j) * (rbf(a, i, b, j) + 2.5 * poly(a, i, b, j));

    return dot_of(a, i, b, j) + inner;
}

static double power(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return pow(dot_of(a, i, b, j), 4);
}

static double exp_of(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return exp(dot_of(a, i, b, j) / 4);
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
    return normalized(dot_of, a, i, b, j);
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
        total += rbf(a, i, element, t);
    return total;
}

static double rownorm(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return rbf(a, i, b, j) / (row_sum(a, i) * row_sum(b, j));
}

static double rbf_of_rownorm(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    double gap = rownorm(a, i, a, i) + rownorm(b, j, b, j) - 2 * rownorm(a, i, b, j);

    return exp(-gap / 0.0002);
}

static void kernels_combine(dkm_ctx *ctx)
{
    static const struct {
        const char *text;
        pair_value value;
    } all[] = {
        {"sum(rbf(sigma=2), linear, poly(degree=3))", sum},
        {"sum(linear)", dot_of},
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
        {"rownorm(rbf(sigma=2))", rownorm},
        {"rbf(rownorm(rbf(sigma=2)), sigma=0.01)", rbf_of_rownorm},
    };
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, element);
    dkm_data *Z = objects_values(ctx, DKM_DENSE, NEW, D, new_element);
    dkm_data *S = objects_lists(ctx, DKM_SPARSE, M, D, element);
    dkm_data *T = objects_lists(ctx, DKM_SPARSE, NEW, D, new_element);

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

static double gram_element(dkm_idx i, dkm_idx k)
{
    return poly(element, i, element, k);
}

static double gram_new_element(dkm_idx i, dkm_idx k)
{
    return poly(new_element, i, element, k);
}

static double distance_element(dkm_idx i, dkm_idx k)
{
    return i == k ? 0
                  : sqrt(fmax(0, dot_of(element, i, element, i) + dot_of(element, k, element, k) -
                                     2 * dot_of(element, i, element, k)));
}

static double distance_new_element(dkm_idx i, dkm_idx k)
{
    return sqrt(fmax(0, dot_of(new_element, i, new_element, i) + dot_of(element, k, element, k) -
                            2 * dot_of(new_element, i, element, k)));
}

static double mean_element(dkm_idx k)
{
    double total = 0;

    for (dkm_idx i = 0; i < M; i++)
        total += element(i, k) / M;
    return total;
}

static double centred_element(dkm_idx i, dkm_idx k)
{
    return element(i, k) - mean_element(k);
}

static double centred_new_element(dkm_idx i, dkm_idx k)
{
    return new_element(i, k) - mean_element(k);
}

static double centred(dkm_idx i, dkm_idx j)
{
    return dot_of(centred_element, i, centred_element, j);
}

static double centred_new(dkm_idx i, dkm_idx j)
{
    return dot_of(centred_new_element, i, centred_element, j);
}

static double rbf_value(dkm_idx i, dkm_idx j)
{
    return rbf(element, i, element, j);
}

static double rbf_new_value(dkm_idx i, dkm_idx j)
{
    return rbf(new_element, i, element, j);
}

static double unit_poly(dkm_idx i, dkm_idx j)
{
    return normalized_poly(element, i, element, j);
}

/* Distances between vectors give back the vectors' inner products about their mean. */
static void precomputed_matrices_are_kernels(dkm_ctx *ctx)
{
    dkm_data *G = objects_values(ctx, DKM_GRAM, M, M, gram_element);
    dkm_data *H = objects_values(ctx, DKM_GRAM, NEW, M, gram_new_element);
    dkm_data *E = objects_values(ctx, DKM_DISTANCE, M, M, distance_element);
    dkm_data *F = objects_values(ctx, DKM_DISTANCE, NEW, M, distance_new_element);
    const gram_case all[] = {
        {"gram", G, gram_element, H, gram_new_element, 1e-15},
        {"normalize(gram)", G, unit_poly, NULL, NULL, 1e-14},
        {"distance", E, centred, F, centred_new, 1e-13},
        {"rbf(distance, sigma=2)", E, rbf_value, F, rbf_new_value, 1e-13},
    };

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        check_gram(ctx, &all[k]);
    dkm_data_destroy(&G);
    dkm_data_destroy(&H);
    dkm_data_destroy(&E);
    dkm_data_destroy(&F);
}

static void prepare_fails(dkm_ctx *ctx, const char *text, const dkm_data *X, const dkm_data *Z,
                          dkm_status want)
{
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL, *Q = NULL;
    dkm_status got;

    CHECK_OK(ctx, dkm_kernel_parse(ctx, text, &k));
    got = dkm_kernel_prepare(k, X, &P);
    if (Z && got == DKM_OK)
        got = dkm_kernel_prepare_new(P, Z, &Q);
    if (got != want)
        check_failed(__FILE__, __LINE__, "%s: %s (%s)", text, dkm_status_text(got),
                     dkm_ctx_message(ctx));
    CHECK(Q == NULL);
    dkm_prepared_destroy(&Q);
    dkm_prepared_destroy(&P);
    dkm_kernel_destroy(&k);
}

static double far_from_itself(dkm_idx i, dkm_idx k)
{
    return i == 1 && k == 1 ? 2 : i != k;
}

static double lopsided(dkm_idx i, dkm_idx k)
{
    return (i == k) + (i == 3 && k == 1 ? 0.01 : 0);
}

static double indefinite(dkm_idx i, dkm_idx k)
{
    return i + k == 1 || i == k ? -1 : 3;
}

static void what_matrices_cannot_tell_is_refused(dkm_ctx *ctx)
{
    dkm_data *G = objects_values(ctx, DKM_GRAM, M, M, gram_element);
    dkm_data *H = objects_values(ctx, DKM_GRAM, NEW, M, gram_new_element);
    dkm_data *E = objects_values(ctx, DKM_DISTANCE, 4, 4, far_from_itself);
    dkm_data *I = objects_values(ctx, DKM_GRAM, 4, 4, indefinite);
    dkm_data *S = objects_values(ctx, DKM_GRAM, 9, 9, lopsided);
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, element);
    dkm_kernel *k = NULL;
    dkm_prepared *A = NULL, *B = NULL;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;

    prepare_fails(ctx, "gram", H, NULL, DKM_ERR_ARG);
    prepare_fails(ctx, "gram", G, E, DKM_ERR_UNSUPPORTED);
    prepare_fails(ctx, "gram", G, I, DKM_ERR_ARG);
    prepare_fails(ctx, "gram", S, NULL, DKM_ERR_ARG);
    CHECK(strcmp(dkm_ctx_message(ctx), "the gram matrix is not symmetric") == 0);
    prepare_fails(ctx, "normalize(gram)", G, H, DKM_ERR_UNSUPPORTED);
    prepare_fails(ctx, "rbf(gram)", G, H, DKM_ERR_UNSUPPORTED);
    prepare_fails(ctx, "distance", E, NULL, DKM_ERR_ARG);
    prepare_fails(ctx, "normalize(gram)", I, NULL, DKM_ERR_NUMERIC);
    prepare_fails(ctx, "rownorm(linear)", X, X, DKM_ERR_NUMERIC);
    prepare_fails(ctx, "sum(gram, distance)", G, NULL, DKM_ERR_UNSUPPORTED);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rownorm(rbf)", &k));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &A));
    CHECK_OK(ctx, dkm_kernel_prepare(k, X, &B));
    CHECK(dkm_gram_cross(grid, k, A, B, 4, 4, DKM_F64, &K) == DKM_ERR_ARG && K == NULL);
    CHECK(strstr(dkm_ctx_message(ctx), "looks at all training objects") != NULL);
    dkm_prepared_destroy(&A);
    dkm_prepared_destroy(&B);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
    dkm_data_destroy(&G);
    dkm_data_destroy(&H);
    dkm_data_destroy(&E);
    dkm_data_destroy(&I);
    dkm_data_destroy(&S);
    dkm_data_destroy(&X);
}

/* An undirected graph in two parts, with a loop at vertex 3 and none of the edges of vertex 5. */
static double weight(dkm_idx i, dkm_idx k)
{
    uint64_t low = (uint64_t)(i < k ? i : k), high = (uint64_t)(i < k ? k : i);

    if (i == 5 || k == 5 || (i < 9) != (k < 9) || (i == k && i != 3))
        return 0;
    return i != k && dkm_random_uniform(9, 0, low, high) < 0.5
               ? 0
               : dkm_random_uniform(9, 1, low, high) + 0.1;
}

static double heat[M * M];

static void fill_heat(double tau)
{
    double degree[M] = {0}, A[M * M];

    for (dkm_idx i = 0; i < M; i++)
        for (dkm_idx k = 0; k < M; k++)
            degree[i] += weight(i, k);
    for (dkm_idx i = 0; i < M; i++)
        for (dkm_idx k = 0; k < M; k++)
            A[i * M + k] = degree[i] == 0 || degree[k] == 0
                               ? 0
                               : tau * (weight(i, k) / sqrt(degree[i] * degree[k]) - (i == k));
    oracle_exp(M, A, heat);
}

static double heat_value(dkm_idx i, dkm_idx j)
{
    return heat[i * M + j];
}

static double one_way(dkm_idx i, dkm_idx k)
{
    return i == 2 && k == 1 ? 2 : i + k == 3 || i + k == 7;
}

static double negative(dkm_idx i, dkm_idx k)
{
    return i + k == 1 ? -1 : 0;
}

static void heat_spreads_on_graphs(dkm_ctx *ctx)
{
    dkm_data *G = objects_lists(ctx, DKM_GRAPH, M, M, weight);
    dkm_data *A = objects_lists(ctx, DKM_GRAPH, M, M, one_way);
    dkm_data *N = objects_lists(ctx, DKM_GRAPH, M, M, negative);
    gram_case c[] = {
        {"diffusion(tau=0.001)", G, heat_value, NULL, NULL, 1e-13},
        {"diffusion", G, heat_value, NULL, NULL, 1e-13},
        {"diffusion(tau=50)", G, heat_value, NULL, NULL, 1e-13},
    };
    const double tau[] = {0.001, 1, 50};

    for (int k = 0; k < 3; k++) {
        fill_heat(tau[k]);
        check_gram(ctx, &c[k]);
    }
    prepare_fails(ctx, "diffusion", G, G, DKM_ERR_UNSUPPORTED);
    prepare_fails(ctx, "diffusion", A, NULL, DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "vertex 1 has an edge to 2 that") != NULL);
    prepare_fails(ctx, "diffusion", N, NULL, DKM_ERR_ARG);
    dkm_data_destroy(&G);
    dkm_data_destroy(&A);
    dkm_data_destroy(&N);
}

static const char *brutal_text;
static dkm_data *brutal_X;

static dkm_status gram_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL, *Q = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_kernel_parse(ctx, brutal_text, &k));
    DKM_TRY(dkm_kernel_prepare(k, brutal_X, &P));
    if (dkm_data_type(brutal_X) != DKM_GRAPH)
        DKM_TRY(dkm_kernel_prepare_new(P, brutal_X, &Q));
    DKM_TRY(dkm_gram_cross(grid, k, Q ? Q : P, P, 3, 3, DKM_F64, &K));
out:
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&Q);
    dkm_prepared_destroy(&P);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
    return status;
}

static void brutal(dkm_ctx *ctx, const char *text, dkm_data *X)
{
    brutal_text = text;
    brutal_X = X;
    check_every_allocation(ctx, dkm_ctx_size(ctx) / 2, gram_once);
    dkm_data_destroy(&X);
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    brutal(ctx, "rownorm(normalize(sum(poly, rbf)))",
           objects_values(ctx, DKM_DENSE, 7, D, element));
    brutal(ctx, "normalize(set)", objects_texts(ctx, DKM_SETS, 7, words));
    brutal(ctx, "class", objects_values(ctx, DKM_LABELS, 7, 1, label));
    brutal(ctx, "distance", objects_values(ctx, DKM_DISTANCE, 7, 7, distance_element));
    brutal(ctx, "diffusion", objects_lists(ctx, DKM_GRAPH, 7, 7, weight));
    brutal(ctx, "gram", objects_values(ctx, DKM_GRAM, 7, 7, gram_element));
}

static const check_case cases[] = {
    CASE(kernels_combine),
    CASE(labels_and_sets_agree_with_the_definitions),
    CASE(big_sets_need_normalize),
    CASE(precomputed_matrices_are_kernels),
    CASE(what_matrices_cannot_tell_is_refused),
    CASE(heat_spreads_on_graphs),
    CASE(any_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
