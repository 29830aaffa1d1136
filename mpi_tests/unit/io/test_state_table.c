#include <stdio.h>
#include <string.h>

#include <dkmap/checkpoint.h>
#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpoint_dir.h"
#include "io/checkpoint/checkpointer.h"
#include "matrix/dmat_impl.h"
#include "support/check.h"
#include "support/fixture_files.h"

#define ROWS 11
#define COLS 3
#define LD   5
#define N    7

static char scene[FILES_PATH];

/* A state of every type. */
typedef struct state {
    int steps;
    dkm_idx count, index[2];
    double reals[4];
    double *rows; /* this rank's of ROWS, LD apart */
    dkm_dmat *A;
} state;

#define FIELDS(s)                                                                                  \
    DKM_STATE_ONE("steps", DKM_STATE_INT, &(s)->steps),                                            \
        DKM_STATE_ONE("count", DKM_STATE_COUNT, &(s)->count),                                      \
        DKM_STATE_ARRAY("index", DKM_STATE_INDEX, (s)->index, 2),                                  \
        DKM_STATE_ARRAY("reals", DKM_STATE_REAL, (s)->reals, 4),                                   \
        {"rows", DKM_STATE_ROWS, (s)->rows, ROWS, COLS, LD}, DKM_STATE_MATRIX("A", (s)->A)

static double entry(void *user, dkm_idx ig, dkm_idx jg)
{
    return *(const double *)user * (double)(10 * ig + jg);
}

