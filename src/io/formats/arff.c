/* ARFF, the tables of Weka and Mulan: a header of lines `@attribute NAME TYPE`, then `@data` and one
 * row per line, dense as in csv or sparse as `{column value, column value}`. Sparse rows are read as
 * such. With label columns set (dkm_data_label_columns()), the last columns are a label set: inputs
 * are the columns before them, outputs the set of those that are not 0. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "core/ctx_private.h"
#include "data/builder.h"
#include "io/formats/dense.h"
#include "io/text/cells.h"
#include "io/text/scan.h"
#include "io/text/textfile.h"

enum { COLUMNS, OFFSET, NUMBER, SPARSE_ROWS, BYTES, FRONT_COUNT };

typedef struct arff {
    dkm_idx front[FRONT_COUNT];
    dkm_idx shift; /* columns of the file before those that are read: file.d follow */
    char *packed;  /* names of all columns, each ended by a zero */
    char *is_text;
    dkm_idx room_names, room_columns;
    dkm_textfile text;
} arff;

void dkm_data_label_columns(dkm_ctx *ctx, const dkm_idx *count)
{
    dkm_ctx_lend(ctx, DKM_LENT_LABEL_COLUMNS, count);
}

/* Whether a type, `numeric` or `{a, b}`, is one of words. */
static int holds_words(const char *type)
{
    double value;

    if (*type != '{')
        return strncasecmp(type, "numeric", 7) != 0 && strncasecmp(type, "real", 4) != 0 &&
               strncasecmp(type, "integer", 7) != 0;
    for (const char *at = type + 1; at && *at;) {
        dkm_cell cell = dkm_cell_take(&at, ',');
        if (cell.length > 0 && cell.text[cell.length - 1] == '}')
            cell.length--;
        while (cell.length > 0 && cell.text[cell.length - 1] == ' ')
            cell.length--;
        if (!dkm_cell_number(cell, &value))
            return 1;
    }
    return 0;
}

/* `@attribute NAME TYPE`: the name may be in quotes. */
static dkm_local add_attribute(dkm_text *text, arff *s)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *name = text->line + strlen("@attribute"), *end;
    dkm_idx length, used = s->front[BYTES], columns = s->front[COLUMNS];
    char quote = 0;

    while (*name == ' ' || *name == '\t')
        name++;
    if (*name == '\'' || *name == '"')
        quote = *name++;
    end = quote ? strchr(name, quote) : name + strcspn(name, " \t{");
    if (!end || end == name)
        return dkm_fail_line(text, "%s", "an attribute without a name");
    length = (dkm_idx)(end - name);
    end += quote != 0;
    end += strspn(end, " \t");
    if (used + length + 1 > s->room_names) {
        s->room_names = 2 * (used + length + 1);
        DKM_STEP(dkm_realloc(text->ctx, s->room_names, &s->packed));
    }
    if (columns == s->room_columns) {
        s->room_columns = 2 * columns + 64;
        DKM_STEP(dkm_realloc(text->ctx, s->room_columns, &s->is_text));
    }
    memcpy(s->packed + used, name, (size_t)length);
    s->packed[used + length] = '\0';
    s->is_text[columns] = (char)holds_words(end);
    s->front[BYTES] += length + 1;
    s->front[COLUMNS]++;
out:
    return local;
}

static dkm_local read_header(dkm_text *text, arff *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx length;
    char *line;

    for (;;) {
        DKM_STEP(dkm_text_next(text, &line, &length));
        if (!line)
            return dkm_fail(text->ctx, DKM_ERR_FORMAT, "%s: no line @data in it", text->path);
        if (strncasecmp(line, "@attribute", 10) == 0)
            DKM_STEP(add_attribute(text, s));
        else if (strncasecmp(line, "@data", 5) == 0)
            break;
    }
    s->front[OFFSET] = text->base + text->at;
    s->front[NUMBER] = text->number + 1;
    if (s->front[COLUMNS] == 0)
        DKM_STEP(dkm_fail(text->ctx, DKM_ERR_FORMAT, "%s: no attributes in it", text->path));
    do {
        DKM_STEP(dkm_text_next(text, &line, &length));
    } while (line && !dkm_records_begins(DKM_RECORDS_FILLED, line, length));
    s->front[SPARSE_ROWS] = line && *dkm_scan_blanks(line) == '{';
out:
    return local;
}

