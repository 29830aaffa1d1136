#include <dkmap/checkpoint.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "io/archive/archive_file.h"
#include "io/checkpoint/checkpoint_dir.h"
#include "io/checkpoint/checkpointer.h"

#define SHARE      20.0 /* the time since the last state is at least so many times that of saving */
#define FIRST_RATE 5e8  /* bytes a second, until one is measured */
#define MEASURABLE 1e6  /* bytes of a state long enough to measure the rate */
#define STATES     2    /* states of each stage */
#define LINE       64   /* characters of a line about data */

#define OLDEST_FORMAT 2 /* of states to go on from */

typedef enum decision { GO_ON, SAVE, STOP_IN_TIME, STOP_ON_SIGNAL } decision;

struct dkm_checkpoint {
    dkm_checkpointer checkpointer; /* first: computations see only this */
    dkm_ctx *ctx;
    dkm_checkpoint_settings settings;
    char *dir, *folder; /* as given, and ours within it */
    char *path;         /* of a file in that */
    char run[DKM_RUN_LENGTH];
    char *settings_text, *command; /* copies of the settings' texts */
    char *data, *old_data;         /* lines about the data read so far, and in the run before */
    dkm_idx lines;
    long first, next; /* numbers of this run's files */
    int cleaned;
    double saved_at, point_at, longest; /* last state, last safe point, longest way between two */
    double rate, spent;
    decision wanted;
};

dkm_checkpoint_settings dkm_checkpoint_settings_default(void)
{
    return (dkm_checkpoint_settings){.every = 300.0};
}

static dkm_checkpoint *self_of(dkm_checkpointer *checkpointer)
{
    return (dkm_checkpoint *)(void *)checkpointer;
}

static void checkpoint_name_file(dkm_checkpoint *c, const char *name)
{
    snprintf(c->path, strlen(c->folder) + DKM_NAME_LENGTH + 2, "%s/%s", c->folder, name);
}

/* Files of this run, of a stage or, where the stem is "", of all. */
static dkm_checkpoint_files own(const dkm_checkpoint *c, const char *stem)
{
    return (dkm_checkpoint_files){c->folder, stem, c->run};
}

/* Whether lines about the data of another run are about those of this one, as far as both go. */
static int same_data(const dkm_checkpoint *c, const char *data)
{
    size_t mine = strlen(c->data), theirs = strlen(data);

    return strncmp(c->data, data, mine < theirs ? mine : theirs) == 0;
}

/* What rank 0's clock says, before signals are looked at. */
static decision by_the_clock(const dkm_checkpoint *c, double now, double bytes, int finished)
{
    double cost = bytes / c->rate, since = now - c->saved_at;
    double limit = c->settings.max_time, age = now - c->settings.started;

    if (limit > 0 && age + c->longest + 2.0 * cost >= limit)
        return STOP_IN_TIME;
    if (c->settings.every <= 0)
        return SAVE;
    return since >= SHARE * cost && (finished || since >= c->settings.every) ? SAVE : GO_ON;
}

static int due(dkm_checkpointer *checkpointer, double bytes, int finished)
{
    dkm_checkpoint *c = self_of(checkpointer);
    double now = MPI_Wtime();
    int mine = GO_ON, all = GO_ON;

    c->longest = now - c->point_at > c->longest ? now - c->point_at : c->longest;
    c->point_at = now;
    if (dkm_ctx_rank(c->ctx) == 0)
        mine = (int)by_the_clock(c, now, bytes, finished);
    if (c->settings.asked && c->settings.asked())
        mine = STOP_ON_SIGNAL;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(c->ctx));
    c->wanted = (decision)all;
    return all != GO_ON;
}

static dkm_local add_parts(const dkm_checkpoint *c, const char *stage, dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_text(state, "stage", stage));
    DKM_STEP(dkm_archive_put_text(state, "settings", c->settings_text));
    DKM_STEP(dkm_archive_put_text(state, "data_read", c->data));
out:
    return local;
}

static double checkpoint_bytes_of(const dkm_archive *state)
{
    double bytes = 0;

    for (dkm_idx k = 0; k < state->count; k++)
        if (state->parts[k].kind == DKM_ENTRY_ROWS)
            bytes += dkm_matrix_entry_bytes(&state->parts[k].rows);
    return bytes;
}

