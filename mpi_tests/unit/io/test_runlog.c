#include <dkmap/runlog.h>

#include <jansson.h>
#include <math.h>

#include "support/scratch.h"

/* Line number @p at (from 0) of a record file, to be freed by json_decref(); NULL when it is not
 * there or not JSON. */
static json_t *line_of(const char *path, int at)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    json_t *found = NULL;

    for (int k = 0; f && k <= at && getline(&line, &room, f) > 0; k++)
        if (k == at)
            found = json_loads(line, 0, NULL);
    free(line);
    if (f)
        fclose(f);
    return found;
}

static double number(const json_t *at, const char *first, const char *second)
{
    json_t *value = json_object_get(at, first);

    return json_number_value(second ? json_object_get(value, second) : value);
}

/* Of the fullest rank. */
static double peak_allocated(dkm_ctx *ctx)
{
    double mine = (double)dkm_ctx_peak_bytes(ctx), all;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    return all;
}

static void a_record_holds_what_was_put(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    double before, after, allocated;
    dkm_runlog *record = NULL;
    json_t *line, *phase;

    scratch_path(ctx, "put.json", path);
    CHECK_OK(ctx, dkm_runlog_create(ctx, "dkmap fit krr --x \"a b.npy\"", &record));
    dkm_phase_begin(ctx, "work");
    dkm_phase_flops(ctx, 1000.0);
    dkm_phase_end(ctx);
    before = peak_allocated(ctx);
    dkm_runlog_text(record, "settings.kernel", "rbf(sigma=2)");
    dkm_runlog_real(record, "settings.gamma", 0.1);
    dkm_runlog_real(record, "loss.mean", 0.25);
    dkm_runlog_real(record, "loss.stderr", NAN);
    dkm_runlog_int(record, "m", INT64_MAX);
    CHECK_OK(ctx, dkm_runlog_append(record, path));
    dkm_runlog_destroy(&record);
    CHECK(record == NULL);
    after = peak_allocated(ctx);

    line = line_of(path, 0);
    CHECK(line != NULL);
    CHECK(strcmp(json_string_value(json_object_get(line, "program")), "dkmap") == 0);
    CHECK(strcmp(json_string_value(json_object_get(line, "version")), DKMAP_VERSION) == 0);
    CHECK(strcmp(json_string_value(json_object_get(line, "command")),
                 "dkmap fit krr --x \"a b.npy\"") == 0);
    CHECK(strlen(json_string_value(json_object_get(line, "date"))) == 20);
    CHECK(number(line, "ranks", NULL) == dkm_ctx_size(ctx));
    CHECK(number(line, "nodes", NULL) >= 1 && number(line, "threads", NULL) >= 1);
    CHECK(json_integer_value(json_object_get(line, "m")) == INT64_MAX);
    CHECK(number(line, "settings", "gamma") == 0.1 && number(line, "loss", "mean") == 0.25);
    CHECK(json_is_null(json_object_get(json_object_get(line, "loss"), "stderr")));
    CHECK(number(line, "peak_resident_bytes", "max") >=
          number(line, "peak_resident_bytes", "mean"));
    CHECK(number(line, "peak_resident_bytes", "min") > 1e6);
    CHECK(number(line, "peak_private_bytes", "min") > 0);
    CHECK(number(line, "peak_private_bytes", "max") < number(line, "peak_resident_bytes", "max"));
    CHECK(number(line, "peak_proportional_bytes", "min") >= 0);
    CHECK(number(line, "peak_proportional_bytes", "max") <=
          number(line, "peak_resident_bytes", "max"));
    allocated = number(line, "peak_allocated_bytes", "max");
    CHECK(allocated > 0 && allocated >= before && allocated <= after);
    phase = json_object_get(json_object_get(line, "phases"), "work");
    CHECK(number(phase, "calls", NULL) == 1 && number(phase, "flops", NULL) >= 1000.0);
    CHECK(number(phase, "seconds", "max") >= number(phase, "seconds", "min"));
    CHECK(number(phase, "seconds", "min") <= number(line, "seconds", NULL));
    json_decref(line);
    scratch_remove(ctx, path);
}

