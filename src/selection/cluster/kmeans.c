/* k-means by Lloyd's algorithm (Lloyd 1982, IEEE Trans. Inf. Theory 28(2):129-137,
 * doi:10.1109/TIT.1982.1056489) from k-means++ seeds (Arthur and Vassilvitskii 2007, SODA,
 * pp. 1027-1035). The result is the same to the last bit on any number of ranks: centroids.h sums
 * in fixed point, and assign.h recomputes distances from differences when rounding could decide.
 *
 * Cost per iteration: 2 m k d / ranks flops and an allreduce of k d 64-bit integers. Replicated:
 * the k x d centroids and their sums. */
#include <dkmap/kmeans.h>

#include <math.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "selection/cluster/assign.h"
#include "selection/cluster/centroids.h"

#define FIRST_STREAM 0x6b6d65616e73u
#define RACE_STREAM  (FIRST_STREAM + 1)
#define NOWHERE      INT64_MAX

/* A clustering in the making. */
typedef struct clustering {
    dkm_ctx *ctx;
    const dkm_data *X;
    dkm_idx n, d;
    dkm_centroids centers;
    dkm_nearest_points nearest;
    dkm_idx *label;          /* of each row of this rank; -1 before the first round */
    dkm_idx *nearest_center; /* its nearest center in this round */
    double *gap;             /* squared distance to the nearest center */
    dkm_kmeans_info info;
} clustering;

dkm_kmeans_settings dkm_kmeans_settings_default(void)
{
    return (dkm_kmeans_settings){.clusters = 30, .max_rounds = 300};
}

static dkm_local kmeans_check(const dkm_data *X, const dkm_kmeans_settings *s)
{
    if (X->mine.type != DKM_DENSE)
        return dkm_fail(X->ctx, DKM_ERR_UNSUPPORTED, "k-means is for dense rows, not for %s",
                        dkm_type_name(X->mine.type));
    if (s->clusters < 1 || s->clusters > X->m)
        return dkm_fail(X->ctx, DKM_ERR_ARG,
                        "%lld rows cannot make %lld clusters: ask for 1 to %lld", (long long)X->m,
                        (long long)s->clusters, (long long)X->m);
    if (s->max_rounds < 1)
        return dkm_fail(X->ctx, DKM_ERR_ARG, "k-means takes at least one round, not %lld",
                        (long long)s->max_rounds);
    return DKM_LOCAL_OK;
}

static dkm_local kmeans_allocate(clustering *s, dkm_idx k)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(s->ctx, s->n, &s->label));
    DKM_STEP(dkm_alloc(s->ctx, s->n, &s->nearest_center));
    DKM_STEP(dkm_alloc(s->ctx, s->n, &s->gap));
    DKM_STEP(dkm_assigner_open(&s->nearest, s->X, k));
    for (dkm_idx i = 0; i < s->n; i++) {
        s->label[i] = -1;
        s->gap[i] = INFINITY;
    }
out:
    return local;
}

static dkm_status open_clustering(clustering *s, const dkm_data *X, dkm_idx k)
{
    dkm_status status = DKM_OK;

    *s = (clustering){.ctx = X->ctx, .X = X, .n = X->mine.n, .d = X->mine.d};
    DKM_AGREE(s->ctx, kmeans_allocate(s, k));
    DKM_TRY(dkm_centroids_open(&s->centers, X, k));
out:
    return status;
}

static void close_clustering(clustering *s)
{
    DKM_FREE(s->label);
    DKM_FREE(s->nearest_center);
    DKM_FREE(s->gap);
    dkm_assigner_close(&s->nearest);
    dkm_centroids_close(&s->centers);
}

static const double *kmeans_row_at(const clustering *s, dkm_idx i)
{
    return s->X->mine.values + i * s->d;
}

/* The least value over all ranks, and the first row that has it. */
static dkm_idx first_least(const clustering *s, double *value, dkm_idx ig)
{
    double mine = *value;

    MPI_Allreduce(&mine, value, 1, MPI_DOUBLE, MPI_MIN, dkm_ctx_comm(s->ctx));
    if (mine > *value)
        ig = NOWHERE;
    MPI_Allreduce(MPI_IN_PLACE, &ig, 1, MPI_INT64_T, MPI_MIN, dkm_ctx_comm(s->ctx));
    return ig;
}

/* A draw with probability proportional to gap, without a sum over ranks: every row waits for an
 * exponential time of rate gap, and the first to come wins. When all gaps are 0 the first row does.
 */
static dkm_idx kmeans_draw(const clustering *s, dkm_idx turn)
{
    uint64_t seed = dkm_ctx_seed(s->ctx);
    double best = INFINITY;
    dkm_idx winner = s->n > 0 ? s->X->first : NOWHERE;

    for (dkm_idx i = 0; i < s->n; i++) {
        dkm_idx ig = s->X->first + i;
        double u = dkm_random_uniform(seed, RACE_STREAM, (uint64_t)turn, (uint64_t)ig);
        double time = s->gap[i] > 0 ? -log1p(-u) / s->gap[i] : INFINITY;
        if (time < best) {
            best = time;
            winner = ig;
        }
    }
    return first_least(s, &best, winner);
}

static int owner_of(const clustering *s, dkm_idx ig)
{
    return dkm_slab_owner(s->X->m, ig, dkm_ctx_size(s->ctx));
}

