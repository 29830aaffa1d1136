#include "io/text/fields.h"

#include <math.h>
#include <string.h>

#include "io/formats/dense.h"
#include "io/formats/numbers.h"

#define LONGEST_QUOTE 40 /* bytes of a wrong field that a message shows */

static int fields_is_blank(char c, dkm_separator separator)
{
    return c == ' ' || (c == '\t' && separator != '\t');
}

static const char *fields_skip_blanks(const char *at, dkm_separator separator)
{
    while (fields_is_blank(*at, separator))
        at++;
    return at;
}

/* From the end of a field: is there another one, and where. */
static int next_field(const char **at, dkm_separator separator)
{
    if (separator == ' ')
        return **at != '\0';
    if (**at != separator)
        return 0;
    ++*at;
    return 1;
}

/* The end of a field, whatever it holds. */
static const char *field_end(const char *at, dkm_separator separator)
{
    int quoted = 0;

    for (; *at && (quoted || (separator == ' ' ? !fields_is_blank(*at, ' ') : *at != separator));
         at++)
        quoted ^= *at == '"';
    return at;
}

/* The number that fills a field, perhaps in quotes. @return where the field ends, or NULL */
static const char *fields_take_number(const char *at, dkm_separator separator, double *value)
{
    int quoted;

    at = fields_skip_blanks(at, separator);
    quoted = *at == '"';
    at = dkm_number_parse(at + quoted, value);
    if (!at || (quoted && *at++ != '"'))
        return NULL;
    at = fields_skip_blanks(at, separator);
    return *at == '\0' || *at == separator || (separator == ' ' && fields_is_blank(at[-1], ' '))
               ? at
               : NULL;
}

dkm_idx dkm_fields_count(const char *line, dkm_separator separator)
{
    dkm_idx count = 0;
    const char *at = fields_skip_blanks(line, separator);

    do {
        count++;
        at = fields_skip_blanks(field_end(at, separator), separator);
    } while (next_field(&at, separator));
    return count;
}

void dkm_fields_inspect(const char *line, dkm_separator separator, dkm_idx *numbers, dkm_idx *words)
{
    const char *at = fields_skip_blanks(line, separator);
    double value;

    *numbers = *words = 0;
    do {
        const char *end = field_end(at, separator);
        if (fields_take_number(at, separator, &value))
            ++*numbers;
        else if (fields_skip_blanks(at, separator) < end)
            ++*words;
        at = fields_skip_blanks(end, separator);
    } while (next_field(&at, separator));
}

/* Say what is wrong with field @p column (from 0) at @p at, or with the number of fields. */
static dkm_local tell_field(const dkm_text *text, dkm_separator separator, dkm_idx d,
                            dkm_idx column, const char *at)
{
    dkm_idx count = dkm_fields_count(text->line, separator);
    const char *end = field_end(at, separator);
    int length = end - at < LONGEST_QUOTE ? (int)(end - at) : LONGEST_QUOTE;

    if (count != d)
        return dkm_fail(text->ctx, DKM_ERR_FORMAT,
                        "%s:%lld: %lld fields where the first row has %lld", text->path,
                        (long long)text->number, (long long)count, (long long)d);
    if (fields_skip_blanks(at, separator) >= end)
        return dkm_fail(text->ctx, DKM_ERR_FORMAT,
                        "%s:%lld: column %lld is empty: a number is needed", text->path,
                        (long long)text->number, (long long)column + 1);
    return dkm_fail(text->ctx, DKM_ERR_FORMAT, "%s:%lld: column %lld is '%.*s', not a number",
                    text->path, (long long)text->number, (long long)column + 1, length, at);
}

static dkm_local tell_value(const dkm_text *text, dkm_idx column, double value)
{
    if (isfinite(value))
        return dkm_fail(text->ctx, DKM_ERR_FORMAT,
                        "%s:%lld: column %lld is %.17g, which is no class label: an integer is "
                        "needed",
                        text->path, (long long)text->number, (long long)column + 1, value);
    return dkm_fail(text->ctx, DKM_ERR_FORMAT,
                    "%s:%lld: column %lld is %s: remove or fill in such numbers first", text->path,
                    (long long)text->number, (long long)column + 1, isnan(value) ? "NaN" : "Inf");
}

static int is_fit(double value, int labels)
{
    return isfinite(value) && (!labels || dkm_dense_is_label(value));
}

dkm_local dkm_fields_read(const dkm_text *text, dkm_separator separator, dkm_idx d, dkm_idx c0,
                          dkm_idx c1, int labels, double *values)
{
    const char *at = fields_skip_blanks(text->line, separator);
    int more = 1;

    for (dkm_idx c = 0; c < d; c++) {
        int wanted = c >= c0 && c < c1;
        const char *end = NULL;
        if (more)
            end = wanted ? fields_take_number(at, separator, &values[c - c0])
                         : fields_skip_blanks(field_end(at, separator), separator);
        if (!end)
            return tell_field(text, separator, d, c, at);
        if (wanted && !is_fit(values[c - c0], labels))
            return tell_value(text, c, values[c - c0]);
        at = end;
        more = next_field(&at, separator);
    }
    return more ? tell_field(text, separator, d, d, at) : DKM_LOCAL_OK;
}
