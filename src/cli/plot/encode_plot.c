#include "cli/plot/encode_plot.h"

#include <math.h>

#include <dkmap/score.h>

#include "cli/plot/plot_coordinates.h"

dkm_status encode_plot_open(encode_plot *p, run *r)
{
    const char *where = args_text(r->args, "y");
    dkm_status status = DKM_OK;
    dkm_data *labels = NULL;

    *p = (encode_plot){.r = r};
    DKM_REQUIRE(r->ctx, !where || args_text(r->args, "plot"), DKM_ERR_ARG,
                "--y colours a picture: give --plot too");
    DKM_TRY(gnuplot_check(r));
    if (!where)
        return DKM_OK;
    DKM_TRY(dkm_data_read(r->ctx, where, DKM_OUTPUTS, args_text(r->args, "y-type"), &p->Y));
    if (dkm_data_type(p->Y) == DKM_STRINGS) {
        DKM_TRY(dkm_categories_learn(p->Y, NULL, &p->names));
        DKM_TRY(dkm_categories_encode(p->names, p->Y, &labels));
        dkm_data_destroy(&p->Y);
        p->Y = labels;
    }
    DKM_REQUIRE(r->ctx, dkm_data_type(p->Y) == DKM_LABELS || dkm_data_type(p->Y) == DKM_DENSE,
                DKM_ERR_UNSUPPORTED, "%s: %s cannot colour points: labels and numbers do", where,
                dkm_type_name(dkm_data_type(p->Y)));
out:
    return status;
}

void encode_plot_close(encode_plot *p)
{
    sample_close(&p->points);
    dkm_categories_destroy(&p->names);
    dkm_data_destroy(&p->Y);
}

dkm_status encode_plot_begin(void *watcher, dkm_idx rows, dkm_idx cols)
{
    encode_plot *p = watcher;
    dkm_ctx *ctx = p->r->ctx;
    dkm_status status = DKM_OK;

    DKM_REQUIRE(ctx, !p->Y || dkm_data_rows(p->Y) == rows, DKM_ERR_ARG,
                "%s: %lld labels for %lld objects", args_text(p->r->args, "y"),
                (long long)(p->Y ? dkm_data_rows(p->Y) : 0), (long long)rows);
    DKM_REQUIRE(ctx, rows > 0, DKM_ERR_ARG, "--plot: there are no objects to draw");
    p->coordinates = cols > 1 ? 2 : 1;
    DKM_TRY(sample_open(&p->points, p->r, rows, 3));
    if (p->Y)
        sample_take(&p->points, p->Y, 0, 0, 2, 1);
out:
    return status;
}

void encode_plot_watch(void *watcher, dkm_idx first, const dkm_data *Z)
{
    encode_plot *p = watcher;

    sample_take(&p->points, Z, first, 0, 0, p->coordinates);
}

dkm_status encode_plot_end(void *watcher)
{
    encode_plot *p = watcher;
    dkm_status status = DKM_OK;
    dkm_idx count = 0, *labels = NULL;
    coordinates_picture c = {
        .points = &p->points, .names = p->names, .coordinates = p->coordinates, .coloured = !!p->Y};
    drawing picture;

    if (p->Y)
        DKM_TRY(dkm_score_distinct_labels(p->Y, &count, &labels));
    c.classes = count <= COORDINATES_CLASSES ? count : 0;
    c.label = labels;
    sample_gather(&p->points);
    picture = coordinates_drawing(&c);
    DKM_TRY(gnuplot_write(p->r, &picture));
out:
    dkm_score_labels_free(&labels);
    return status;
}
