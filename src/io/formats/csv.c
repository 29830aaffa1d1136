/* Tables of numbers as text: one row per line. Fields stand between commas, semicolons, tabs or, in
 * files of another ending, blanks. A first line with a field that is no number names the columns,
 * unless it has numbers and text in the same columns as the line after it, or words alone one of which
 * stands in its column again. A column is text if its first cell that is not missing is no number. Blank lines and lines that begin with # are passed over. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "io/formats/dense.h"
#include "io/path.h"
#include "io/text/cells.h"
#include "io/text/textfile.h"

/* What rank 0 finds at the front of the file and broadcasts. */
enum { COLUMNS, SEPARATOR, NAMES, OFFSET, NUMBER, FRONT_COUNT };

enum { LINES_TRIED = 1000 }; /* to find out what the columns hold */

typedef struct csv {
    dkm_idx front[FRONT_COUNT];
    char *packed; /* names of the columns, each ended by a zero */
    int bytes;    /* of those */
    dkm_textfile text;
} csv;

static int csv_ends_in(const char *path, const char *ending, const char *packed)
{
    return dkm_path_ends(path, ending) || dkm_path_ends(path, packed);
}

static dkm_separator choose_separator(const char *path, const char *line)
{
    if (csv_ends_in(path, ".tsv", ".tsv.gz"))
        return '\t';
    if (strchr(line, ','))
        return ',';
    if (strchr(line, ';'))
        return ';';
    if (!csv_ends_in(path, ".csv", ".csv.gz"))
        return ' ';
    return strchr(line, '\t') ? '\t' : ',';
}

enum { UNKNOWN, NUMBERS, TEXT }; /* what a column holds */

static char kind_of(dkm_cell cell)
{
    double value;

    return dkm_cell_is_missing(cell) ? UNKNOWN : dkm_cell_number(cell, &value) ? NUMBERS : TEXT;
}

/* Note the kinds of columns not known yet. @return how many differ from @p before, if given */
static dkm_idx note_kinds(const char *line, const csv *state, const char *before, char *kinds)
{
    const char *at = line;
    dkm_idx differ = 0;

    for (dkm_idx c = 0; at && c < state->front[COLUMNS]; c++) {
        char kind = kind_of(dkm_cell_take(&at, (dkm_separator)state->front[SEPARATOR]));
        if (kinds[c] == UNKNOWN)
            kinds[c] = kind;
        differ += before && kind != before[c];
    }
    return differ;
}

/* Keep the names of the columns that a line has. */
static dkm_local note_names(const dkm_text *text, csv *state)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *at = text->line;
    char *out;

    DKM_STEP(dkm_calloc(text->ctx, text->length + state->front[COLUMNS] + 1, &state->packed));
    out = state->packed;
    for (dkm_idx c = 0; at && c < state->front[COLUMNS]; c++)
        out += dkm_cell_copy(dkm_cell_take(&at, (dkm_separator)state->front[SEPARATOR]), out) + 1;
    state->bytes = (int)(text->length + state->front[COLUMNS] + 1);
out:
    return local;
}

/* Whether a cell is text: one that stands for a missing value is not. */
static int has_text(const char *line, dkm_idx columns, dkm_separator separator)
{
    const char *at = line;

    for (dkm_idx c = 0; at && c < columns; c++)
        if (kind_of(dkm_cell_take(&at, separator)) == TEXT)
            return 1;
    return 0;
}

/* What the first line that counts says. */
static void note_front(const dkm_file *file, const dkm_text *text, dkm_idx front[FRONT_COUNT])
{
    dkm_separator separator = choose_separator(file->path, text->line);
    dkm_idx numbers, words;

    dkm_fields_inspect(text->line, separator, &numbers, &words);
    front[COLUMNS] = dkm_fields_count(text->line, separator);
    front[SEPARATOR] = separator;
    front[NAMES] = words > 0 && has_text(text->line, front[COLUMNS], separator);
    front[OFFSET] = text->offset;
    front[NUMBER] = text->number;
}

static dkm_local next_filled(dkm_text *text, char **line)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx length;

    do {
        DKM_STEP(dkm_text_next(text, line, &length));
    } while (*line && !dkm_records_begins(DKM_RECORDS_FILLED, *line, length));
out:
    return local;
}

