/* Kernels given by matrices and graphs, against the definitions. */
#include <math.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "reference/reference_gram.h"
#include "reference/reference_kernel.h"
#include "support/check.h"
#include "support/fixture_rows.h"

enum { D = ROWS_D, M = 23, NEW = 9 };

static double poly(object_value a, dkm_idx i, object_value b, dkm_idx j)
{
    return pow(rows_dot(a, i, b, j) + 1, 3);
}

static double gram_element(dkm_idx i, dkm_idx k)
{
    return poly(rows_element, i, rows_element, k);
}

static double gram_new_element(dkm_idx i, dkm_idx k)
{
    return poly(rows_new, i, rows_element, k);
}

static double distance_element(dkm_idx i, dkm_idx k)
{
    return i == k ? 0
                  : sqrt(fmax(0, rows_dot(rows_element, i, rows_element, i) +
                                     rows_dot(rows_element, k, rows_element, k) -
                                     2 * rows_dot(rows_element, i, rows_element, k)));
}

static double distance_new_element(dkm_idx i, dkm_idx k)
{
    return sqrt(fmax(0, rows_dot(rows_new, i, rows_new, i) +
                            rows_dot(rows_element, k, rows_element, k) -
                            2 * rows_dot(rows_new, i, rows_element, k)));
}

static double mean_element(dkm_idx k)
{
    double total = 0;

    for (dkm_idx i = 0; i < M; i++)
        total += rows_element(i, k) / M;
    return total;
}

static double centred_element(dkm_idx i, dkm_idx k)
{
    return rows_element(i, k) - mean_element(k);
}

static double centred_new_element(dkm_idx i, dkm_idx k)
{
    return rows_new(i, k) - mean_element(k);
}

static double centered(dkm_idx i, dkm_idx j)
{
    return rows_dot(centred_element, i, centred_element, j);
}

static double centred_new(dkm_idx i, dkm_idx j)
{
    return rows_dot(centred_new_element, i, centred_element, j);
}

static double rbf_value(dkm_idx i, dkm_idx j)
{
    return rows_rbf(rows_element, i, rows_element, j);
}

static double rbf_new_value(dkm_idx i, dkm_idx j)
{
    return rows_rbf(rows_new, i, rows_element, j);
}

static double unit_poly(dkm_idx i, dkm_idx j)
{
    return poly(rows_element, i, rows_element, j) /
           sqrt(poly(rows_element, i, rows_element, i) * poly(rows_element, j, rows_element, j));
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
        {"distance", E, centered, F, centred_new, 1e-13},
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
    dkm_data *X = objects_values(ctx, DKM_DENSE, M, D, rows_element);
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
    reference_exp(M, A, heat);
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

static double other_edges(dkm_idx i, dkm_idx k)
{
    return i + k == 3 || i + k == 7;
}

static void heat_spreads_on_graphs(dkm_ctx *ctx)
{
    dkm_data *G = objects_lists(ctx, DKM_GRAPH, M, M, weight);
    dkm_data *A = objects_lists(ctx, DKM_GRAPH, M, M, one_way);
    dkm_data *N = objects_lists(ctx, DKM_GRAPH, M, M, negative);
    dkm_data *O = objects_lists(ctx, DKM_GRAPH, M, M, other_edges);
    gram_case c[] = {
        {"diffusion(tau=0.001)", G, heat_value, NULL, NULL, 1e-13},
        {"diffusion", G, heat_value, G, heat_value, 1e-13}, /* its own vertices once more */
        {"diffusion(tau=50)", G, heat_value, NULL, NULL, 1e-13},
    };
    const double tau[] = {0.001, 1, 50};

    for (int k = 0; k < 3; k++) {
        fill_heat(tau[k]);
        check_gram(ctx, &c[k]);
    }
    prepare_fails(ctx, "diffusion", G, O, DKM_ERR_UNSUPPORTED);
    prepare_fails(ctx, "diffusion", A, NULL, DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "vertex 1 has an edge to 2 that") != NULL);
    prepare_fails(ctx, "diffusion", N, NULL, DKM_ERR_ARG);
    dkm_data_destroy(&G);
    dkm_data_destroy(&A);
    dkm_data_destroy(&N);
    dkm_data_destroy(&O);
}

static void any_failed_allocation_is_survived(dkm_ctx *ctx)
{
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "distance",
                           objects_values(ctx, DKM_DISTANCE, 7, 7, distance_element));
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "gram",
                           objects_values(ctx, DKM_GRAM, 7, 7, gram_element));
    check_gram_allocations(ctx, dkm_ctx_size(ctx) / 2, "diffusion",
                           objects_lists(ctx, DKM_GRAPH, 7, 7, weight));
}

static const check_case cases[] = {
    CASE(precomputed_matrices_are_kernels),
    CASE(what_matrices_cannot_tell_is_refused),
    CASE(heat_spreads_on_graphs),
    CASE(any_failed_allocation_is_survived),
};

CHECK_MAIN(cases)
