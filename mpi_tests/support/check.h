/** @file check.h  A test harness that keeps ranks together.
 *
 *  A check that fails is reported with its rank and place and the test goes on, so that no rank
 * leaves the others in a collective. run() agrees over the ranks whether a test passed.
 */
#ifndef DKMAP_CHECK_H
#define DKMAP_CHECK_H

#include <dkmap/context.h>

typedef struct check_case {
    const char *name;
    void (*run)(dkm_ctx *ctx);
} check_case;

/* clang-format off */
#define CASE(f) {#f, f}
/* clang-format on */

/** Note a failed expectation. Use CHECK(), CHECK_OK(), CHECK_CLOSE(). */
void check_failed(const char *file, int line, const char *format, ...) DKM_PRINTF(3, 4);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, "%s", #condition);                                    \
    } while (0)

/** A collective call that must succeed; the message of the context is shown when it does not. */
#define CHECK_OK(ctx, call)                                                                        \
    do {                                                                                           \
        dkm_status check_status_ = (call);                                                         \
        if (check_status_ != DKM_OK)                                                               \
            check_failed(__FILE__, __LINE__, "%s: %s: %s", #call, dkm_status_text(check_status_),  \
                         dkm_ctx_message(ctx));                                                    \
    } while (0)

/** |got - want| <= tolerance, and neither is a NaN. */
#define CHECK_CLOSE(got, want, tolerance)                                                          \
    do {                                                                                           \
        double got_ = (got), want_ = (want), tol_ = (tolerance);                                   \
        double gap_ = got_ > want_ ? got_ - want_ : want_ - got_;                                  \
        if (!(gap_ <= tol_))                                                                       \
            check_failed(__FILE__, __LINE__, "%s = %.17g, not %.17g (off by %.3g > %.3g)", #got,   \
                         got_, want_, gap_, tol_);                                                 \
    } while (0)

/** Run the cases under MPI, or the one that the first argument names; every case must leave the
 *  context with no live block. Prints the outcome and the processor time of each, summed over ranks.
 *  @return the exit status of main */
int check_run(int argc, char **argv, int count, const check_case *cases);

#define CHECK_MAIN(cases)                                                                          \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return check_run(argc, argv, (int)(sizeof(cases) / sizeof *(cases)), cases);               \
    }

/** Brutal: call @p attempt with 0, 1, 2, ... allocations allowed on rank @p victim until it
 *  succeeds. Each failure must be DKM_ERR_MEMORY on all ranks and leak nothing. On 2 and 3 ranks
 *  alone; on other counts the attempt is made once, without a limit. The counts of allocations are
 *  ever further apart, by a quarter of the count, unless DKMAP_SWEEP=all is in the environment.
 *  Collective. */
void check_every_allocation(dkm_ctx *ctx, int victim, dkm_status (*attempt)(dkm_ctx *ctx));

#endif
