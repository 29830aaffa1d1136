#include "support/fixture_table.h"

#include <string.h>

#include "support/check.h"

double table_value(dkm_idx i, dkm_idx j)
{
    return (double)((i * 37 + j * 11 + i * j) % 100);
}

/* Share k of a part: the data are objects [from, from + count) of it. */
static int holds_share(const dkm_data *data, table_part part, dkm_idx from)
{
    const double *values = dkm_data_values_const(data);
    int same = dkm_data_cols(data) == part.cols;

    for (dkm_idx i = 0; same && i < dkm_data_local_rows(data); i++) {
        dkm_idx row = part.first + (from + dkm_data_local_first(data) + i) * part.step;
        for (dkm_idx j = 0; j < part.cols; j++)
            same &= values[i * part.cols + j] == table_value(row, part.col + j);
    }
    return same;
}

int table_holds(const dkm_data *data, table_part part)
{
    return dkm_data_rows(data) == part.rows && holds_share(data, part, 0);
}

/* Stretches of 0, 1, 2, ... rows until all are read. */
static void check_stretches(dkm_ctx *ctx, dkm_source *source, const char *where, table_part part)
{
    dkm_idx first = 0;

    for (dkm_idx step = 0; first < part.rows; step += 1 + step / 3) {
        dkm_idx count = part.rows - first < step ? part.rows - first : step;
        dkm_data *data = NULL;
        CHECK_OK(ctx, dkm_source_read(source, first, count, &data));
        if (!data || dkm_data_rows(data) != count || !holds_share(data, part, first))
            check_failed(__FILE__, __LINE__, "%s: rows %lld + %lld are wrong", where,
                         (long long)first, (long long)count);
        dkm_data_destroy(&data);
        first += count;
    }
}

void table_check(dkm_ctx *ctx, const char *where, const char *type, dkm_type found, table_part part)
{
    dkm_source *source = NULL;
    dkm_data *data = NULL;

    CHECK_OK(ctx, dkm_data_read(ctx, where, DKM_INPUTS, type, &data));
    if (!data)
        return;
    if (dkm_data_type(data) != found || !table_holds(data, part))
        check_failed(__FILE__, __LINE__, "%s: %lld x %lld %s are not the table", where,
                     (long long)dkm_data_rows(data), (long long)dkm_data_cols(data),
                     dkm_type_name(dkm_data_type(data)));
    dkm_data_destroy(&data);
    CHECK_OK(ctx, dkm_source_open(ctx, where, DKM_INPUTS, type, &source));
    CHECK(dkm_source_rows(source) == part.rows && dkm_source_cols(source) == part.cols);
    CHECK(dkm_source_type(source) == found && dkm_source_describe(source)[0] != '\0');
    check_stretches(ctx, source, where, part);
    dkm_source_close(&source);
}

void table_refused(dkm_ctx *ctx, const char *where, const char *type, dkm_status status,
                   const char *word, const char *other)
{
    dkm_data *data = NULL;
    dkm_status got = dkm_data_read(ctx, where, DKM_INPUTS, type, &data);
    const char *message = dkm_ctx_message(ctx);

    CHECK(data == NULL);
    if (got != status)
        check_failed(__FILE__, __LINE__, "%s: %s, not %s (%s)", where, dkm_status_text(got),
                     dkm_status_text(status), message);
    if (!strstr(message, word) || !strstr(message, other) || strchr(message, '\n'))
        check_failed(__FILE__, __LINE__, "%s: no '%s' and '%s' in: %s", where, word, other,
                     message);
}