static dkm_local look_at_header(dkm_file *file, arff *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_text text = {0};

    DKM_STEP(dkm_text_open(&text, file->ctx, file->path));
    DKM_STEP(read_header(&text, s));
out:
    dkm_text_close(&text);
    return local;
}

static dkm_local arff_allocate(dkm_file *file, arff *s)
{
    dkm_local local = DKM_LOCAL_OK;

    if (dkm_ctx_rank(file->ctx) == 0)
        return local;
    DKM_STEP(dkm_calloc(file->ctx, s->front[BYTES], &s->packed));
    DKM_STEP(dkm_calloc(file->ctx, s->front[COLUMNS], &s->is_text));
out:
    return local;
}

/* Which columns are read, and as what. */
static dkm_local resolve_types(dkm_file *file, arff *s)
{
    const dkm_idx *labels = dkm_ctx_lent(file->ctx, DKM_LENT_LABEL_COLUMNS);
    dkm_idx d = s->front[COLUMNS];
    dkm_local local = DKM_LOCAL_OK;
    char *at = s->packed;

    if (labels && *labels >= d)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_ARG, "%s: --labels %lld, and there are %lld columns",
                          file->path, (long long)*labels, (long long)d));
    if (file->type == DKM_TYPE_COUNT)
        file->type = labels && file->role == DKM_OUTPUTS ? DKM_LABEL_SETS
                     : s->front[SPARSE_ROWS]             ? DKM_SPARSE
                                                         : DKM_DENSE;
    if (file->type != DKM_SPARSE && file->type != DKM_DENSE && file->type != DKM_LABEL_SETS &&
        file->type != DKM_LABELS)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_ARG, "%s holds a table, not %s", file->path,
                          dkm_type_name(file->type)));
    file->m = s->text.records.count;
    file->d = !labels ? d : file->role == DKM_OUTPUTS ? *labels : d - *labels;
    s->shift = labels && file->role == DKM_OUTPUTS ? d - *labels : 0;
    DKM_STEP(dkm_calloc(file->ctx, file->d, &file->names));
    for (dkm_idx c = 0; c < s->shift + file->d; c++, at += strlen(at) + 1)
        if (c >= s->shift)
            file->names[c - s->shift] = at;
    file->is_text = s->is_text + s->shift;
    snprintf(file->about, sizeof file->about, "ARFF, %s rows%s",
             s->front[SPARSE_ROWS] ? "sparse" : "dense", labels ? ", label columns apart" : "");
out:
    return local;
}

static dkm_local arff_make_state(dkm_file *file)
{
    arff *s = NULL;
    dkm_local local = dkm_calloc(file->ctx, 1, &s);

    file->state = s;
    return local;
}

static dkm_status arff_open(dkm_file *file)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = file->ctx;
    int bytes = 0, columns = 0;
    arff *s;

    DKM_AGREE(ctx, arff_make_state(file));
    s = file->state;
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? look_at_header(file, s) : DKM_LOCAL_OK);
    MPI_Bcast(s->front, FRONT_COUNT, MPI_INT64_T, 0, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, dkm_checked_int(ctx, s->front[BYTES], "bytes of names of columns", &bytes));
    DKM_AGREE(ctx, dkm_checked_int(ctx, s->front[COLUMNS], "the number of columns", &columns));
    DKM_AGREE(ctx, arff_allocate(file, s));
    MPI_Bcast(s->packed, bytes, MPI_CHAR, 0, dkm_ctx_comm(ctx));
    MPI_Bcast(s->is_text, columns, MPI_CHAR, 0, dkm_ctx_comm(ctx));
    s->text.next = -1;
    DKM_TRY(dkm_records_index(&s->text.records, ctx, file->path, DKM_RECORDS_FILLED,
                              s->front[OFFSET], s->front[NUMBER]));
    DKM_AGREE(ctx, resolve_types(file, s));
out:
    return status;
}

/* Where the rows that are read go. */
typedef struct target {
    const dkm_file *file;
    const arff *s;
    dkm_idx c0, c1;
    dkm_objs *objs;
    dkm_builder g;
    double *row; /* of dense lines */
} target;

