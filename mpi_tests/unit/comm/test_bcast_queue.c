#include "comm/bcast_queue.h"

#include "core/alloc.h"
#include "core/minmax.h"
#include "support/check.h"

enum { MANY = 12 };

static double expected(int which, dkm_idx k)
{
    return 1000.0 * which + (double)k;
}

/* MANY broadcasts at once, from all roots, in both shapes and sizes of 0, 1 and several segments.
 */
static dkm_status broadcast_many(dkm_ctx *ctx)
{
    static const dkm_idx counts[] = {0, 1, 777, 40000, 150001, 600000};
    dkm_status status = DKM_OK;
    dkm_bcast_queue queue = {0};
    dkm_bcast b[MANY];
    double *buffers[MANY] = {0};
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);

    DKM_AGREE(ctx, dkm_bcast_queue_open(&queue, ctx, MANY, size));
    for (int i = 0; i < MANY; i++)
        DKM_AGREE(ctx, dkm_calloc(ctx, dkm_idx_max(counts[i / 2], 1), &buffers[i]));
    for (int i = 0; i < MANY; i++) {
        for (dkm_idx k = 0; rank == i % size && k < counts[i / 2]; k++)
            buffers[i][k] = expected(i, k);
        dkm_bcast_start(&queue, &b[i], i % 2 ? DKM_BCAST_TREE : DKM_BCAST_CHAIN,
                        &(dkm_bcast_data){buffers[i], counts[i / 2], 1, counts[i / 2], MPI_DOUBLE},
                        i % size, i, dkm_ctx_comm(ctx));
        dkm_bcast_progress(&queue);
    }
    for (int i = MANY - 1; i >= 0; i--) { /* the last one first */
        while (!dkm_bcast_arrived(&b[i]))
            dkm_bcast_wait_some(&queue);
        for (dkm_idx k = 0; k < counts[i / 2]; k++)
            if (buffers[i][k] != expected(i, k)) {
                CHECK(buffers[i][k] == expected(i, k));
                break;
            }
    }
    dkm_bcast_wait_all(&queue);
    for (int i = 0; i < MANY; i++)
        CHECK(dkm_bcast_complete(&b[i]));
out:
    for (int i = 0; i < MANY; i++)
        DKM_FREE(buffers[i]);
    dkm_bcast_queue_close(&queue);
    return status;
}

static void broadcasts_under_way_together_all_arrive(dkm_ctx *ctx)
{
    CHECK_OK(ctx, broadcast_many(ctx));
}

static void a_chain_sends_at_most_one_copy_from_each_rank(dkm_ctx *ctx)
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx), root = size / 2;
    dkm_bcast_queue queue = {0};
    dkm_bcast b;
    double number = rank == root ? 3.5 : 0;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_bcast_queue_open(&queue, ctx, 1, size)));
    dkm_bcast_start(&queue, &b, DKM_BCAST_CHAIN, &(dkm_bcast_data){&number, 1, 1, 1, MPI_DOUBLE},
                    root, 0, dkm_ctx_comm(ctx));
    CHECK(b.child_count == (rank != (root + size - 1) % size));
    dkm_bcast_wait_all(&queue);
    CHECK(number == 3.5);
    dkm_bcast_queue_close(&queue);
}

/* Rows [1, 6) of a matrix of 7 rows, of few columns and of enough for several segments. */
static void a_part_of_the_rows_leaves_the_others_alone(dkm_ctx *ctx)
{
    enum { LD = 7, ROWS = 5, COLS = 60000 };
    static double a[LD * COLS];
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_bcast_queue queue = {0};
    dkm_bcast b;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_bcast_queue_open(&queue, ctx, 1, size)));
    for (int cols = 3; cols <= COLS; cols += COLS - 3) {
        dkm_bcast_data part = {a + 1, ROWS, cols, LD, MPI_DOUBLE};
        for (int k = 0; k < LD * cols; k++)
            a[k] = rank == size - 1 ? k : -1.0;
        dkm_bcast_start(&queue, &b, DKM_BCAST_CHAIN, &part, size - 1, 5, dkm_ctx_comm(ctx));
        dkm_bcast_wait_all(&queue);
        for (int k = 0, wrong = 0; k < LD * cols && !wrong; k++) {
            int moved = rank == size - 1 || (k % LD >= 1 && k % LD <= ROWS);
            wrong = a[k] != (moved ? k : -1.0);
            CHECK(!wrong);
        }
    }
    dkm_bcast_queue_close(&queue);
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, broadcast_many);
}

static const check_case cases[] = {CASE(broadcasts_under_way_together_all_arrive),
                                   CASE(a_part_of_the_rows_leaves_the_others_alone),
                                   CASE(a_chain_sends_at_most_one_copy_from_each_rank),
                                   CASE(failing_allocations_are_agreed_on)};

CHECK_MAIN(cases)
