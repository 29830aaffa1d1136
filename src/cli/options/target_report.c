#include "cli/options/target_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/categories.h>
#include <dkmap/score.h>

enum { LISTED = 10, FEW_CLASSES = 20, ROWS_PER_CLASS = 4 };

static void add_text(char text[TARGET_TEXT], const char *more, int length)
{
    size_t used = strlen(text);

    snprintf(text + used, TARGET_TEXT - used, "%.*s", length, more);
}

/* Many classes of few rows each are often numbers. */
static void warn_of_classes(run *r, dkm_idx classes, dkm_idx rows)
{
    if (classes > FEW_CLASSES && classes * ROWS_PER_CLASS > rows)
        dkm_log(r->ctx, DKM_WARN,
                "the target has %lld classes in %lld rows: if they are numbers, give --y-type "
                "dense",
                (long long)classes, (long long)rows);
}

/* Whether every row of dense outputs is the same. Collective. */
static int is_constant(const dkm_data *Y)
{
    dkm_idx d = dkm_data_cols(Y), n = dkm_data_local_rows(Y) * d;
    const double *y = dkm_data_values_const(Y);
    int same = 1;

    for (dkm_idx j = 0; j < d && same; j++) {
        double ends[2] = {-INFINITY, -INFINITY}; /* minus the least, and the greatest */
        for (dkm_idx k = j; k < n; k += d) {
            ends[0] = fmax(ends[0], -y[k]);
            ends[1] = fmax(ends[1], y[k]);
        }
        MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(dkm_data_ctx(Y)));
        same = -ends[0] >= ends[1];
    }
    return same;
}

static void warn_of_one(run *r, dkm_idx rows)
{
    if (rows > 1)
        dkm_log(r->ctx, DKM_WARN, "the target is the same in all %lld rows: nothing can be learned",
                (long long)rows);
}

static dkm_status describe_names(run *r, const dkm_data *Y, char text[TARGET_TEXT])
{
    dkm_status status = DKM_OK;
    dkm_categories *names = NULL;
    dkm_idx count, length;

    DKM_TRY(dkm_categories_learn(Y, NULL, &names));
    count = dkm_categories_count(names);
    snprintf(text, TARGET_TEXT, "classes, %lld:", (long long)count);
    for (dkm_idx k = 0; k < count && k < LISTED; k++) {
        const char *name = dkm_categories_name(names, k, &length);
        add_text(text, k ? ", " : " ", 2);
        add_text(text, name, length < 24 ? (int)length : 24);
    }
    add_text(text, count > LISTED ? ", ..." : "", 5);
    warn_of_classes(r, count, dkm_data_rows(Y));
    if (count == 1)
        warn_of_one(r, dkm_data_rows(Y));
out:
    dkm_categories_destroy(&names);
    return status;
}

static void list_labels(dkm_idx count, const dkm_idx *labels, char text[TARGET_TEXT])
{
    char number[32];

    for (dkm_idx k = 0; k < count && k < LISTED; k++) {
        snprintf(number, sizeof number, "%s%lld", k ? ", " : " ", (long long)labels[k]);
        add_text(text, number, (int)sizeof number);
    }
    add_text(text, count > LISTED ? ", ..." : "", 5);
}

static dkm_status describe_numbers(run *r, const dkm_data *Y, char text[TARGET_TEXT])
{
    dkm_status status = DKM_OK;
    dkm_idx count = 0, *labels = NULL, d = dkm_data_cols(Y), m = dkm_data_rows(Y);

    DKM_TRY(dkm_score_distinct_labels(Y, &count, &labels));
    if (dkm_data_type(Y) == DKM_LABELS) {
        snprintf(text, TARGET_TEXT, "classes, %lld:", (long long)count);
        list_labels(count, labels, text);
        warn_of_classes(r, count, m);
        if (count == 1)
            warn_of_one(r, m);
    } else if (dkm_data_type(Y) == DKM_LABEL_SETS) {
        snprintf(text, TARGET_TEXT, "label sets, %lld labels", (long long)count);
    } else {
        snprintf(text, TARGET_TEXT, "numbers, %lld column%s", (long long)d, d == 1 ? "" : "s");
        if (is_constant(Y))
            warn_of_one(r, m);
        else if (count > 0 && count <= FEW_CLASSES && count * ROWS_PER_CLASS <= m)
            dkm_log(r->ctx, DKM_WARN,
                    "the target is integers, %lld different ones in %lld rows, and is taken "
                    "for numbers: if they are classes, give --y-type labels",
                    (long long)count, (long long)m);
    }
out:
    dkm_score_labels_free(&labels);
    return status;
}

dkm_status target_describe(run *r, const dkm_data *Y, const dkm_settings *settings,
                           char text[TARGET_TEXT])
{
    dkm_type type = dkm_data_type(Y);

    text[0] = '\0';
    if (type == DKM_STRINGS && dkm_method_names_classes(r->args->command->method, settings))
        return describe_names(r, Y, text);
    if (type == DKM_LABELS || type == DKM_LABEL_SETS || type == DKM_DENSE)
        return describe_numbers(r, Y, text);
    snprintf(text, TARGET_TEXT, "%s", dkm_type_name(type));
    return DKM_OK;
}