/* Whether a cell of the line is that of the first line, in a column of text. */
static int repeats_first(const char *line, const csv *state, const char *first)
{
    const char *at = line, *name = state->packed;

    for (dkm_idx c = 0; at && c < state->front[COLUMNS]; c++, name += strlen(name) + 1) {
        dkm_cell cell = dkm_cell_take(&at, (dkm_separator)state->front[SEPARATOR]);
        if (first[c] == TEXT && cell.length == (dkm_idx)strlen(name) &&
            memcmp(cell.text, name, (size_t)cell.length) == 0)
            return 1;
    }
    return 0;
}

/* Whether the columns hold text wherever the first line has words, and it has nothing but words. */
static int is_all_words(const csv *state, const char *first, const char *kinds)
{
    for (dkm_idx c = 0; c < state->front[COLUMNS]; c++)
        if (first[c] == NUMBERS || (first[c] == TEXT && kinds[c] == NUMBERS))
            return 0;
    return 1;
}

/* The first line is one of the names of columns or a row. Names with numbers among them are doubtful:
 * a warning says that they are no row. */
static void settle_names(const dkm_file *file, csv *state, const char *first, dkm_idx number,
                         dkm_idx next)
{
    if (!state->front[NAMES])
        return;
    state->front[OFFSET] = next;
    state->front[NUMBER] = number + 1;
    if (memchr(first, NUMBERS, (size_t)state->front[COLUMNS]))
        dkm_log(file->ctx, DKM_WARN,
                "%s:%lld is taken as names of columns, as not all of it is numbers", file->path,
                (long long)number);
}

/* The lines behind the first one say whether that names the columns, and what the columns hold. */
static dkm_local note_columns(const dkm_file *file, dkm_text *text, csv *state, char *first,
                              char *kinds)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx d = state->front[COLUMNS], number = text->number, next = text->base + text->at;
    int doubtful, repeated = 0;
    char *line;

    note_kinds(text->line, state, NULL, first);
    if (state->front[NAMES])
        DKM_STEP(note_names(text, state));
    else
        memcpy(kinds, first, (size_t)d);
    DKM_STEP(next_filled(text, &line));
    if (line && state->front[NAMES] && memchr(first, NUMBERS, (size_t)d) &&
        dkm_fields_count(line, (dkm_separator)state->front[SEPARATOR]) == d &&
        note_kinds(line, state, first, kinds) == 0)
        state->front[NAMES] = 0;
    doubtful = state->front[NAMES] && !memchr(first, NUMBERS, (size_t)d);
    for (int k = 0; line && k < LINES_TRIED && (memchr(kinds, UNKNOWN, (size_t)d) || doubtful);
         k++) {
        note_kinds(line, state, NULL, kinds);
        repeated = repeated || (doubtful && repeats_first(line, state, first));
        doubtful = doubtful && !repeated && is_all_words(state, first, kinds);
        DKM_STEP(next_filled(text, &line));
    }
    if (repeated && is_all_words(state, first, kinds)) {
        state->front[NAMES] = 0;
        for (dkm_idx c = 0; c < d; c++)
            kinds[c] = kinds[c] == UNKNOWN ? first[c] : kinds[c];
    }
    settle_names(file, state, first, number, next);
out:
    return local;
}

static dkm_local look_at_front(dkm_file *file, csv *state)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_text text = {0};
    char *line, *first = NULL;

    DKM_STEP(dkm_text_open(&text, file->ctx, file->path));
    DKM_STEP(next_filled(&text, &line));
    if (!line) {
        local = dkm_fail(file->ctx, DKM_ERR_FORMAT,
                         "%s holds no rows, only blank lines and "
                         "comments",
                         file->path);
        goto out;
    }
    note_front(file, &text, state->front);
    DKM_STEP(dkm_calloc(file->ctx, state->front[COLUMNS], &first));
    DKM_STEP(dkm_calloc(file->ctx, state->front[COLUMNS], &file->is_text));
    DKM_STEP(note_columns(file, &text, state, first, file->is_text));
    for (dkm_idx c = 0; c < state->front[COLUMNS]; c++)
        file->is_text[c] = file->is_text[c] == TEXT;
    if (!state->front[NAMES])
        state->bytes = 0;
out:
    DKM_FREE(first);
    dkm_text_close(&text);
    return local;
}

static const char *separator_name(dkm_separator separator)
{
    return separator == ','    ? "commas"
           : separator == ';'  ? "semicolons"
           : separator == '\t' ? "tabs"
                               : "blanks";
}

static dkm_local csv_make_state(dkm_file *file)
{
    csv *state;
    dkm_local local = dkm_calloc(file->ctx, 1, &state);

    file->state = state;
    return local;
}

