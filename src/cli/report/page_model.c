#include "cli/report/page_model.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/model_parts.h>
#include <dkmap/store.h>

#include "cli/report/figures.h"

/* Lines of dkmap info: "  name   what it is"; the first one is a heading. */
static void put_line(void *user, const char *text)
{
    page *p = user;
    char name[64];
    size_t length;

    if (text[0] != ' ') {
        page_heading(p, 2, text);
        page_facts_begin(p);
        return;
    }
    text += strspn(text, " ");
    length = strcspn(text, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    text += length;
    page_fact(p, name, text + strspn(text, " "));
}

/* Components, largest first. */
static dkm_local draw_spectrum(page *p, dkm_idx count, const double *values)
{
    double *place = malloc((size_t)count * sizeof *place);
    lines_figure f = {.count = count,
                      .x = place,
                      .lines = 1,
                      .y = {values},
                      .x_label = "component",
                      .y_label = "eigenvalue",
                      .marked = NAN};
    drawing picture = lines_drawing(&f);
    dkm_local local;

    if (!place)
        return dkm_fail(p->r->ctx, DKM_ERR_MEMORY, "no memory for a page");
    for (dkm_idx k = 0; k < count; k++)
        place[k] = (double)k + 1;
    page_figures_begin(p);
    local = page_figure(p, &picture, "Spectrum of the centered kernel matrix");
    page_figures_end(p);
    free(place);
    return local;
}

dkm_status page_model(page *p, const char *path)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = p->r->ctx;
    const dkm_layout layout = {0};
    dkm_model *model = NULL;
    dkm_parts *parts = NULL;
    const double *values;
    dkm_idx count = 0;

    DKM_TRY(dkm_model_load(ctx, path, &layout, &model));
    DKM_TRY(dkm_parts_create(model, &parts));
    DKM_TRY(dkm_describe(ctx, path, NULL, put_line, p));
    if (p->out)
        page_facts_end(p);
    values = dkm_parts_reals(parts, "eigenvalues", &count);
    DKM_AGREE(ctx, p->out && values && count > 1 ? draw_spectrum(p, count, values) : DKM_LOCAL_OK);
out:
    dkm_parts_destroy(&parts);
    dkm_model_destroy(&model);
    return status;
}
