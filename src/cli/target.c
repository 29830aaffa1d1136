#include "target.h"

#include <dkmap/align.h>

enum { CLUSTERS, LABELS, GRAM, KERNEL, TARGETS };
static const char *const names[TARGETS] = {"clusters", "labels", "gram", "kz"};

static dkm_local choose(target *t, run *r)
{
    *t = (target){0};
    for (int k = 0; k < TARGETS; k++) {
        if (!args_value(r->args, names[k], 0))
            continue;
        if (t->name)
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--%s and --%s are two targets: give one", t->name,
                            names[k]);
        t->name = names[k];
    }
    if (!t->name)
        t->name = names[CLUSTERS];
    return DKM_LOCAL_OK;
}

dkm_status target_choose(target *t, run *r)
{
    return dkm_agree(r->ctx, choose(t, r));
}

static dkm_local check_dense(const square *s)
{
    if (dkm_data_type(s->X) == DKM_DENSE)
        return DKM_LOCAL_OK;
    return dkm_fail(s->r->ctx, DKM_ERR_UNSUPPORTED,
                    "%s: clusters are made of dense rows, not of %s: give a target by --labels, "
                    "--gram or --kz",
                    args_text(s->r->args, "x"), dkm_type_name(dkm_data_type(s->X)));
}

static dkm_status cluster(target *t, const square *s)
{
    run *r = s->r;
    dkm_kmeans_settings settings = dkm_kmeans_settings_default();
    dkm_kmeans_info *info = &t->clusters;
    dkm_status status = DKM_OK;

    DKM_AGREE(r->ctx, check_dense(s));
    if (args_value(r->args, "clusters", 0))
        settings.clusters = args_whole(r->args, "clusters");
    DKM_TRY(run_blame(r, args_text(r->args, "x"), dkm_kmeans(s->X, &settings, &t->labels, info)));
    if (!info->converged)
        dkm_say(r->ctx, DKM_WARN, "k-means stopped after %lld rounds with rows still changing",
                (long long)info->rounds);
    if (info->clusters < settings.clusters)
        dkm_say(r->ctx, DKM_WARN, "%lld of %lld clusters are empty: no more rows are distinct",
                (long long)(settings.clusters - info->clusters), (long long)settings.clusters);
out:
    return status;
}

static dkm_status read_matrix(target *t, const square *s)
{
    dkm_status status = DKM_OK;
    dkm_data *G = NULL;

    DKM_TRY(square_read_beside(s, "gram", "gram", DKM_INPUTS, &G));
    DKM_TRY(
        run_blame(s->r, args_text(s->r->args, "gram"), dkm_gram_given(s->grid, G, s->nb, &t->T)));
out:
    dkm_data_destroy(&G);
    return status;
}

static dkm_status compute_matrix(target *t, const square *s)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;

    DKM_TRY(dkm_kernel_parse(s->r->ctx, args_text(s->r->args, "kz"), &kernel));
    DKM_TRY(square_gram(s, kernel, &t->T));
out:
    dkm_kernel_destroy(&kernel);
    return status;
}

dkm_status target_make(target *t, const square *s)
{
    if (t->name == names[CLUSTERS])
        return cluster(t, s);
    if (t->name == names[LABELS])
        return square_read_beside(s, "labels", "labels", DKM_OUTPUTS, &t->labels);
    return t->name == names[GRAM] ? read_matrix(t, s) : compute_matrix(t, s);
}

dkm_status target_align(const target *t, const dkm_dmat *K, int center, double *alignment)
{
    return t->labels ? dkm_align_labels(K, t->labels, center, alignment)
                     : dkm_align_grams(K, t->T, center, alignment);
}

void target_tell(const target *t, run *r)
{
    run_tell_text(r, "target", t->name);
    if (t->name != names[CLUSTERS])
        return;
    run_tell_int(r, "clusters", t->clusters.clusters);
    run_tell_int(r, "rounds", t->clusters.rounds);
    run_tell_real(r, "inertia", t->clusters.inertia);
}

void target_free(target *t)
{
    dkm_dmat_destroy(&t->T);
    dkm_data_destroy(&t->labels);
}
