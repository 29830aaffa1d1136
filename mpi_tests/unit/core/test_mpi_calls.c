/* Errors of MPI and communication in parts. An error is made by a broadcast from a rank that does
 * not exist, which MPI finds out before it communicates. */
#include "core/mpi_calls.h"

#include <stdio.h>
#include <string.h>

#include <dkmap/grid.h>

#include "support/check.h"

static void make_error(MPI_Comm comm)
{
    int size, value = 0;

    MPI_Comm_size(comm, &size);
    MPI_Bcast(&value, 1, MPI_INT, size + 7, comm);
}

/* A context on a communicator whose handler is @p handler. */
static dkm_ctx *with_handler(dkm_ctx *ctx, MPI_Errhandler handler)
{
    MPI_Comm comm;
    dkm_ctx *own = NULL;

    MPI_Comm_dup(dkm_ctx_comm(ctx), &comm);
    MPI_Comm_set_errhandler(comm, handler);
    CHECK(dkm_ctx_create(comm, &own) == DKM_OK);
    MPI_Comm_free(&comm);
    return own;
}

/* The message is one line, with what this MPI calls an invalid root. */
static int is_mpi_failure(dkm_ctx *ctx)
{
    char text[MPI_MAX_ERROR_STRING], expected[MPI_MAX_ERROR_STRING + 16];
    int length = 0;

    MPI_Error_string(MPI_ERR_ROOT, text, &length);
    text[strcspn(text, ":,\n")] = '\0';
    snprintf(expected, sizeof expected, "MPI failed: %s", text);
    return dkm_agree(ctx, DKM_LOCAL_OK) == DKM_ERR_MPI &&
           strstr(dkm_ctx_message(ctx), expected) != NULL &&
           strchr(dkm_ctx_message(ctx), '\n') == NULL;
}

static void an_error_of_one_rank_is_reported_by_all(dkm_ctx *ctx)
{
    for (int victim = 0; victim < dkm_ctx_size(ctx); victim++) {
        dkm_ctx *own = with_handler(ctx, MPI_ERRORS_RETURN);
        CHECK(dkm_agree(own, DKM_LOCAL_OK) == DKM_OK);
        if (dkm_ctx_rank(ctx) == victim)
            make_error(dkm_ctx_comm(own));
        CHECK(is_mpi_failure(own));
        CHECK(is_mpi_failure(own)); /* and for good */
        dkm_ctx_destroy(&own);
    }
}

static void errors_on_derived_communicators_are_recorded(dkm_ctx *ctx)
{
    for (int which = 0; which < 4; which++) {
        dkm_ctx *own = with_handler(ctx, MPI_ERRORS_RETURN), *inner = NULL;
        dkm_grid *grid = NULL;
        MPI_Comm part;
        CHECK_OK(own, dkm_grid_create(own, 1, dkm_ctx_size(own), &grid));
        dkm_mpi_split(own, 0, dkm_ctx_rank(own), &part);
        CHECK(dkm_ctx_create(part, &inner) == DKM_OK);
        if (dkm_ctx_rank(ctx) == dkm_ctx_size(ctx) - 1)
            make_error(which == 0   ? dkm_grid_row_comm(grid)
                       : which == 1 ? dkm_grid_col_comm(grid)
                       : which == 2 ? part
                                    : dkm_ctx_comm(inner));
        CHECK(dkm_agree(inner, DKM_LOCAL_OK) == (which == 3 ? DKM_ERR_MPI : DKM_OK));
        CHECK(is_mpi_failure(own));
        MPI_Comm_free(&part);
        dkm_ctx_destroy(&inner);
        dkm_grid_destroy(&grid);
        dkm_ctx_destroy(&own);
    }
}

static int heard;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    heard += *code != MPI_SUCCESS;
}