static void put_center(clustering *s, dkm_idx k, dkm_idx ig)
{
    double *center = s->centers.at + k * s->d;
    int owner = owner_of(s, ig);

    if (dkm_ctx_rank(s->ctx) == owner)
        for (dkm_idx j = 0; j < s->d; j++)
            center[j] = kmeans_row_at(s, ig - s->X->first)[j];
    MPI_Bcast(center, (int)s->d, MPI_DOUBLE, owner, dkm_ctx_comm(s->ctx));
    for (dkm_idx i = 0; i < s->n; i++)
        s->gap[i] = fmin(s->gap[i], dkm_squared_distance(kmeans_row_at(s, i), center, s->d));
}

static void seed_centers(clustering *s)
{
    put_center(s, 0, dkm_random_below(dkm_ctx_seed(s->ctx), FIRST_STREAM, 0, s->X->m));
    for (dkm_idx k = 1; k < s->centers.k; k++)
        put_center(s, k, kmeans_draw(s, k));
}

/* Give every row to its nearest center.
 * @return how many rows changed, over all ranks */
static dkm_idx assign(clustering *s)
{
    dkm_idx changed = 0;

    dkm_assigner_find(&s->nearest, s->centers.at, s->nearest_center, s->gap);
    for (dkm_idx i = 0; i < s->n; i++) {
        if (s->nearest_center[i] == s->label[i])
            continue;
        dkm_centroids_move(&s->centers, kmeans_row_at(s, i), s->label[i], s->nearest_center[i]);
        s->label[i] = s->nearest_center[i];
        changed++;
    }
    dkm_centroids_count(&s->centers);
    MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(s->ctx));
    return changed;
}

/* The row farthest from its center among those that do not have it for themselves. */
static dkm_idx farthest(const clustering *s, double *gap)
{
    dkm_idx ig = NOWHERE;

    *gap = 0;
    for (dkm_idx i = 0; i < s->n; i++)
        if (s->gap[i] > *gap && s->centers.counts[s->label[i]] > 1) {
            *gap = s->gap[i];
            ig = s->X->first + i;
        }
    *gap = -*gap;
    ig = first_least(s, gap, ig);
    *gap = -*gap;
    return ig;
}

static void hand_row(clustering *s, dkm_idx ig, dkm_idx to)
{
    dkm_idx from = 0, i = ig - s->X->first;
    int owner = owner_of(s, ig);

    if (dkm_ctx_rank(s->ctx) == owner) {
        from = s->label[i];
        dkm_centroids_move(&s->centers, kmeans_row_at(s, i), from, to);
        s->label[i] = to;
        s->gap[i] = 0;
    }
    MPI_Bcast(&from, 1, MPI_INT64_T, owner, dkm_ctx_comm(s->ctx));
    s->centers.counts[from]--;
    s->centers.counts[to]++;
}

/* Empty clusters begin anew, as long as there are rows away from their center.
 * @return how many did */
static dkm_idx kmeans_refill(clustering *s)
{
    dkm_idx refilled = 0;

    for (dkm_idx k = 0; k < s->centers.k; k++) {
        double gap;
        dkm_idx ig;
        if (s->centers.counts[k] > 0)
            continue;
        ig = farthest(s, &gap);
        if (!(gap > s->centers.noise))
            break;
        hand_row(s, ig, k);
        refilled++;
    }
    return refilled;
}

static void kmeans_iterate(clustering *s, dkm_idx max_rounds)
{
    while (s->info.rounds < max_rounds && !s->info.converged) {
        dkm_idx changed = assign(s), refilled = kmeans_refill(s);
        s->info.rounds++;
        s->info.refilled += refilled;
        s->info.converged = changed == 0 && refilled == 0;
        dkm_centroids_update(&s->centers);
        dkm_progress(s->ctx, (double)(s->X->m - changed), (double)s->X->m);
    }
}

static void kmeans_sum_up(clustering *s)
{
    for (dkm_idx k = 0; k < s->centers.k; k++)
        s->info.clusters += s->centers.counts[k] > 0;
    for (dkm_idx i = 0; i < s->n; i++)
        s->info.inertia += s->gap[i];
    MPI_Allreduce(MPI_IN_PLACE, &s->info.inertia, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(s->ctx));
}

dkm_status dkm_kmeans(const dkm_data *X, const dkm_kmeans_settings *settings, dkm_data **labels,
                      dkm_kmeans_info *info)
{
    dkm_status status = DKM_OK;
    clustering s = {0};
    dkm_data *made = NULL;

    *labels = NULL;
    dkm_phase_begin(X->ctx, "kmeans");
    DKM_AGREE(X->ctx, kmeans_check(X, settings));
    DKM_TRY(open_clustering(&s, X, settings->clusters));
    DKM_TRY(dkm_data_create_labels(X->ctx, X->m, &made));
    seed_centers(&s);
    kmeans_iterate(&s, settings->max_rounds);
    kmeans_sum_up(&s);
    for (dkm_idx i = 0; i < s.n; i++)
        made->mine.values[i] = (double)s.label[i];
    if (info)
        *info = s.info;
    *labels = made;
    made = NULL;
out:
    dkm_data_destroy(&made);
    close_clustering(&s);
    dkm_phase_end(X->ctx);
    return status;
}
