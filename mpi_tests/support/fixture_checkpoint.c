#include "support/fixture_checkpoint.h"

#include "io/checkpoint/checkpoint_dir.h"

void checkpoint_folder(const char *dir, char folder[FILES_PATH])
{
    files_name(dir, DKM_CHECKPOINT_FOLDER, folder);
}

int checkpoint_states(dkm_ctx *ctx, const char *dir)
{
    char folder[FILES_PATH];

    checkpoint_folder(dir, folder);
    return files_count(ctx, folder) - 1;
}

void checkpoint_clear(dkm_ctx *ctx, const char *dir)
{
    char folder[FILES_PATH];

    checkpoint_folder(dir, folder);
    files_close(ctx, folder);
    files_close(ctx, dir);
}

static int points_left = -1;

static int asked(void)
{
    return points_left >= 0 && points_left-- == 0;
}

dkm_status checkpoint_open_at(dkm_ctx *ctx, const char *dir, int resume, int stop_after,
                              dkm_checkpoint **c)
{
    dkm_checkpoint_settings s = dkm_checkpoint_settings_default();

    s.dir = dir;
    s.resume = resume;
    s.every = 0;
    s.started = MPI_Wtime();
    s.asked = asked;
    s.settings = CHECKPOINT_SETTINGS;
    points_left = dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1 ? stop_after : -1;
    return dkm_checkpoint_open(ctx, &s, c);
}