static dkm_local put_value(target *t, dkm_idx i, dkm_idx c, double value)
{
    c -= t->s->shift;
    if (c < t->c0 || c >= t->c1 || value == 0)
        return DKM_LOCAL_OK;
    if (t->objs->values) {
        t->objs->values[i * (t->c1 - t->c0) + c - t->c0] = value;
        return DKM_LOCAL_OK;
    }
    return dkm_builder_entry(&t->g, c - t->c0, value);
}

/* {column value, column value}, columns ascending from 0. */
static dkm_local take_sparse(target *t, const dkm_text *text, dkm_idx i)
{
    dkm_local local = DKM_LOCAL_OK;
    char *at = dkm_scan_blanks(text->line) + 1;
    dkm_idx column, last = -1;
    double value;

    for (at = dkm_scan_blanks(at); *at != '}'; at = dkm_scan_blanks(at)) {
        if (!dkm_scan_int(&at, 0, &column) || column <= last || column >= t->s->front[COLUMNS])
            return dkm_fail_line(text,
                                 "columns of a sparse row are numbers from 0 to %lld, ascending",
                                 (long long)t->s->front[COLUMNS] - 1);
        at = dkm_scan_blanks(at);
        if (!dkm_scan_real(&at, &value))
            return dkm_fail_line(text, "column %lld of a sparse row has no number: '%.*s'",
                                 (long long)column, dkm_scan_word(at), at);
        at = dkm_scan_blanks(at);
        if (*at != ',' && *at != '}')
            return dkm_fail_line(text, "a comma or } is needed at '%.*s'", dkm_scan_word(at), at);
        at += *at == ',';
        last = column;
        DKM_STEP(put_value(t, i, column, value));
    }
out:
    return local;
}

/* A line as in csv. */
static dkm_local take_dense(target *t, const dkm_text *text, dkm_idx i)
{
    const dkm_cell_range range = {t->s->shift, t->s->front[COLUMNS], t->c0, t->c1};
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_cells_read(text, ',', t->file, range, t->row));
    for (dkm_idx c = t->c0; c < t->c1; c++)
        DKM_STEP(put_value(t, i, t->s->shift + c, t->row[c - t->c0]));
out:
    return local;
}

static dkm_local begin(target *t, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx width = t->c1 - t->c0;

    DKM_STEP(dkm_alloc(t->file->ctx, width, &t->row));
    if (dkm_type_storage_form(t->file->type) == DKM_STORED_LISTS)
        return dkm_builder_begin(&t->g, t->objs, t->file->ctx, t->file->type, count, width);
    DKM_STEP(dkm_objs_init(t->objs, t->file->ctx, t->file->type, count, width, 0));
    memset(t->objs->values, 0, (size_t)(count * width) * sizeof *t->objs->values);
out:
    return local;
}

static dkm_local arff_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                           dkm_idx c1, dkm_objs *objs)
{
    arff *s = file->state;
    target t = {.file = file, .s = s, .c0 = c0, .c1 = c1, .objs = objs};
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx length;
    char *line;

    DKM_STEP(begin(&t, count));
    for (dkm_idx i = 0; i < count; i++) {
        DKM_STEP(dkm_textfile_seek(&s->text, file, first + i * step));
        DKM_STEP(dkm_text_next(&s->text.text, &line, &length));
        DKM_STEP(*dkm_scan_blanks(line) == '{' ? take_sparse(&t, &s->text.text, i)
                                               : take_dense(&t, &s->text.text, i));
        if (!objs->values)
            dkm_builder_next(&t.g);
    }
    if (!objs->values)
        DKM_STEP(dkm_builder_end(&t.g));
out:
    DKM_FREE(t.row);
    return local;
}

static dkm_local arff_read_text(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count,
                                dkm_idx c, dkm_objs *objs)
{
    arff *s = file->state;

    return dkm_cells_read_text(&s->text, file, ',', first, step, count, s->shift + c, objs);
}

static void arff_close(dkm_file *file)
{
    arff *s = file->state;

    if (s) {
        dkm_textfile_clear(&s->text);
        DKM_FREE(s->packed);
        DKM_FREE(s->is_text);
    }
    DKM_FREE(file->names);
    DKM_FREE(file->state);
}

const dkm_format dkm_format_arff = {
    .name = "arff",
    .endings = ".arff .arff.gz",
    .open = arff_open,
    .read = arff_read,
    .close = arff_close,
    .read_text = arff_read_text,
};
