#include "cli/plot/score_plot.h"

#include "cli/plot/plot_confusion.h"
#include "cli/plot/plot_reliability.h"
#include "cli/plot/plot_scatter.h"

static dkm_status plot_confusion(run *r, const score_picture *what)
{
    dkm_status status = DKM_OK;
    dkm_confusion counts = {0};
    confusion_picture c = {.counts = &counts, .names = what->names};
    drawing picture;

    DKM_TRY(dkm_score_confusion(what->truth, what->pred, &counts));
    DKM_REQUIRE(r->ctx, counts.classes <= CONFUSION_CLASSES, DKM_ERR_SIZE,
                "--plot: %lld classes, and a confusion matrix of more than %d cannot be read: see "
                "--confusion",
                (long long)counts.classes, CONFUSION_CLASSES);
    picture = confusion_drawing(&c);
    DKM_TRY(gnuplot_write(r, &picture));
out:
    dkm_confusion_free(&counts);
    return status;
}

/* Normal distributions have their means before their standard deviations: as many columns as the
 * truth has are drawn of either kind of prediction. */
static dkm_status plot_numbers(run *r, const score_picture *what)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_cols(what->truth);
    int normals = what->takes == DKM_LOSS_OF_NORMALS;
    int panels = d < SCATTER_PANELS ? (int)d : SCATTER_PANELS;
    sample points = {0};
    reliability intervals = {0};
    scatter_picture s = {.points = &points, .columns = d, .panels = panels};
    drawing picture;

    DKM_REQUIRE(r->ctx, dkm_data_cols(what->pred) == (normals ? 2 * d : d), DKM_ERR_ARG,
                "--plot: %lld columns of truth and %lld of predictions", (long long)d,
                (long long)dkm_data_cols(what->pred));
    DKM_TRY(sample_open(&points, r, dkm_data_rows(what->truth), 2 * panels));
    sample_take(&points, what->truth, 0, 0, 0, panels);
    sample_take(&points, what->pred, 0, 0, panels, panels);
    sample_gather(&points);
    if (normals) {
        reliability_of_normals(what->truth, what->pred, &intervals);
        s.intervals = &intervals;
    }
    picture = scatter_drawing(&s);
    DKM_TRY(gnuplot_write(r, &picture));
out:
    sample_close(&points);
    return status;
}

static dkm_status plot_probabilities(run *r, const score_picture *what)
{
    dkm_status status = DKM_OK;
    reliability curve = {0};
    drawing picture;

    DKM_TRY(reliability_of_classes(r, what->truth, what->pred, &curve));
    picture = reliability_drawing(&curve);
    DKM_TRY(gnuplot_write(r, &picture));
out:
    return status;
}

dkm_status score_plot(run *r, const score_picture *what)
{
    dkm_type truth = dkm_data_type(what->truth), pred = dkm_data_type(what->pred);
    dkm_status status = DKM_OK;

    if (!args_text(r->args, "plot"))
        return DKM_OK;
    if (what->takes == DKM_LOSS_OF_SCORES || (truth == DKM_LABELS && pred == DKM_DENSE))
        return plot_probabilities(r, what);
    if (pred == DKM_LABELS ||
        (what->takes == DKM_LOSS_OF_LABELS && pred == DKM_DENSE && dkm_data_cols(what->pred) == 1))
        return plot_confusion(r, what);
    if (truth == DKM_DENSE && pred == DKM_DENSE)
        return plot_numbers(r, what);
    DKM_REQUIRE(r->ctx, 0, DKM_ERR_UNSUPPORTED,
                "--plot draws classes, numbers and probabilities of classes, not %s%s",
                dkm_type_name(truth),
                truth == DKM_STRINGS ? "; for names of classes add --confusion" : "");
out:
    return status;
}