static void the_callers_handler_is_called(dkm_ctx *ctx)
{
    MPI_Errhandler handler;
    dkm_ctx *own;

    heard = 0;
    MPI_Comm_create_errhandler(count_error, &handler);
    own = with_handler(ctx, handler);
    MPI_Errhandler_free(&handler);
    make_error(dkm_ctx_comm(own));
    CHECK(heard == 1);
    make_error(dkm_ctx_comm(own));
    CHECK(heard == 2);
    CHECK(is_mpi_failure(own));
    dkm_mpi_lend(own, dkm_ctx_comm(own)); /* as for other libraries: recorded by nobody */
    make_error(dkm_ctx_comm(own));
    CHECK(heard == 3);
    CHECK(dkm_mpi_watch(own, dkm_ctx_comm(own)) == MPI_SUCCESS);
    dkm_ctx_destroy(&own);
}

enum { COUNT = 23, MOST = 5 };

static void long_arrays_go_in_parts(dkm_ctx *ctx)
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx), last = size - 1;
    double a[COUNT];
    int64_t b[COUNT], c[COUNT] = {0};

    for (int k = 0; k < COUNT; k++) {
        a[k] = k + rank;
        b[k] = rank == last ? 100 + k : -1;
    }
    dkm_mpi_allreduce_by(MOST, a, COUNT, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_mpi_bcast_by(MOST, b, COUNT, MPI_INT64_T, last, dkm_ctx_comm(ctx));
    for (int k = 0; k < COUNT; k++) {
        CHECK_CLOSE(a[k], k * size + size * (size - 1) / 2, 0.0);
        CHECK(b[k] == 100 + k);
    }
    dkm_mpi_reduce_by(MOST, b, c, COUNT, MPI_INT64_T, MPI_SUM, last, dkm_ctx_comm(ctx));
    for (int k = 0; rank == last && k < COUNT; k++)
        CHECK(c[k] == size * (100 + k));
    if (size == 1)
        return;
    if (rank == last)
        dkm_mpi_send_by(MOST, a, COUNT, MPI_DOUBLE, 0, 3, dkm_ctx_comm(ctx));
    if (rank == 0) {
        double got[COUNT] = {0};
        dkm_mpi_recv_by(MOST, got, COUNT, MPI_DOUBLE, last, 3, dkm_ctx_comm(ctx));
        CHECK(memcmp(got, a, sizeof a) == 0);
    }
}

/* Rank r has r + 1 numbers, the last rank none. */
static void unequal_parts_are_gathered_and_reduced(dkm_ctx *ctx)
{
    enum { RANKS = 16, TOTAL = RANKS * RANKS };
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx counts[RANKS], starts[RANKS], total = 0;
    double own[RANKS];

    if (size > RANKS)
        return;
    for (int r = 0; r < size; r++) {
        counts[r] = size > 1 && r == size - 1 ? 0 : r + 1;
        starts[r] = total;
        total += counts[r];
    }
    for (dkm_idx k = 0; k < counts[rank]; k++)
        own[k] = 10 * rank + (double)k;
    for (dkm_idx most = 1; most <= TOTAL; most *= 4) {
        double all[TOTAL] = {0};
        CHECK_OK(ctx, dkm_mpi_allgatherv_by(most, ctx, own, all, counts, starts, MPI_DOUBLE));
        for (int r = 0; r < size; r++)
            for (dkm_idx k = 0; k < counts[r]; k++)
                CHECK_CLOSE(all[starts[r] + k], 10 * r + (double)k, 0.0);
        CHECK_OK(ctx, dkm_mpi_reduce_scatter_by(most, ctx, all, own, counts, starts, MPI_DOUBLE,
                                                MPI_SUM));
        for (dkm_idx k = 0; k < counts[rank]; k++) {
            CHECK_CLOSE(own[k], size * (10 * rank + (double)k), 0.0);
            own[k] = 10 * rank + (double)k;
        }
    }
}

static const check_case cases[] = {
    CASE(an_error_of_one_rank_is_reported_by_all),
    CASE(errors_on_derived_communicators_are_recorded), CASE(the_callers_handler_is_called),
    CASE(long_arrays_go_in_parts), CASE(unequal_parts_are_gathered_and_reduced)};
CHECK_MAIN(cases)