/* The name of the newest file below a number, as rank 0 finds it. */
static long newest(dkm_checkpoint *c, dkm_checkpoint_files files, long below)
{
    char name[DKM_NAME_LENGTH] = "";
    long number = -1;

    if (dkm_ctx_rank(c->ctx) == 0)
        number = dkm_checkpoint_dir_newest(&files, below, name);
    MPI_Bcast(&number, 1, MPI_LONG, 0, dkm_ctx_comm(c->ctx));
    MPI_Bcast(name, DKM_NAME_LENGTH, MPI_CHAR, 0, dkm_ctx_comm(c->ctx));
    if (number >= 0)
        checkpoint_name_file(c, name);
    return number;
}

/* States from before a kernel was redefined hold values of the old one. */
static dkm_local check_format(dkm_checkpoint *c, const dkm_archive_header *header)
{
    if (header->version >= OLDEST_FORMAT)
        return DKM_LOCAL_OK;
    return dkm_fail(c->ctx, DKM_ERR_FORMAT,
                    "%s: a checkpoint of format %lld, and this dkmap goes "
                    "on from formats %d to %d",
                    c->path, (long long)header->version, OLDEST_FORMAT, DKM_BUNDLE_VERSION);
}

/* Load c->path; a damaged file is reported and skipped. */
static dkm_status try_file(dkm_checkpoint *c, dkm_archive *state, int *good)
{
    dkm_archive_header header = {0};
    dkm_status status = dkm_archive_load_sealed(c->ctx, c->path, state, &header);

    if (status == DKM_OK)
        status = dkm_agree(c->ctx, check_format(c, &header));
    dkm_archive_header_clear(&header);
    *good = status == DKM_OK;
    if (status == DKM_ERR_MEMORY || status == DKM_OK)
        return status;
    dkm_log(c->ctx, DKM_WARN, "%s: looking for the checkpoint before it", dkm_ctx_message(c->ctx));
    dkm_archive_clear(state);
    return DKM_OK;
}

/* Whether the state in c->path is of a run on the same data as this one. */
static dkm_status is_of_this_run(dkm_checkpoint *c, int *ours)
{
    dkm_status status = DKM_OK;
    dkm_archive state = dkm_archive_empty(c->ctx);
    dkm_archive_header header = {0};
    const char *settings = NULL, *data = NULL;

    *ours = 0;
    DKM_TRY(dkm_archive_load_sealed(c->ctx, c->path, &state, &header));
    DKM_AGREE(c->ctx, dkm_archive_text(&state, "settings", &settings));
    DKM_AGREE(c->ctx, dkm_archive_text(&state, "data_read", &data));
    *ours = strcmp(settings, c->settings_text) == 0 && same_data(c, data);
out:
    dkm_archive_header_clear(&header);
    dkm_archive_clear(&state);
    return status;
}

/* Remove what an earlier run with these settings and data left, once there is a state of this one;
 * what cannot be read stays. */
static void remove_earlier(dkm_checkpoint *c)
{
    dkm_checkpoint_files files = own(c, "");
    long number = c->first;
    int ours;

    while ((number = newest(c, files, number)) >= 0)
        if (is_of_this_run(c, &ours) == DKM_OK && ours && dkm_ctx_rank(c->ctx) == 0)
            dkm_checkpoint_remove(c->folder, c->path + strlen(c->folder) + 1);
}

/* A run that starts over leaves the states of the one before until it has its own. Collective. */
static void prune(dkm_checkpoint *c, const char *stem)
{
    dkm_checkpoint_files files = own(c, stem);

    if (!c->settings.resume && !c->cleaned)
        remove_earlier(c);
    c->cleaned = 1;
    if (dkm_ctx_rank(c->ctx) == 0)
        dkm_checkpoint_dir_prune(&files, LONG_MAX, STATES);
}

static dkm_status write_state(dkm_checkpoint *c, const char *stage, dkm_archive *state)
{
    dkm_status status = DKM_OK;
    char stem[DKM_STEM_LENGTH], name[DKM_NAME_LENGTH];

    dkm_checkpoint_dir_stem(stage, stem);
    snprintf(name, sizeof name, "%s-%s-%06ld.h5", stem, c->run, c->next++);
    checkpoint_name_file(c, name);
    DKM_AGREE(c->ctx, add_parts(c, stage, state));
    DKM_TRY(dkm_archive_save(state, c->path, "checkpoint", c->command));
    prune(c, stem);
    checkpoint_name_file(c, name);
out:
    return status;
}

static dkm_status stop(dkm_checkpoint *c)
{
    return dkm_agree(c->ctx,
                     dkm_fail(c->ctx, DKM_ERR_STOPPED,
                              "stopped %s: the state is in %s; the same command with "
                              "--resume goes on from there",
                              c->wanted == STOP_ON_SIGNAL ? "on a signal" : "in time", c->path));
}