static dkm_status append_one(dkm_ctx *ctx, const char *path)
{
    dkm_runlog *record = NULL;
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_runlog_create(ctx, "test", &record));
    DKM_TRY(dkm_runlog_append(record, path));
out:
    dkm_runlog_destroy(&record);
    return status;
}

static void records_line_up_in_one_file(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "lines.json", path);
    for (int k = 0; k < 3; k++)
        CHECK_OK(ctx, append_one(ctx, path));
    for (int k = 0; k < 3; k++) {
        json_t *line = line_of(path, k);
        CHECK(json_is_object(line));
        json_decref(line);
    }
    CHECK(line_of(path, 3) == NULL);
    scratch_remove(ctx, path);
}

static void a_torn_line_does_not_spoil_the_next(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    json_t *line;

    scratch_path(ctx, "torn.json", path);
    scratch_text(ctx, path, "{\"program\":\"dk");
    CHECK_OK(ctx, append_one(ctx, path));
    line = line_of(path, 1);
    CHECK(json_is_object(line));
    json_decref(line);
    scratch_remove(ctx, path);
}

static void text_that_is_not_utf8_is_kept_readable(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    dkm_runlog *record = NULL;
    json_t *line;

    scratch_path(ctx, "latin.json", path);
    CHECK_OK(ctx, dkm_runlog_create(ctx, "caf\xe9", &record));
    CHECK_OK(ctx, dkm_runlog_append(record, path));
    dkm_runlog_destroy(&record);
    line = line_of(path, 0);
    CHECK(strcmp(json_string_value(json_object_get(line, "command")), "caf?") == 0);
    json_decref(line);
    scratch_remove(ctx, path);
}

static void a_field_may_be_put_again(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    dkm_runlog *record = NULL;
    json_t *line;

    scratch_path(ctx, "again.json", path);
    CHECK_OK(ctx, dkm_runlog_create(ctx, "test", &record));
    dkm_runlog_int(record, "a", 1);
    dkm_runlog_int(record, "a", 2);
    dkm_runlog_int(record, "b.c.d", 3);
    dkm_runlog_int(record, "b.c.e", 4);
    CHECK_OK(ctx, dkm_runlog_append(record, path));
    dkm_runlog_destroy(&record);
    line = line_of(path, 0);
    CHECK(number(line, "a", NULL) == 2);
    CHECK(number(json_object_get(line, "b"), "c", "d") == 3);
    CHECK(number(json_object_get(line, "b"), "c", "e") == 4);
    json_decref(line);
    scratch_remove(ctx, path);
}

static void a_file_that_cannot_be_written_is_told(dkm_ctx *ctx)
{
    CHECK(append_one(ctx, "/nonexistent/dir/r.json") == DKM_ERR_IO);
    CHECK(strstr(dkm_ctx_message(ctx), "/nonexistent/dir/r.json") != NULL);
    CHECK(append_one(ctx, "/") == DKM_ERR_IO);
    if (scratch_exists("/dev/full")) {
        CHECK(append_one(ctx, "/dev/full") == DKM_ERR_IO);
        CHECK(strstr(dkm_ctx_message(ctx), "No space left") != NULL);
    }
}

static char brutal_path[SCRATCH_LENGTH];

static dkm_status attempt(dkm_ctx *ctx)
{
    return append_one(ctx, brutal_path);
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    scratch_path(ctx, "brutal.json", brutal_path);
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++)
        check_every_allocation(ctx, victim, attempt);
    scratch_remove(ctx, brutal_path);
}

static const check_case cases[] = {
    CASE(a_record_holds_what_was_put),
    CASE(records_line_up_in_one_file),
    CASE(a_torn_line_does_not_spoil_the_next),
    CASE(text_that_is_not_utf8_is_kept_readable),
    CASE(a_field_may_be_put_again),
    CASE(a_file_that_cannot_be_written_is_told),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
