/* range: a text file with one number n, which stands for the rows 0, 1, ..., n - 1 of one column. An
 * example of a file format: see CONTRIBUTING.md. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/formats/dense.h"

static dkm_local range_read_count(dkm_file *file)
{
    FILE *f = fopen(file->path, "r");
    long long n = -1;
    int found;

    if (!f)
        return dkm_fail(file->ctx, DKM_ERR_IO, "%s: %s", file->path, strerror(errno));
    found = fscanf(f, "%lld", &n) == 1 && n >= 0;
    fclose(f);
    if (!found)
        return dkm_fail(file->ctx, DKM_ERR_FORMAT, "%s: no number of rows", file->path);
    snprintf(file->about, sizeof file->about, "a range");
    return dkm_dense_resolve_type(file, (dkm_idx)n, 1, 0);
}

static dkm_status range_open(dkm_file *file)
{
    return dkm_agree(file->ctx, range_read_count(file));
}

static dkm_local range_read(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count, dkm_idx c0,
                            dkm_idx c1, dkm_objs *objs)
{
    dkm_local local = dkm_objs_init(objs, file->ctx, file->type, count, c1 - c0, 0);

    for (dkm_idx i = 0; local.code == DKM_OK && c1 > c0 && i < count; i++)
        objs->values[i] = (double)(first + i * step);
    return local;
}

static void range_close(dkm_file *file)
{
    (void)file;
}

const dkm_format dkm_format_range = {.name = "range",
                                     .endings = ".range",
                                     .open = range_open,
                                     .read = range_read,
                                     .close = range_close};
