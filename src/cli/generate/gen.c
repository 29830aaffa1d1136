#include "cli/generate/gen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#define BATCH_NUMBERS 4194304 /* of all ranks together */
enum { PATH_MOST = 4096 };

gen_dice gen_dice_of(const run *r, uint64_t stream, dkm_idx i)
{
    return (gen_dice){.seed = dkm_ctx_seed(r->ctx), .stream = stream, .row = (uint64_t)i};
}

double gen_uniform(gen_dice *dice)
{
    return dkm_random_uniform(dice->seed, dice->stream, dice->row, dice->thrown++);
}

double gen_normal(gen_dice *dice)
{
    return dkm_random_normal(dice->seed, dice->stream, dice->row, dice->thrown++);
}

dkm_idx gen_below(gen_dice *dice, dkm_idx n)
{
    return (dkm_idx)(gen_uniform(dice) * (double)n);
}

static dkm_local make_dir(run *r)
{
    const char *dir = args_text(r->args, "out-dir");

    if (dkm_ctx_rank(r->ctx) != 0 || mkdir(dir, 0777) == 0 || errno == EEXIST)
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_IO, "%s: cannot make this folder: %s%s", dir, strerror(errno),
                    errno == ENOENT ? ": make the one above it first" : "");
}

dkm_status gen_make_dir(run *r)
{
    return dkm_agree(r->ctx, make_dir(r));
}

/* This rank's strings of a batch: their lengths first, then their letters. */
static dkm_status gen_make_strings(run *r, const gen_file *file, dkm_idx first, dkm_idx count,
                                   dkm_data **data)
{
    int rank = dkm_ctx_rank(r->ctx), size = dkm_ctx_size(r->ctx);
    dkm_idx begin = first + dkm_slab_first(count, rank, size);
    dkm_idx n = dkm_slab_count(count, rank, size), lengths[BATCH_NUMBERS / 4096];
    char string[GEN_STRING_MOST];
    dkm_status status = DKM_OK;

    for (dkm_idx i = 0; i < n; i++)
        lengths[i] = file->letters(file->user, begin + i, string);
    DKM_TRY(dkm_data_create_strings(r->ctx, count, lengths, data));
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx length;
        char *letters = dkm_data_string(*data, i, &length);
        file->letters(file->user, begin + i, string);
        memcpy(letters, string, (size_t)length);
    }
out:
    return status;
}

static dkm_status make_numbers(run *r, const gen_file *file, dkm_idx first, dkm_idx count,
                               dkm_data **data)
{
    dkm_status status = file->d == 0 ? dkm_data_create_labels(r->ctx, count, data)
                                     : dkm_data_create_dense(r->ctx, count, file->d, data);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*data); i++)
        file->numbers(file->user, first + dkm_data_local_first(*data) + i,
                      dkm_data_values(*data) + i * dkm_data_cols(*data));
    return status;
}

static dkm_idx gen_batch_rows(const gen_file *file)
{
    dkm_idx most = file->d < 0 ? BATCH_NUMBERS / 4096 : BATCH_NUMBERS / (file->d + 1);

    return most > 0 ? most : 1;
}

/* All rows in batches. */
static dkm_status gen_write_rows(run *r, const gen_file *file, dkm_sink *sink)
{
    dkm_status status = DKM_OK;
    dkm_idx step = gen_batch_rows(file), count;
    dkm_data *data = NULL;

    dkm_phase_begin(r->ctx, "gen");
    for (dkm_idx first = 0; first < file->n; first += count) {
        count = file->n - first < step ? file->n - first : step;
        DKM_TRY(file->letters ? gen_make_strings(r, file, first, count, &data)
                              : make_numbers(r, file, first, count, &data));
        DKM_TRY(dkm_sink_write(sink, data));
        dkm_data_destroy(&data);
        dkm_progress(r->ctx, (double)(first + count), (double)file->n);
    }
out:
    dkm_phase_end(r->ctx);
    dkm_data_destroy(&data);
    return status;
}

dkm_status gen_write(run *r, const gen_file *file)
{
    char path[PATH_MOST];
    dkm_type type = file->letters ? DKM_STRINGS : file->d == 0 ? DKM_LABELS : DKM_DENSE;
    dkm_status status = DKM_OK;
    dkm_sink *sink = NULL;

    snprintf(path, sizeof path, "%s/%s", args_text(r->args, "out-dir"), file->name);
    DKM_TRY(dkm_sink_open(r->ctx, path, type, file->n, file->d, &sink));
    DKM_TRY(gen_write_rows(r, file, sink));
    DKM_TRY(dkm_sink_commit(sink));
    run_show(r, "file", path);
out:
    dkm_sink_close(&sink);
    return status;
}
