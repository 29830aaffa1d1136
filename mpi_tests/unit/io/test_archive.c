#include <glob.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>

#include "support/fixture_archive.h"
#include "support/scratch.h"

/* Run @p job on a context of the first @p ranks ranks. */
static void on_ranks(dkm_ctx *ctx, int ranks, void (*job)(dkm_ctx *few, const char *path),
                     const char *path)
{
    int inside = dkm_ctx_rank(ctx) < ranks;
    dkm_ctx *few = NULL;
    MPI_Comm comm;

    MPI_Comm_split(dkm_ctx_comm(ctx), inside ? 0 : MPI_UNDEFINED, 0, &comm);
    if (inside) {
        CHECK(dkm_ctx_create(comm, &few) == DKM_OK);
        job(few, path);
        CHECK(dkm_ctx_live_blocks(few) == 0);
        dkm_ctx_destroy(&few);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
}

#define ROWS 101

static int writers;

static void load_rows(dkm_ctx *few, const char *path)
{
    fixture_store_check(few, ROWS, path, writers);
}

static void save_rows(dkm_ctx *few, const char *path)
{
    CHECK_OK(few, fixture_store_save(few, ROWS, path));
}

static void all_types_come_back_on_any_number_of_ranks(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    int size = dkm_ctx_size(ctx);

    scratch_path(ctx, "all.h5", path);
    for (writers = 1; writers <= size; writers++) {
        on_ranks(ctx, writers, save_rows, path);
        for (int readers = 1; readers <= size; readers++)
            on_ranks(ctx, readers, load_rows, path);
    }
    scratch_remove(ctx, path);
}

static void few_objects_and_none_come_back(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "few.h5", path);
    for (dkm_idx m = 0; m <= 3; m++) {
        CHECK_OK(ctx, fixture_store_save(ctx, m, path));
        fixture_store_check(ctx, m, path, dkm_ctx_size(ctx));
    }
    scratch_remove(ctx, path);
}

static int temporaries_of(const char *path)
{
    char pattern[SCRATCH_LENGTH + 8];
    glob_t found;
    int count;

    snprintf(pattern, sizeof pattern, "%s.*", path);
    count = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return count;
}

static void a_path_that_cannot_be_written_is_told(dkm_ctx *ctx)
{
    CHECK(fixture_store_save(ctx, 3, "/nonexistent/dir/m.h5") == DKM_ERR_IO);
    CHECK(strstr(dkm_ctx_message(ctx), "/nonexistent/dir/m.h5") != NULL);
    CHECK(fixture_store_save(ctx, 3, "/") == DKM_ERR_IO);
}

/* The system lets no file of this rank grow past a limit, as a full disk would not. */
static void a_full_disk_leaves_the_old_file(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    struct rlimit old, tight;

    scratch_path(ctx, "full.h5", path);
    CHECK_OK(ctx, fixture_store_save(ctx, ROWS, path));
    signal(SIGXFSZ, SIG_IGN);
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++) {
        getrlimit(RLIMIT_FSIZE, &old);
        tight = old;
        tight.rlim_cur = 4096;
        if (dkm_ctx_rank(ctx) == victim)
            setrlimit(RLIMIT_FSIZE, &tight);
        CHECK(fixture_store_save(ctx, 2000, path) == DKM_ERR_IO);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK(strstr(dkm_ctx_message(ctx), path) != NULL);
        MPI_Barrier(dkm_ctx_comm(ctx));
        CHECK(temporaries_of(path) == 0);
    }
    fixture_store_check(ctx, ROWS, path, dkm_ctx_size(ctx));
    scratch_remove(ctx, path);
}

static char brutal_path[SCRATCH_LENGTH];

static dkm_status attempt_save(dkm_ctx *ctx)
{
    return fixture_store_save(ctx, 5, brutal_path);
}

static dkm_status attempt_load(dkm_ctx *ctx)
{
    return fixture_store_load(ctx, brutal_path);
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    const int victims[] = {0, dkm_ctx_size(ctx) - 1};

    scratch_path(ctx, "brutal.h5", brutal_path);
    for (int k = 0; k < 2; k++) {
        check_every_allocation(ctx, victims[k], attempt_save);
        check_every_allocation(ctx, victims[k], attempt_load);
    }
    CHECK(temporaries_of(brutal_path) == 0);
    CHECK(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
    scratch_remove(ctx, brutal_path);
}

static const check_case cases[] = {
    CASE(all_types_come_back_on_any_number_of_ranks),
    CASE(few_objects_and_none_come_back),
    CASE(a_path_that_cannot_be_written_is_told),
    CASE(a_full_disk_leaves_the_old_file),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
