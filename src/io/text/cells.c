#include "io/text/cells.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "data/builder.h"
#include "io/formats/numbers.h"
#include "io/text/scan.h"

#define LONGEST_QUOTE 40  /* bytes of a wrong cell that a message shows */
#define LONGEST_NAME  512 /* bytes of a category */

static int cell_is_blank(char c, dkm_separator separator)
{
    return c == ' ' || c == '\r' || (c == '\t' && separator != '\t');
}

static const char *find_end(const char *at, dkm_separator separator)
{
    int quoted = 0;

    for (; *at && (quoted || (separator == ' ' ? !cell_is_blank(*at, ' ') : *at != separator));
         at++)
        quoted ^= *at == '"';
    return at;
}

dkm_cell dkm_cell_take(const char **at, dkm_separator separator)
{
    const char *begin = *at, *end;
    dkm_cell cell;

    while (cell_is_blank(*begin, separator))
        begin++;
    end = find_end(begin, separator);
    *at = end;
    if (separator == ' ')
        while (cell_is_blank(**at, ' '))
            ++*at;
    *at = **at == '\0' ? NULL : separator == ' ' ? *at : *at + 1;
    while (end > begin && cell_is_blank(end[-1], separator))
        end--;
    cell = (dkm_cell){begin, (dkm_idx)(end - begin)};
    if (cell.length >= 2 && begin[0] == '"' && end[-1] == '"')
        cell = (dkm_cell){begin + 1, cell.length - 2};
    return cell;
}

int dkm_cell_is_missing(dkm_cell cell)
{
    static const char *const words[] = {"", "?", "na", "n/a", "nan", "null", "none"};

    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        dkm_idx at = 0;
        while (at < cell.length && tolower((unsigned char)cell.text[at]) == words[k][at] &&
               words[k][at])
            at++;
        if (at == cell.length && words[k][at] == '\0')
            return 1;
    }
    return 0;
}

int dkm_cell_number(dkm_cell cell, double *value)
{
    const char *end = cell.length > 0 ? dkm_number_parse(cell.text, value) : NULL;

    return end && end == cell.text + cell.length;
}

dkm_idx dkm_cell_copy(dkm_cell cell, char *out)
{
    dkm_idx n = 0;

    for (dkm_idx k = 0; k < cell.length; k++) {
        out[n++] = cell.text[k];
        if (cell.text[k] == '"' && k + 1 < cell.length && cell.text[k + 1] == '"')
            k++;
    }
    return n;
}

static const char *column_label(const dkm_file *file, dkm_idx c)
{
    return file->names ? file->names[c] : "";
}

static dkm_local refuse_missing(const dkm_text *text, const dkm_file *file, dkm_idx c,
                                dkm_cell cell)
{
    return dkm_fail_line(
        text, "column %lld %s is %s: --missing drop, mean or median says what to do",
        (long long)c + 1, column_label(file, c), cell.length == 0 ? "empty" : "missing");
}

static int shown(dkm_cell cell)
{
    return cell.length < LONGEST_QUOTE ? (int)cell.length : LONGEST_QUOTE;
}

static dkm_local read_category(const dkm_text *text, const dkm_file *file, dkm_idx c, dkm_cell cell,
                               double *value)
{
    char name[LONGEST_NAME];
    dkm_idx number = -1;

    if (cell.length <= LONGEST_NAME)
        number = dkm_categories_find(file->categories[c], name, dkm_cell_copy(cell, name));
    if (number < 0)
        return dkm_fail_line(text, "column %lld %s is '%.*s', which did not occur in training",
                             (long long)c + 1, column_label(file, c), shown(cell), cell.text);
    *value = (double)number;
    return DKM_LOCAL_OK;
}

static dkm_local read_cell(const dkm_text *text, const dkm_file *file, dkm_idx c, dkm_cell cell,
                           double *value)
{
    if (dkm_cell_is_missing(cell)) {
        *value = NAN;
        return file->missing_ok ? DKM_LOCAL_OK : refuse_missing(text, file, c, cell);
    }
    if (file->categories && file->categories[c])
        return read_category(text, file, c, cell, value);
    if (!dkm_cell_number(cell, value))
        return dkm_fail_line(text, "column %lld %s is '%.*s', not a number", (long long)c + 1,
                             column_label(file, c), shown(cell), cell.text);
    if (!isfinite(*value))
        return dkm_fail_line(text, "column %lld is Inf: remove or fill in such numbers first",
                             (long long)c + 1);
    return DKM_LOCAL_OK;
}

dkm_local dkm_cells_read(const dkm_text *text, dkm_separator separator, const dkm_file *file,
                         dkm_cell_range range, double *values)
{
    const char *at = text->line;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx field = 0;

    for (; at && field < range.fields; field++) {
        dkm_cell cell = dkm_cell_take(&at, separator);
        dkm_idx c = field - range.shift;
        if (c < range.c0 || c >= range.c1)
            continue;
        values[c - range.c0] = 0.0;
        if (!file->skip || !file->skip[c])
            DKM_STEP(read_cell(text, file, c, cell, &values[c - range.c0]));
    }
    if (at || field < range.fields)
        local = dkm_fail_line(text, "%lld fields where the first row has %lld",
                              (long long)dkm_fields_count(text->line, separator),
                              (long long)range.fields);
out:
    return local;
}

dkm_local dkm_cells_read_text(dkm_textfile *text, const dkm_file *file, dkm_separator separator,
                              dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx field,
                              dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx length;
    dkm_builder g;
    char *line;

    DKM_STEP(dkm_builder_begin(&g, objs, file->ctx, DKM_STRINGS, count, 0));
    for (dkm_idx i = 0; i < count; i++) {
        const char *at;
        dkm_cell cell = {"", 0};
        DKM_STEP(dkm_textfile_seek(text, file, first + i * step));
        DKM_STEP(dkm_text_next(&text->text, &line, &length));
        at = line;
        for (dkm_idx k = 0; at && k <= field; k++)
            cell = dkm_cell_take(&at, separator);
        DKM_STEP(dkm_builder_bytes(&g, cell.text, cell.length));
        g.used += dkm_cell_copy(cell, objs->bytes + g.used - cell.length) - cell.length;
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}
