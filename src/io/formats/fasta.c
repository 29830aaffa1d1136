/* FASTA: a record is a line that begins with > and the lines up to the next such line; its string
 * is those lines joined, without blanks. */
#include <stdio.h>

#include "data/builder.h"
#include "io/text/scan.h"
#include "io/text/textfile.h"

/* What stands before the first record would be lost without a word. */
static dkm_local check_beginning(dkm_file *file)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_text text = {0};
    dkm_idx length;
    char *line;

    if (file->type != DKM_TYPE_COUNT && file->type != DKM_STRINGS)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_ARG, "%s: a FASTA file holds strings, not %s",
                          file->path, dkm_type_name(file->type)));
    file->type = DKM_STRINGS;
    DKM_STEP(dkm_text_open(&text, file->ctx, file->path));
    do
        DKM_STEP(dkm_text_next(&text, &line, &length));
    while (line && *dkm_scan_blanks(line) == '\0');
    if (!line)
        DKM_STEP(dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s: no FASTA record in it", file->path));
    if (line[0] != '>')
        DKM_STEP(dkm_fail_line(&text, "'%.*s' where a FASTA record begins with '>'",
                               dkm_scan_word(line), line));
out:
    dkm_text_close(&text);
    return local;
}

static dkm_status open_fasta(dkm_file *file)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(file->ctx, check_beginning(file));
    DKM_TRY(dkm_textfile_open(file, DKM_RECORDS_HEADED));
    snprintf(file->about, sizeof file->about, "FASTA, one string a record");
out:
    return status;
}

/* Add a line of a sequence, leaving blanks out. */
static dkm_local grow_sequence(dkm_builder *g, char *line, dkm_idx length)
{
    dkm_idx used = 0;

    for (dkm_idx k = 0; k < length; k++)
        if (line[k] != ' ' && line[k] != '\t' && line[k] != '\r')
            line[used++] = line[k];
    return dkm_builder_bytes(g, line, used);
}

static dkm_local read_record(dkm_text *text, dkm_builder *g)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx length;
    char *line;

    DKM_STEP(dkm_text_next(text, &line, &length));
    for (;;) {
        DKM_STEP(dkm_text_next(text, &line, &length));
        if (!line || line[0] == '>')
            break;
        DKM_STEP(grow_sequence(g, line, length));
    }
    dkm_text_again(text);
    dkm_builder_next(g);
out:
    return local;
}

static dkm_local read_fasta(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                            dkm_idx c1, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_textfile *t = file->state;
    dkm_builder g;

    (void)c0;
    (void)c1;
    DKM_STEP(dkm_builder_begin(&g, objs, file->ctx, DKM_STRINGS, count, 0));
    for (dkm_idx i = 0; i < count; i++) {
        DKM_STEP(dkm_textfile_seek(t, file, first + i * step));
        DKM_STEP(read_record(&t->text, &g));
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    if (local.code != DKM_OK)
        dkm_textfile_lose(t);
    return local;
}

const dkm_format dkm_format_fasta = {
    .name = "FASTA",
    .endings = ".fasta .fa .fasta.gz .fa.gz",
    .open = open_fasta,
    .read = read_fasta,
    .close = dkm_textfile_close,
};
