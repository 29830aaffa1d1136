/* Label sets as text: one set per line, integers from 0 with blanks or commas between them; a
 * blank line is the empty set. */
#include <stdio.h>
#include <stdlib.h>

#include <dkmap/grid.h>

#include "data/builder.h"
#include "io/text/scan.h"
#include "io/text/textfile.h"

static char *skip_between(char *at)
{
    while (*at == ',' || (*at && dkm_scan_ends(*at)))
        at++;
    return at;
}

/* The next label of a line; *more is 0 at its end. */
static dkm_local next_label(const dkm_text *text, char **at, dkm_idx *label, int *more)
{
    char *word = *at = skip_between(*at);

    *more = *word != '\0';
    if (*more && (!dkm_scan_int(at, 0, label) || (**at != ',' && !dkm_scan_ends(**at))))
        return dkm_fail_line(text, "'%.*s' is no label: integers from 0 are needed",
                             dkm_scan_word(word), word);
    return DKM_LOCAL_OK;
}

/* The largest label in this rank's share of the lines; -1 where there is none. */
static dkm_local find_largest(dkm_file *file, dkm_idx *largest)
{
    dkm_textfile *t = file->state;
    int rank = dkm_ctx_rank(file->ctx), size = dkm_ctx_size(file->ctx), more;
    dkm_idx end = dkm_slab_first(file->m, rank + 1, size), length, label = -1;
    dkm_local local = DKM_LOCAL_OK;
    char *at;

    *largest = -1;
    for (dkm_idx k = dkm_slab_first(file->m, rank, size); k < end; k++) {
        DKM_STEP(dkm_textfile_seek(t, file, k));
        DKM_STEP(dkm_text_next(&t->text, &at, &length));
        for (;;) {
            DKM_STEP(next_label(&t->text, &at, &label, &more));
            if (!more)
                break;
            *largest = label > *largest ? label : *largest;
        }
    }
out:
    return local;
}

static dkm_status label_sets_open(dkm_file *file)
{
    dkm_status status = DKM_OK;
    dkm_idx mine = -1, largest = -1;

    DKM_TRY(dkm_textfile_open(file, DKM_RECORDS_LINES));
    DKM_AGREE(file->ctx, find_largest(file, &mine));
    MPI_Allreduce(&mine, &largest, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(file->ctx));
    file->type = DKM_LABEL_SETS;
    file->d = largest + 1;
    snprintf(file->about, sizeof file->about, "text, one set of labels a line");
out:
    return status;
}

static int ascending(const void *a, const void *b)
{
    const dkm_idx *u = a, *v = b;

    return (*u > *v) - (*u < *v);
}

/* Bring the set being made to one form: ascending, each label once. */
static void tidy(dkm_builder *g)
{
    dkm_idx first = g->objs->start[g->made], *set = g->objs->col + first;
    dkm_idx count = g->used - first, distinct = 0;

    qsort(set, (size_t)count, sizeof *set, ascending);
    for (dkm_idx k = 0; k < count; k++)
        if (distinct == 0 || set[k] != set[distinct - 1])
            set[distinct++] = set[k];
    g->used = first + distinct;
}

static dkm_local label_sets_read_set(const dkm_text *text, char *at, dkm_idx c0, dkm_idx c1,
                                     dkm_builder *g)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx label = -1;
    int more;

    for (;;) {
        DKM_STEP(next_label(text, &at, &label, &more));
        if (!more)
            break;
        if (label >= c0 && label < c1)
            DKM_STEP(dkm_builder_entry(g, label - c0, 1.0));
    }
    tidy(g);
    dkm_builder_next(g);
out:
    return local;
}

static dkm_local label_sets_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count,
                                 dkm_idx c0, dkm_idx c1, dkm_objs *objs)
{
    dkm_textfile *t = file->state;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx length;
    dkm_builder g;
    char *line;

    DKM_STEP(dkm_builder_begin(&g, objs, file->ctx, DKM_LABEL_SETS, count, c1 - c0));
    for (dkm_idx i = 0; i < count; i++) {
        DKM_STEP(dkm_textfile_seek(t, file, first + i * step));
        DKM_STEP(dkm_text_next(&t->text, &line, &length));
        DKM_STEP(label_sets_read_set(&t->text, line, c0, c1, &g));
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}

const dkm_format dkm_format_label_sets = {
    .name = "label sets",
    .endings = "",
    .open = label_sets_open,
    .read = label_sets_read,
    .close = dkm_textfile_close,
};