static dkm_status save(dkm_checkpointer *checkpointer, const char *stage, dkm_archive *state)
{
    dkm_checkpoint *c = self_of(checkpointer);
    double bytes = checkpoint_bytes_of(state), from, took;
    dkm_status status;

    dkm_phase_begin(c->ctx, "checkpoint");
    from = MPI_Wtime();
    status = write_state(c, stage, state);
    took = MPI_Wtime() - from;
    dkm_phase_end(c->ctx);
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, dkm_ctx_comm(c->ctx));
    c->spent += took;
    c->saved_at = c->point_at = MPI_Wtime();
    if (status != DKM_OK) {
        dkm_log(c->ctx, DKM_WARN, "no checkpoint of this state: %s; the run goes on",
                dkm_ctx_message(c->ctx));
        return DKM_OK;
    }
    if (bytes >= MEASURABLE && took > 0)
        c->rate = bytes / took;
    dkm_log(c->ctx, DKM_DEBUG, "checkpoint %s in %.2f s", c->path, took);
    return c->wanted >= STOP_IN_TIME ? stop(c) : DKM_OK;
}

/* Whether a state is of this stage, these settings and these data: names hold but a hash. */
static dkm_local match(const dkm_checkpoint *c, const dkm_archive *state, const char *stage,
                       int *matches)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *stored = NULL, *settings = NULL, *data = NULL;

    DKM_STEP(dkm_archive_text(state, "stage", &stored));
    DKM_STEP(dkm_archive_text(state, "settings", &settings));
    DKM_STEP(dkm_archive_text(state, "data_read", &data));
    *matches =
        strcmp(stored, stage) == 0 && strcmp(settings, c->settings_text) == 0 && same_data(c, data);
out:
    return local;
}

/* The newest good state among some files; of a stage, where that is not NULL. */
static dkm_status newest_good(dkm_checkpoint *c, dkm_checkpoint_files files, const char *stage,
                              dkm_archive *state, int *found)
{
    dkm_status status = DKM_OK;
    long number = LONG_MAX;

    *found = 0;
    while (!*found && (number = newest(c, files, number)) >= 0) {
        DKM_TRY(try_file(c, state, found));
        if (*found && stage)
            DKM_AGREE(c->ctx, match(c, state, stage, found));
        if (!*found)
            dkm_archive_clear(state);
    }
out:
    return status;
}

static dkm_status checkpoint_find(dkm_checkpointer *checkpointer, const char *stage,
                                  dkm_archive *state, int *found)
{
    dkm_checkpoint *c = self_of(checkpointer);
    dkm_status status = DKM_OK;
    char stem[DKM_STEM_LENGTH];

    if (!c->settings.resume)
        return DKM_OK;
    dkm_checkpoint_dir_stem(stage, stem);
    DKM_TRY(newest_good(c, own(c, stem), stage, state, found));
    if (*found)
        dkm_log(c->ctx, DKM_INFO, "going on from %s", c->path);
out:
    return status;
}

static dkm_local checkpoint_check_settings(dkm_checkpoint *c, const char *before)
{
    char mine[200] = "", theirs[200] = "";

    if (!dkm_checkpoint_dir_compare(c->settings_text, before, mine, theirs, sizeof mine))
        return DKM_LOCAL_OK;
    return dkm_fail(c->ctx, DKM_ERR_ARG,
                    "%s holds checkpoints of a run with other settings: there '%s', here '%s'; use "
                    "the same settings, another --checkpoint, or no --resume",
                    c->dir, *theirs ? theirs : "nothing", *mine ? mine : "nothing");
}

/* What the run before was, from its newest good file; where there are only files of runs with other
 * settings, they are reported. */
static dkm_status look_back(dkm_checkpoint *c)
{
    dkm_status status = DKM_OK;
    dkm_archive state = dkm_archive_empty(c->ctx);
    const char *settings = NULL, *data = NULL;
    const dkm_checkpoint_files any = {c->folder, "", ""};
    int found = 0;

    DKM_TRY(newest_good(c, own(c, ""), NULL, &state, &found));
    if (!found)
        DKM_TRY(newest_good(c, any, NULL, &state, &found));
    if (!found) {
        dkm_log(c->ctx, DKM_INFO, "no checkpoint in %s yet: starting from the beginning", c->dir);
        goto out;
    }
    DKM_AGREE(c->ctx, dkm_archive_text(&state, "settings", &settings));
    DKM_AGREE(c->ctx, dkm_archive_text(&state, "data_read", &data));
    DKM_AGREE(c->ctx, checkpoint_check_settings(c, settings));
    DKM_AGREE(c->ctx, dkm_strdup(c->ctx, data, &c->old_data));
out:
    dkm_archive_clear(&state);
    return status;
}

