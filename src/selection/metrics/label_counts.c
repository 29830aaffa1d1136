#include "selection/metrics/label_counts.h"

#include <math.h>

#include "core/alloc.h"
#include "data/builder.h"
#include "data/objects.h"

static dkm_local add_row(const dkm_data *data, dkm_idx i, dkm_builder *g)
{
    const dkm_objs *objs = &data->mine;
    const double *row = objs->values + i * objs->d;
    int classes = objs->d == 1;
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx j = 0; j < objs->d; j++) {
        if (classes ? row[j] != rint(row[j]) : row[j] != 0 && row[j] != 1)
            DKM_STEP(dkm_fail(data->ctx, DKM_ERR_ARG,
                              "row %lld, column %lld is %g: labels are integers, or columns "
                              "of 0 and 1",
                              (long long)(data->first + i), (long long)j, row[j]));
        if (classes || row[j] == 1)
            DKM_STEP(dkm_builder_entry(g, classes ? (dkm_idx)row[j] : j, 1.0));
    }
    dkm_builder_next(g);
out:
    return local;
}

static dkm_local make_sets(const dkm_data *data, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_builder g;

    DKM_STEP(
        dkm_builder_begin(&g, objs, data->ctx, DKM_LABEL_SETS, data->mine.n, data->mine.d == 1));
    for (dkm_idx i = 0; i < data->mine.n; i++)
        DKM_STEP(add_row(data, i, &g));
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}

dkm_status dkm_label_sets_of(const dkm_data *data, dkm_data **sets)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    *sets = NULL;
    if (data->mine.type == DKM_LABEL_SETS) {
        *sets = dkm_data_share(data);
        return DKM_OK;
    }
    DKM_AGREE(data->ctx, make_sets(data, &objs));
    DKM_TRY(dkm_data_wrap(data->ctx, data->m, &objs, sets));
out:
    dkm_objs_clear(&objs);
    return status;
}

static const dkm_idx *list_of(const dkm_data *sets, dkm_idx i, dkm_idx *length)
{
    *length = sets->mine.start[i + 1] - sets->mine.start[i];
    return sets->mine.col + sets->mine.start[i];
}

static void count_row(const dkm_idx *y, dkm_idx n, const dkm_idx *p, dkm_idx m, dkm_label_counts *c)
{
    dkm_idx i = 0, j = 0;

    while (i < n || j < m) {
        int in_truth = i < n && (j == m || y[i] <= p[j]),
            in_pred = j < m && (i == n || p[j] <= y[i]);
        dkm_idx at = dkm_distinct_place(&c->distinct, in_truth ? y[i] : p[j]);
        c->truth[at] += in_truth;
        c->pred[at] += in_pred;
        c->both[at] += in_truth && in_pred;
        i += in_truth;
        j += in_pred;
    }
}

/* Of classes that are 0 and 1, or -1 and 1, that is 1; of two others the greater. */
static dkm_idx positive_class(const dkm_distinct *d)
{
    dkm_idx last = d->count - 1;

    if (d->count == 0 || d->count > 2)
        return -1;
    return d->count == 2 || d->numbers[last] == 1 ? last : -1;
}

dkm_status dkm_label_counts_make(const dkm_data *truth, const dkm_data *pred, int classes,
                                 dkm_idx labels, dkm_label_counts *c)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = truth->ctx;
    dkm_idx n, m;

    *c = (dkm_label_counts){.rows = truth->m, .positive = -1};
    DKM_TRY(dkm_distinct_labels(truth, pred, &c->distinct));
    DKM_AGREE(ctx, dkm_calloc(ctx, 3 * c->distinct.count, &c->truth));
    c->pred = c->truth + c->distinct.count;
    c->both = c->pred + c->distinct.count;
    for (dkm_idx i = 0; i < truth->mine.n; i++) {
        const dkm_idx *y = list_of(truth, i, &n), *p = list_of(pred, i, &m);
        count_row(y, n, p, m, c);
    }
    MPI_Allreduce(MPI_IN_PLACE, c->truth, (int)(3 * c->distinct.count), MPI_INT64_T, MPI_SUM,
                  dkm_ctx_comm(ctx));
    c->labels = labels > c->distinct.count ? labels : c->distinct.count;
    if (classes)
        c->positive = positive_class(&c->distinct);
out:
    return status;
}

void dkm_label_counts_clear(dkm_label_counts *c)
{
    DKM_FREE(c->truth);
    dkm_distinct_clear(&c->distinct);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0.0;
}

double dkm_label_ratio_micro(const dkm_label_counts *c, double truth_weight, double pred_weight)
{
    dkm_idx first = c->positive < 0 ? 0 : c->positive;
    dkm_idx last = c->positive < 0 ? c->distinct.count : c->positive + 1;
    double both = 0, truth = 0, pred = 0;

    for (dkm_idx k = first; k < last; k++) {
        both += (double)c->both[k];
        truth += (double)c->truth[k];
        pred += (double)c->pred[k];
    }
    return ratio(both, truth_weight * truth + pred_weight * pred);
}

double dkm_label_ratio_macro(const dkm_label_counts *c, double truth_weight, double pred_weight)
{
    double sum = 0;

    for (dkm_idx k = 0; k < c->distinct.count; k++)
        sum += ratio((double)c->both[k],
                     truth_weight * (double)c->truth[k] + pred_weight * (double)c->pred[k]);
    return ratio(sum, (double)c->labels);
}

void dkm_label_ratio_examples(const dkm_data *truth, const dkm_data *pred, double truth_weight,
                              double pred_weight, double *ratios)
{
    const dkm_objs *y = &truth->mine, *p = &pred->mine;

    for (dkm_idx i = 0; i < y->n; i++) {
        dkm_idx n = y->start[i + 1] - y->start[i], m = p->start[i + 1] - p->start[i];
        double both =
            (double)dkm_label_sets_common(y->col + y->start[i], n, p->col + p->start[i], m);
        ratios[i] = ratio(both, truth_weight * (double)n + pred_weight * (double)m);
    }
}

dkm_idx dkm_label_sets_common(const dkm_idx *a, dkm_idx n, const dkm_idx *b, dkm_idx m)
{
    dkm_idx i = 0, j = 0, both = 0;

    while (i < n && j < m) {
        dkm_idx x = a[i], y = b[j];
        both += x == y;
        i += x <= y;
        j += y <= x;
    }
    return both;
}