static dkm_local csv_allocate(dkm_file *file, const csv *state)
{
    if (dkm_ctx_rank(file->ctx) == 0)
        return DKM_LOCAL_OK;
    return dkm_calloc(file->ctx, state->front[COLUMNS], &file->is_text);
}

static dkm_local csv_name_columns(dkm_file *file, csv *state)
{
    dkm_local local = DKM_LOCAL_OK;
    char *at;

    if (state->bytes == 0)
        return local;
    DKM_STEP(dkm_calloc(file->ctx, state->front[COLUMNS], &file->names));
    at = state->packed;
    for (dkm_idx c = 0; c < state->front[COLUMNS]; c++) {
        file->names[c] = at;
        at += strlen(at) + 1;
    }
out:
    return local;
}

/* What rank 0 found at the front, for the others. */
static dkm_status share_front(dkm_file *file, csv *state)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = file->ctx;
    int columns = 0;

    MPI_Bcast(state->front, FRONT_COUNT, MPI_INT64_T, 0, dkm_ctx_comm(ctx));
    MPI_Bcast(&state->bytes, 1, MPI_INT, 0, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, dkm_checked_int(ctx, state->front[COLUMNS], "the number of columns", &columns));
    DKM_AGREE(ctx, csv_allocate(file, state));
    MPI_Bcast(file->is_text, columns, MPI_CHAR, 0, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, state->packed ? DKM_LOCAL_OK : dkm_calloc(ctx, state->bytes, &state->packed));
    MPI_Bcast(state->packed, state->bytes, MPI_CHAR, 0, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, csv_name_columns(file, state));
out:
    return status;
}

static dkm_status csv_open(dkm_file *file)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = file->ctx;
    csv *state;

    DKM_AGREE(ctx, csv_make_state(file));
    state = file->state;
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? look_at_front(file, state) : DKM_LOCAL_OK);
    DKM_TRY(share_front(file, state));
    state->text.next = -1;
    DKM_TRY(dkm_records_index(&state->text.records, ctx, file->path, DKM_RECORDS_FILLED,
                              state->front[OFFSET], state->front[NUMBER]));
    DKM_AGREE(ctx,
              dkm_dense_resolve_type(file, state->text.records.count, state->front[COLUMNS], 0));
    snprintf(file->about, sizeof file->about, "text, numbers between %s%s",
             separator_name((dkm_separator)state->front[SEPARATOR]),
             state->front[NAMES] ? ", names in the first line" : "");
out:
    return status;
}

static dkm_local csv_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                          dkm_idx c1, dkm_objs *objs)
{
    csv *state = file->state;
    dkm_separator separator = (dkm_separator)state->front[SEPARATOR];
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx length;
    char *line;

    DKM_STEP(dkm_objs_init(objs, file->ctx, file->type, count, c1 - c0, 0));
    for (dkm_idx i = 0; i < count; i++) {
        DKM_STEP(dkm_textfile_seek(&state->text, file, first + i * step));
        DKM_STEP(dkm_text_next(&state->text.text, &line, &length));
        if (file->missing_ok || file->skip || file->categories)
            DKM_STEP(dkm_cells_read(&state->text.text, separator, file,
                                    (dkm_cell_range){0, file->d, c0, c1},
                                    objs->values + i * (c1 - c0)));
        else
            DKM_STEP(dkm_fields_read(&state->text.text, separator, file->d, c0, c1,
                                     file->type == DKM_LABELS, objs->values + i * (c1 - c0)));
    }
out:
    return local;
}

static dkm_local csv_read_text(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count,
                               dkm_idx c, dkm_objs *objs)
{
    csv *state = file->state;

    return dkm_cells_read_text(&state->text, file, (dkm_separator)state->front[SEPARATOR], first,
                               step, count, c, objs);
}

static void csv_close(dkm_file *file)
{
    csv *state = file->state;

    if (state) {
        dkm_textfile_clear(&state->text);
        DKM_FREE(state->packed);
    }
    DKM_FREE(file->names);
    DKM_FREE(file->is_text);
    DKM_FREE(file->state);
}

const dkm_format dkm_format_csv = {
    .name = "csv",
    .endings = ".csv .tsv .csv.gz .tsv.gz",
    .is_text = 1,
    .open = csv_open,
    .read = csv_read,
    .close = csv_close,
    .read_text = csv_read_text,
};