/* A line about one file's data, added to those before. */
static dkm_local checkpoint_add_line(dkm_checkpoint *c, uint64_t data)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t used = strlen(c->data);
    const char *old = c->old_data && strlen(c->old_data) > used ? c->old_data + used : NULL;

    DKM_STEP(dkm_realloc(c->ctx, (dkm_idx)used + LINE, &c->data));
    snprintf(c->data + used, LINE, "%lld %016llx\n", (long long)++c->lines,
             (unsigned long long)data);
    if (old && strncmp(old, c->data + used, strlen(c->data + used)) != 0)
        local = dkm_fail(c->ctx, DKM_ERR_ARG,
                         "%s holds checkpoints of a run on other data: file %lld of this run has "
                         "changed; use the same data, another --checkpoint, or no --resume",
                         c->dir, (long long)c->lines);
out:
    return local;
}

static dkm_status checkpoint_note(dkm_checkpointer *checkpointer, uint64_t data)
{
    dkm_checkpoint *c = self_of(checkpointer);

    return dkm_agree(c->ctx, checkpoint_add_line(c, data));
}

static dkm_local checkpoint_allocate(dkm_checkpoint *c, const dkm_checkpoint_settings *s)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t size = strlen(s->dir) + sizeof DKM_CHECKPOINT_FOLDER + 1;

    DKM_STEP(dkm_strdup(c->ctx, s->dir, &c->dir));
    DKM_STEP(dkm_strdup(c->ctx, s->settings ? s->settings : "", &c->settings_text));
    DKM_STEP(dkm_strdup(c->ctx, s->command ? s->command : "", &c->command));
    DKM_STEP(dkm_strdup(c->ctx, "", &c->data));
    DKM_STEP(dkm_calloc(c->ctx, (dkm_idx)size, &c->folder));
    snprintf(c->folder, size, "%s/%s", c->dir, DKM_CHECKPOINT_FOLDER);
    dkm_checkpoint_run(c->settings_text, c->run);
    DKM_STEP(dkm_calloc(c->ctx, (dkm_idx)size + DKM_NAME_LENGTH + 2, &c->path));
out:
    return local;
}

/* Rank 0: the folder, without what a run that was killed left half written. */
static dkm_local make_folder(dkm_checkpoint *c)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_checkpoint_files files = own(c, "");

    DKM_STEP(dkm_checkpoint_dir_make(c->ctx, c->dir, c->folder));
    dkm_checkpoint_sweep(&files);
out:
    return local;
}

dkm_status dkm_checkpoint_open(dkm_ctx *ctx, const dkm_checkpoint_settings *settings,
                               dkm_checkpoint **checkpoint)
{
    dkm_status status = DKM_OK;
    dkm_checkpoint *c = NULL;

    *checkpoint = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &c));
    *c = (dkm_checkpoint){.ctx = ctx, .settings = *settings, .rate = FIRST_RATE};
    c->checkpointer = (dkm_checkpointer){
        .due = due, .save = save, .find = checkpoint_find, .note = checkpoint_note};
    c->saved_at = c->point_at = MPI_Wtime();
    DKM_AGREE(ctx, checkpoint_allocate(c, settings));
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? make_folder(c) : DKM_LOCAL_OK);
    c->first = c->next = newest(c, (dkm_checkpoint_files){c->folder, "", ""}, LONG_MAX) + 1;
    if (settings->resume)
        DKM_TRY(look_back(c));
    dkm_ctx_set_checkpointer(ctx, &c->checkpointer);
    *checkpoint = c;
    c = NULL;
out:
    dkm_checkpoint_close(&c);
    return status;
}

double dkm_checkpoint_seconds(const dkm_checkpoint *checkpoint)
{
    return checkpoint->spent;
}

void dkm_checkpoint_close(dkm_checkpoint **checkpoint)
{
    dkm_checkpoint *c = *checkpoint;

    if (!c)
        return;
    if (c->ctx && dkm_ctx_checkpointer(c->ctx) == &c->checkpointer)
        dkm_ctx_set_checkpointer(c->ctx, NULL);
    DKM_FREE(c->old_data);
    DKM_FREE(c->data);
    DKM_FREE(c->command);
    DKM_FREE(c->settings_text);
    DKM_FREE(c->path);
    DKM_FREE(c->folder);
    DKM_FREE(c->dir);
    DKM_FREE(*checkpoint);
}
