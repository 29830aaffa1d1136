#include <math.h>
#include <string.h>

#include <dkmap/kmeans.h>
#include <dkmap/random.h>

#include "reference/reference_kmeans.h"
#include "support/check.h"
#include "support/fixture_objects.h"

/* Kinds of rows: groups of points, whole numbers with many ties, points close together far from
 * the origin, few distinct rows of unlike size, columns of very different size, a few rows far from
 * the rest. */
enum { GROUPS, TIES, FAR, COPIES, SCALES, SKEWED, KINDS };
static int kind;
enum { D = 3 };

static double element(dkm_idx i, dkm_idx j)
{
    double z = dkm_random_normal(3, 0, (uint64_t)i, (uint64_t)j);

    switch (kind) {
    case GROUPS:
        return z + 8.0 * dkm_random_normal(4, 0, (uint64_t)(i % 5), (uint64_t)j);
    case TIES:
        return (double)((i * (j + 3) + i / 7) % 4);
    case FAR:
        return 1e6 + 1e-3 * z;
    case COPIES:
        return dkm_random_normal(5, 0, (uint64_t)(i % 4), (uint64_t)j) * pow(0.01, (double)(i % 4));
    case SCALES:
        return z * (j == 0 ? 1e-200 : j == 1 ? 1.0 : 1e90);
    default:
        return exp(3.0 * dkm_random_normal(7, 0, (uint64_t)i, (uint64_t)j));
    }
}

static dkm_kmeans_info cluster_as_the_twin(dkm_ctx *ctx, dkm_idx m, dkm_idx clusters,
                                           dkm_idx max_rounds)
{
    double size = 0;
    dkm_kmeans_settings s = {clusters, max_rounds};
    dkm_kmeans_info info = {0}, want;
    static double rows[ORACLE_NUMBERS];
    static int twin[ORACLE_NUMBERS];
    dkm_data *X = objects_values(ctx, DKM_DENSE, m, D, element), *labels = NULL;
    dkm_idx differ = 0;

    for (dkm_idx k = 0; k < m * D; k++) {
        rows[k] = element(k / D, k % D);
        size = fmax(size, rows[k] * rows[k]);
    }
    want =
        reference_kmeans(dkm_ctx_seed(ctx), (int)m, D, rows, (int)clusters, (int)max_rounds, twin);
    CHECK_OK(ctx, dkm_kmeans(X, &s, &labels, &info));
    CHECK(dkm_data_type(labels) == DKM_LABELS && dkm_data_rows(labels) == m);
    for (dkm_idx i = 0; i < dkm_data_local_rows(labels); i++)
        differ +=
            dkm_data_values_const(labels)[i] != (double)twin[dkm_data_local_first(labels) + i];
    if (differ > 0)
        check_failed(__FILE__, __LINE__, "kind %d, %lld rows, %lld clusters: %lld labels differ",
                     kind, (long long)m, (long long)clusters, (long long)differ);
    CHECK(info.clusters == want.clusters && info.rounds == want.rounds);
    CHECK(info.converged == want.converged && info.refilled == want.refilled);
    /* a mean is known to some eps of the largest number, and far from the origin that counts */
    CHECK_CLOSE(info.inertia, want.inertia, 1e-9 * want.inertia + 1e-28 * size);
    dkm_data_destroy(&labels);
    dkm_data_destroy(&X);
    return info;
}

static void clusters_are_those_of_the_slow_twin(dkm_ctx *ctx)
{
    for (kind = 0; kind < KINDS; kind++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            dkm_ctx_set_seed(ctx, seed);
            cluster_as_the_twin(ctx, 70, 1, 50);
            cluster_as_the_twin(ctx, 70, 6, 50);
            cluster_as_the_twin(ctx, 70, 30, 50);
            cluster_as_the_twin(ctx, 25, 25, 50);
            cluster_as_the_twin(ctx, 3, 2, 50);
            cluster_as_the_twin(ctx, 1, 1, 50);
        }
    dkm_ctx_set_seed(ctx, 0);
}

static void an_empty_cluster_begins_anew(dkm_ctx *ctx)
{
    kind = SKEWED;
    dkm_ctx_set_seed(ctx, 125);
    CHECK(cluster_as_the_twin(ctx, 40, 11, 50).refilled == 1);
    dkm_ctx_set_seed(ctx, 239);
    CHECK(cluster_as_the_twin(ctx, 40, 11, 50).refilled == 1);
    dkm_ctx_set_seed(ctx, 0);
}

