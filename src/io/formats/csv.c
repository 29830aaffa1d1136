/* Tables of numbers as text: one row per line. Fields stand between commas, semicolons, tabs or, in
 * files of another ending, blanks. A first line with a field that is no number names the columns.
 * Blank lines and lines that begin with # are passed over. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/formats/dense.h"
#include "io/path.h"
#include "io/text/fields.h"
#include "io/text/textfile.h"

/* What rank 0 finds at the front of the file and tells the others. */
enum { COLUMNS, SEPARATOR, NAMES, OFFSET, NUMBER, FRONT_COUNT };

typedef struct csv {
    dkm_idx front[FRONT_COUNT];
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

/* Note what the first line that counts says. A line of names with numbers among them is doubtful:
 * the user is told that it is no row. */
static void note_front(const dkm_file *file, const dkm_text *text, dkm_idx front[FRONT_COUNT])
{
    dkm_separator separator = choose_separator(file->path, text->line);
    dkm_idx numbers, words;

    dkm_fields_inspect(text->line, separator, &numbers, &words);
    front[COLUMNS] = dkm_fields_count(text->line, separator);
    front[SEPARATOR] = separator;
    front[NAMES] = words > 0;
    front[OFFSET] = words > 0 ? text->base + text->at : text->offset;
    front[NUMBER] = words > 0 ? text->number + 1 : text->number;
    if (words > 0 && numbers > 0)
        dkm_log(file->ctx, DKM_WARN,
                "%s:%lld is taken as names of columns, as not all of it is "
                "numbers",
                file->path, (long long)text->number);
}

static dkm_local look_at_front(dkm_file *file, dkm_idx front[FRONT_COUNT])
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_text text = {0};
    dkm_idx length;
    char *line;

    DKM_STEP(dkm_text_open(&text, file->ctx, file->path));
    do {
        DKM_STEP(dkm_text_next(&text, &line, &length));
    } while (line && !dkm_records_begins(DKM_RECORDS_FILLED, line, length));
    if (!line) {
        local = dkm_fail(file->ctx, DKM_ERR_FORMAT,
                         "%s holds no rows, only blank lines and "
                         "comments",
                         file->path);
        goto out;
    }
    note_front(file, &text, front);
out:
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

static dkm_status csv_open(dkm_file *file)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = file->ctx;
    csv *state;

    DKM_AGREE(ctx, csv_make_state(file));
    state = file->state;
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? look_at_front(file, state->front) : DKM_LOCAL_OK);
    MPI_Bcast(state->front, FRONT_COUNT, MPI_INT64_T, 0, dkm_ctx_comm(ctx));
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
        DKM_STEP(dkm_fields_read(&state->text.text, separator, file->d, c0, c1,
                                 file->type == DKM_LABELS, objs->values + i * (c1 - c0)));
    }
out:
    return local;
}

static void csv_close(dkm_file *file)
{
    csv *state = file->state;

    if (state)
        dkm_textfile_clear(&state->text);
    DKM_FREE(file->state);
}

const dkm_format dkm_format_csv = {
    .name = "csv",
    .endings = ".csv .tsv .csv.gz .tsv.gz",
    .is_text = 1,
    .open = csv_open,
    .read = csv_read,
    .close = csv_close,
};
