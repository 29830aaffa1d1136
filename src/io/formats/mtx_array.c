/* Matrix Market array files as dense rows: one number per line, column by column, of a symmetric
 * matrix from the diagonal down. A rank goes over all of them and stores those of the rows it wants.
 */
#include <stdio.h>
#include <string.h>

#include "io/formats/dense.h"
#include "io/formats/mtx.h"
#include "io/text/scan.h"

/* The part of the matrix that is wanted. */
typedef struct part {
    dkm_idx first, step, c0, c1;
    dkm_objs *objs;
} part;

static void put(const part *p, dkm_idx row, dkm_idx col, double value)
{
    dkm_idx i = (row - p->first) / p->step;

    if (row < p->first || i >= p->objs->n || p->first + i * p->step != row || col < p->c0 ||
        col >= p->c1)
        return;
    p->objs->values[i * p->objs->d + col - p->c0] = value;
}

static dkm_local read_number(const dkm_text *text, char *line, double *value)
{
    char *at = dkm_scan_blanks(line);

    if (!dkm_scan_real(&at, value) || *dkm_scan_blanks(at))
        return dkm_fail_line(text, "'%.40s' where one finite number should be", line);
    return DKM_LOCAL_OK;
}

static dkm_local walk_numbers(const dkm_file *file, const part *p)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_mtx *s = file->state;
    dkm_idx length, row = 0, col = 0;
    dkm_text text = {0};
    double value = 0;
    char *line;

    DKM_STEP(dkm_text_open(&text, file->ctx, file->path));
    DKM_STEP(dkm_text_seek(&text, s->offset, s->number));
    for (;;) {
        DKM_STEP(dkm_text_next(&text, &line, &length));
        if (!line)
            break;
        if (!dkm_records_begins(DKM_RECORDS_FILLED, line, length))
            continue;
        DKM_STEP(read_number(&text, line, &value));
        put(p, row, col, value);
        if (s->symmetric && row != col)
            put(p, col, row, value);
        if (++row == s->rows) {
            col++;
            row = s->symmetric ? col : 0;
        }
    }
out:
    dkm_text_close(&text);
    return local;
}

dkm_local dkm_mtx_array_settle(dkm_file *file)
{
    const dkm_mtx *s = file->state;

    snprintf(file->about, sizeof file->about, "Matrix Market array, %s",
             s->symmetric ? "symmetric" : "general");
    return dkm_dense_resolve_type(file, s->rows, s->cols, 0);
}

dkm_local dkm_mtx_array_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                             dkm_idx c1, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_mtx *s = file->state;
    part p = {first, step, c0, c1, objs};

    DKM_STEP(dkm_objs_init(objs, file->ctx, file->type, count, c1 - c0, 0));
    memset(objs->values, 0, (size_t)(count * (c1 - c0)) * sizeof *objs->values);
    if (count > 0 && !s->ended)
        DKM_STEP(walk_numbers(file, &p));
    DKM_STEP(dkm_dense_check(file, first, step, c0, objs));
out:
    return local;
}