static void rounds_are_bounded(dkm_ctx *ctx)
{
    kind = GROUPS;
    CHECK(!cluster_as_the_twin(ctx, 90, 12, 1).converged);
    CHECK(cluster_as_the_twin(ctx, 90, 12, 2).rounds == 2);
}

static void separate_groups_are_found(dkm_ctx *ctx)
{
    dkm_kmeans_settings s = dkm_kmeans_settings_default();
    dkm_kmeans_info info;
    dkm_data *X, *labels = NULL;
    double of_group[4] = {-1, -1, -1, -1};

    kind = COPIES;
    X = objects_values(ctx, DKM_DENSE, 101, D, element);
    s.clusters = 4;
    CHECK_OK(ctx, dkm_kmeans(X, &s, &labels, &info));
    CHECK(info.converged && info.clusters == 4);
    CHECK_CLOSE(info.inertia, 0.0, 1e-25);
    for (dkm_idx i = 0; i < dkm_data_local_rows(labels); i++) {
        double label = dkm_data_values_const(labels)[i];
        double *group = &of_group[(dkm_data_local_first(labels) + i) % 4];
        CHECK(*group < 0 || *group == label);
        *group = label;
    }
    dkm_data_destroy(&labels);
    dkm_data_destroy(&X);
}

static double stairs(dkm_idx i, dkm_idx j)
{
    return j == 0 ? floor(pow(1.6, (double)i)) : (double)(i * i % 5);
}

static dkm_idx word(dkm_idx i, char *text, dkm_idx room)
{
    (void)i;
    (void)room;
    memcpy(text, "abc", 3);
    return 3;
}

static void refused(dkm_ctx *ctx, const dkm_data *X, dkm_kmeans_settings s, dkm_status why)
{
    dkm_data *labels = NULL;

    CHECK(dkm_kmeans(X, &s, &labels, NULL) == why);
    CHECK(labels == NULL && strlen(dkm_ctx_message(ctx)) > 10);
}

static void wrong_questions_are_refused(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, 8, 2, stairs);
    dkm_data *texts = objects_texts(ctx, DKM_STRINGS, 8, word);
    dkm_data *none = objects_values(ctx, DKM_DENSE, 0, 2, stairs);

    refused(ctx, X, (dkm_kmeans_settings){9, 10}, DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "8 rows cannot make 9 clusters"));
    refused(ctx, X, (dkm_kmeans_settings){0, 10}, DKM_ERR_ARG);
    refused(ctx, X, (dkm_kmeans_settings){2, 0}, DKM_ERR_ARG);
    /* one rank alone is wrong */
    refused(ctx, X, (dkm_kmeans_settings){dkm_ctx_rank(ctx) == 0 ? 0 : 2, 10}, DKM_ERR_ARG);
    refused(ctx, none, (dkm_kmeans_settings){1, 10}, DKM_ERR_ARG);
    refused(ctx, texts, (dkm_kmeans_settings){2, 10}, DKM_ERR_UNSUPPORTED);
    CHECK(strstr(dkm_ctx_message(ctx), "strings"));
    dkm_data_destroy(&none);
    dkm_data_destroy(&texts);
    dkm_data_destroy(&X);
}

static const dkm_data *brutal_rows;

static dkm_status cluster(dkm_ctx *ctx)
{
    dkm_kmeans_settings s = {3, 5};
    dkm_data *labels = NULL;
    dkm_status status = dkm_kmeans(brutal_rows, &s, &labels, NULL);

    (void)ctx;
    CHECK((labels != NULL) == (status == DKM_OK));
    dkm_data_destroy(&labels);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    dkm_data *X = objects_values(ctx, DKM_DENSE, 9, 2, stairs);

    brutal_rows = X;
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, cluster);
    dkm_data_destroy(&X);
}

static const check_case cases[] = {
    CASE(clusters_are_those_of_the_slow_twin),
    CASE(an_empty_cluster_begins_anew),
    CASE(rounds_are_bounded),
    CASE(separate_groups_are_found),
    CASE(wrong_questions_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
