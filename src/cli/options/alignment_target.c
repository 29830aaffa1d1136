#include "cli/options/alignment_target.h"

#include <dkmap/kernel_alignment.h>

enum { CLUSTERS, LABELS, GRAM, KERNEL, TARGETS };
static const char *const names[TARGETS] = {"clusters", "labels", "gram", "kz"};

static dkm_local alignment_target_own_choose(alignment_target *t, run *r)
{
    *t = (alignment_target){0};
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

dkm_status alignment_target_choose(alignment_target *t, run *r)
{
    return dkm_agree(r->ctx, alignment_target_own_choose(t, r));
}

static dkm_local alignment_target_check_dense(const gram_problem *s)
{
    if (dkm_data_type(s->X) == DKM_DENSE)
        return DKM_LOCAL_OK;
    return dkm_fail(s->r->ctx, DKM_ERR_UNSUPPORTED,
                    "%s: clusters are made of dense rows, not of %s: give a target by --labels, "
                    "--gram or --kz",
                    args_text(s->r->args, "x"), dkm_type_name(dkm_data_type(s->X)));
}

static dkm_status cluster(alignment_target *t, const gram_problem *s)
{
    run *r = s->r;
    dkm_kmeans_settings settings = dkm_kmeans_settings_default();
    dkm_kmeans_info *info = &t->clusters;
    dkm_status status = DKM_OK;

    DKM_AGREE(r->ctx, alignment_target_check_dense(s));
    if (args_value(r->args, "clusters", 0))
        settings.clusters = args_int(r->args, "clusters");
    DKM_TRY(run_error_context(r, args_text(r->args, "x"),
                              dkm_kmeans(s->X, &settings, &t->labels, info)));
    if (!info->converged)
        dkm_log(r->ctx, DKM_WARN, "k-means stopped after %lld rounds with rows still changing",
                (long long)info->rounds);
    if (info->clusters < settings.clusters)
        dkm_log(r->ctx, DKM_WARN, "%lld of %lld clusters are empty: no more rows are distinct",
                (long long)(settings.clusters - info->clusters), (long long)settings.clusters);
out:
    return status;
}

static dkm_status read_matrix(alignment_target *t, const gram_problem *s)
{
    dkm_status status = DKM_OK;
    dkm_data *G = NULL;

    DKM_TRY(gram_problem_read_beside(s, "gram", "gram", DKM_INPUTS, &G));
    DKM_TRY(run_error_context(s->r, args_text(s->r->args, "gram"),
                              dkm_gram_from_rows(s->grid, G, s->nb, &t->T)));
out:
    dkm_data_destroy(&G);
    return status;
}

static dkm_status compute_matrix(alignment_target *t, const gram_problem *s)
{
    dkm_status status = DKM_OK;
    dkm_kernel *kernel = NULL;

    DKM_TRY(dkm_kernel_parse(s->r->ctx, args_text(s->r->args, "kz"), &kernel));
    DKM_TRY(dkm_kernel_resolve(kernel, s->X));
    DKM_TRY(gram_problem_gram(s, kernel, &t->T));
out:
    dkm_kernel_destroy(&kernel);
    return status;
}

dkm_status alignment_target_make(alignment_target *t, const gram_problem *s)
{
    if (t->name == names[CLUSTERS])
        return cluster(t, s);
    if (t->name == names[LABELS])
        return gram_problem_read_beside(s, "labels", "labels", DKM_OUTPUTS, &t->labels);
    return t->name == names[GRAM] ? read_matrix(t, s) : compute_matrix(t, s);
}

dkm_status alignment_target_align(const alignment_target *t, const dkm_dmat *K, int center,
                                  double *alignment)
{
    return t->labels ? dkm_kernel_alignment_labels(K, t->labels, center, alignment)
                     : dkm_kernel_alignment_grams(K, t->T, center, alignment);
}

void alignment_target_report(const alignment_target *t, run *r)
{
    report_text(r, "target", t->name);
    if (t->name != names[CLUSTERS])
        return;
    report_int(r, "clusters", t->clusters.clusters);
    report_int(r, "rounds", t->clusters.rounds);
    report_real(r, "inertia", t->clusters.inertia);
}

void alignment_target_free(alignment_target *t)
{
    dkm_dmat_destroy(&t->T);
    dkm_data_destroy(&t->labels);
}