static dkm_idx own_rows(dkm_ctx *ctx)
{
    return dkm_slab_count(ROWS, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
}

static dkm_status open_state(dkm_ctx *ctx, dkm_grid *grid, double factor, state *s)
{
    dkm_status status = DKM_OK;
    dkm_idx first = dkm_slab_first(ROWS, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    *s = (state){.steps = (int)(3 * factor),
                 .count = (dkm_idx)(1e12 * factor),
                 .index = {-1, (dkm_idx)(4 * factor)},
                 .reals = {0.1 * factor, -2 * factor, 1e-300 * factor, 1e300 * factor}};
    DKM_AGREE(ctx, dkm_calloc(ctx, own_rows(ctx) * LD, &s->rows));
    for (dkm_idx i = 0; i < own_rows(ctx); i++)
        for (dkm_idx j = 0; j < COLS; j++)
            s->rows[i * LD + j] = factor * (double)(100 * (first + i) + j);
    DKM_TRY(dkm_dmat_create(grid, N, N, 2, 2, DKM_F64, &s->A));
    dkm_dmat_fill(s->A, entry, &factor);
out:
    return status;
}

static void close_state(state *s)
{
    DKM_FREE(s->rows);
    dkm_dmat_destroy(&s->A);
}

static dkm_status open_checkpoint(dkm_ctx *ctx, int resume, dkm_checkpoint **c)
{
    dkm_checkpoint_settings s = dkm_checkpoint_settings_default();

    s.dir = scene;
    s.settings = "--gamma 1\n";
    s.command = "test";
    s.resume = resume;
    return dkm_checkpoint_open(ctx, &s, c);
}

static void check_same(dkm_ctx *ctx, const state *a, const state *b)
{
    CHECK(a->steps == b->steps && a->count == b->count);
    CHECK(memcmp(a->index, b->index, sizeof a->index) == 0);
    CHECK(memcmp(a->reals, b->reals, sizeof a->reals) == 0);
    for (dkm_idx i = 0; i < own_rows(ctx); i++)
        CHECK(memcmp(a->rows + i * LD, b->rows + i * LD, COLS * sizeof *a->rows) == 0);
    for (dkm_idx jl = 0; jl < a->A->n_loc; jl++)
        for (dkm_idx il = 0; il < a->A->m_loc; il++)
            if (dkm_dmat_global_row(a->A, il) >= dkm_dmat_global_col(a->A, jl))
                CHECK(dkm_dmat_at(a->A, il, jl) == dkm_dmat_at(b->A, il, jl));
}

static void leave(dkm_ctx *ctx, dkm_checkpoint **c)
{
    char folder[FILES_PATH];

    dkm_checkpoint_close(c);
    files_name(scene, DKM_CHECKPOINT_FOLDER, folder);
    files_close(ctx, folder);
    files_close(ctx, scene);
}

static void every_type_comes_back_to_the_bit(dkm_ctx *ctx)
{
    dkm_checkpoint *c = NULL;
    dkm_grid *grid = NULL;
    state saved, loaded;
    int found = 0;

    files_open(ctx, scene);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, open_state(ctx, grid, 1, &saved));
    CHECK_OK(ctx, open_state(ctx, grid, 2, &loaded));
    dkm_state_field out[] = {FIELDS(&saved)}, in[] = {FIELDS(&loaded)};
    CHECK_CLOSE(dkm_state_bytes(DKM_STATE_TABLE(out)),
                8.0 * (1 + 1 + 2 + 4 + ROWS * COLS + N * (N + 1) / 2), 0);
    CHECK_OK(ctx, open_checkpoint(ctx, 0, &c));
    CHECK_OK(ctx, dkm_checkpointer_save_table(ctx, "stage", DKM_STATE_TABLE(out)));
    CHECK_OK(ctx, dkm_checkpointer_load_table(ctx, "other stage", DKM_STATE_TABLE(in), &found));
    CHECK(!found && loaded.steps == 6);
    dkm_checkpoint_close(&c);
    CHECK_OK(ctx, open_checkpoint(ctx, 1, &c));
    CHECK_OK(ctx, dkm_checkpointer_load_table(ctx, "stage", DKM_STATE_TABLE(in), &found));
    CHECK(found);
    check_same(ctx, &saved, &loaded);
    close_state(&loaded);
    close_state(&saved);
    dkm_grid_destroy(&grid);
    leave(ctx, &c);
}

/* Save one number and read it as something that it is not. */
static void refuse(dkm_ctx *ctx, double number, dkm_state_field field)
{
    dkm_state_field out[] = {DKM_STATE_ONE("number", DKM_STATE_REAL, &number)};
    dkm_archive archive = dkm_archive_empty(ctx);

    CHECK_OK(ctx, dkm_agree(ctx, dkm_state_put(&archive, DKM_STATE_TABLE(out))));
    CHECK(dkm_state_get(&archive, 1, &field) == DKM_ERR_FORMAT);
    CHECK(strstr(dkm_ctx_message(ctx), field.name) != NULL);
    dkm_archive_clear(&archive);
}

static void fields_that_do_not_fit_are_refused_by_name(dkm_ctx *ctx)
{
    double reals[2] = {0, 0};
    dkm_idx whole = 0;
    int step = 0;

    refuse(ctx, 1.5, (dkm_state_field)DKM_STATE_ONE("number", DKM_STATE_COUNT, &whole));
    refuse(ctx, -1, (dkm_state_field)DKM_STATE_ONE("number", DKM_STATE_COUNT, &whole));
    refuse(ctx, -2, (dkm_state_field)DKM_STATE_ONE("number", DKM_STATE_INDEX, &whole));
    refuse(ctx, 3e9, (dkm_state_field)DKM_STATE_ONE("number", DKM_STATE_INT, &step));
    refuse(ctx, 1, (dkm_state_field)DKM_STATE_ARRAY("number", DKM_STATE_REAL, reals, 2));
    refuse(ctx, 1, (dkm_state_field)DKM_STATE_ONE("missing", DKM_STATE_REAL, reals));
    refuse(ctx, 1, (dkm_state_field)DKM_STATE_SLAB("number", reals, 1, 1));
    CHECK(whole == 0 && step == 0 && reals[0] == 0 && reals[1] == 0);
}

/* Data and text tell stages apart, on any number of ranks; without a checkpointer nobody asks. */
static void fingerprints_name_data_and_kernel(dkm_ctx *ctx)
{
    dkm_checkpoint *c = NULL;
    dkm_data *X = NULL;
    uint64_t rbf, linear, other;

    CHECK_OK(ctx, dkm_data_create_dense(ctx, ROWS, 2, &X));
    for (dkm_idx k = 0; k < 2 * dkm_data_local_rows(X); k++)
        dkm_data_values(X)[k] = (double)(2 * dkm_data_local_first(X) + k);
    CHECK(dkm_checkpointer_fingerprint(X, "linear") == 0);
    files_open(ctx, scene);
    CHECK_OK(ctx, open_checkpoint(ctx, 0, &c));
    linear = dkm_checkpointer_fingerprint(X, "linear");
    rbf = dkm_checkpointer_fingerprint(X, "rbf(sigma=1)");
    if (dkm_data_local_first(X) == 0 && dkm_data_local_rows(X) > 0)
        dkm_data_values(X)[0] = 0.5;
    other = dkm_checkpointer_fingerprint(X, "linear");
    CHECK(linear != 0 && linear != rbf && linear != other);
    leave(ctx, &c);
    dkm_data_destroy(&X);
}

static dkm_status save_and_load(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_archive archive = dkm_archive_empty(ctx);
    double reals[4] = {1, 2, 3, 4};
    dkm_state_field fields[] = {DKM_STATE_ARRAY("reals", DKM_STATE_REAL, reals, 4)};

    DKM_AGREE(ctx, dkm_state_put(&archive, DKM_STATE_TABLE(fields)));
    DKM_TRY(dkm_state_get(&archive, DKM_STATE_TABLE(fields)));
out:
    dkm_archive_clear(&archive);
    return status;
}

static void brutal(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, save_and_load);
}

static const check_case cases[] = {CASE(every_type_comes_back_to_the_bit),
                                   CASE(fields_that_do_not_fit_are_refused_by_name),
                                   CASE(fingerprints_name_data_and_kernel), CASE(brutal)};

CHECK_MAIN(cases)
