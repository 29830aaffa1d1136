/** @file status.h  How dkmap says that something went wrong, on one rank and on all of them.
 *
 *  Two types, so that the compiler keeps ranks together. A step that only one rank takes returns
 *  dkm_local; a collective call returns dkm_status, the same value on every rank. The only way from
 *  the first to the second is agreement, dkm_agree(): one allreduce and, on failure only, a
 *  broadcast of the failing rank's message.
 */
#ifndef DKMAP_STATUS_H
#define DKMAP_STATUS_H

#include <dkmap/types.h>

DKM_API_BEGIN

typedef struct dkm_ctx dkm_ctx;

/** Every status code with its text. */
#define DKM_STATUS_LIST(X)                                                                         \
    X(DKM_OK, "done")                                                                              \
    X(DKM_ERR_ARG, "wrong argument")                                                               \
    X(DKM_ERR_IO, "cannot read or write")                                                          \
    X(DKM_ERR_FORMAT, "wrong file content")                                                        \
    X(DKM_ERR_MEMORY, "out of memory")                                                             \
    X(DKM_ERR_NUMERIC, "numerical failure")                                                        \
    X(DKM_ERR_SIZE, "too large for this layout")                                                   \
    X(DKM_ERR_UNSUPPORTED, "not possible for these objects")                                       \
    X(DKM_ERR_STOPPED, "stopped early")                                                            \
    X(DKM_ERR_MPI, "MPI failure")                                                                  \
    X(DKM_ERR_INTERNAL, "internal error")

#define DKM_STATUS_ENUM(code, text) code,
/** Outcome of a collective call: the same on every rank. */
typedef enum dkm_status { DKM_STATUS_LIST(DKM_STATUS_ENUM) } dkm_status;
#undef DKM_STATUS_ENUM

/** Outcome of a local step: this rank's alone, to be agreed on before anyone acts on it. */
typedef struct dkm_local {
    dkm_status code;
} dkm_local;

#define DKM_LOCAL_OK ((dkm_local){DKM_OK})

/** Text of a status code. Local. */
const char *dkm_status_text(dkm_status status);

/** Record a failure of this rank with a message; use through dkm_fail().
 *
 *  Local. The message of the first failing rank is what every rank holds after dkm_agree().
 *
 *  @return a failed dkm_local holding @p code
 */
DKM_NODISCARD dkm_local dkm_fail_at(dkm_ctx *ctx, const char *file, int line, dkm_status code,
                                    const char *format, ...) DKM_PRINTF(5, 6);

#define dkm_fail(ctx, code, ...) dkm_fail_at((ctx), __FILE__, __LINE__, (code), __VA_ARGS__)

/** The same for a refusal: something the job asks for and cannot have here. It is reported plainly,
 *  like a user's mistake, whatever the code. */
#define dkm_error_user(ctx, code, ...) dkm_fail_at((ctx), NULL, 0, (code), __VA_ARGS__)

/** Turn every rank's local outcome into one status.
 *
 *  Collective on the communicator of @p ctx.
 *
 *  @return DKM_OK if all ranks succeeded, else the code of the lowest failing rank
 */
DKM_NODISCARD dkm_status dkm_agree(dkm_ctx *ctx, dkm_local local);

/** Put a name before the message of a failure that could not know it: that of objects, a file or an
 *  option that does not fit. Other failures keep their message.
 *
 *  Collective on the communicator of @p ctx.
 *
 *  @return @p status
 */
DKM_NODISCARD dkm_status dkm_error_context(dkm_ctx *ctx, const char *name, dkm_status status);

/** In a collective with `status` and the label `out`: run a collective step. */
#define DKM_TRY(call)                                                                              \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != DKM_OK)                                                                      \
            goto out;                                                                              \
    } while (0)

/** In a collective with `status` and the label `out`: run a local step, then agree on it. */
#define DKM_AGREE(ctx, call) DKM_TRY(dkm_agree((ctx), (call)))

/** In a collective with `status` and the label `out`: agree that @p condition holds on all ranks,
 *  or fail with a code and a message. All ranks come here, whatever the condition is on each: an
 *  agreement inside an `if` is one that some ranks may never reach. */
#define DKM_REQUIRE(ctx, condition, ...)                                                           \
    DKM_AGREE((ctx), (condition) ? DKM_LOCAL_OK : dkm_fail((ctx), __VA_ARGS__))

/** In a local step with `local` and the label `out`: run another local step. */
#define DKM_STEP(call)                                                                             \
    do {                                                                                           \
        local = (call);                                                                            \
        if (local.code != DKM_OK)                                                                  \
            goto out;                                                                              \
    } while (0)

DKM_API_END

#endif
