#include <dkmap/status.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/context_impl.h"
#include "core/printable.h"
#include "core/uniform.h"

const char *dkm_status_text(dkm_status status)
{
#define STATUS_TEXT(code, text) [code] = text,
    static const char *const texts[] = {DKM_STATUS_LIST(STATUS_TEXT)};
#undef STATUS_TEXT
    size_t at = (size_t)status;

    return at < sizeof texts / sizeof *texts ? texts[at] : "unknown status";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* A user's mistake is reported plainly; ours, and a machine's, with its rank and place. */
static int is_user_error(dkm_status code)
{
    return code != DKM_ERR_MEMORY && code != DKM_ERR_MPI && code != DKM_ERR_INTERNAL;
}

dkm_local dkm_fail_at(dkm_ctx *ctx, const char *file, int line, dkm_status code, const char *format,
                      ...)
{
    va_list args;
    char message[DKM_MESSAGE_LENGTH] = "";
    int used = 0;

    if (file && !is_user_error(code))
        used = snprintf(message, sizeof message, "[rank %d] %s:%d: ", ctx->rank, base_name(file),
                        line);
    if (used < 0 || (size_t)used >= sizeof message)
        used = 0;
    va_start(args, format);
    vsnprintf(message + used, sizeof message - (size_t)used, format, args);
    va_end(args);
    dkm_make_printable(message, 1); /* it may quote a file */
#pragma omp critical(dkm_message)
    memcpy(ctx->message, message, sizeof message);
    return (dkm_local){code};
}

/* An MPI call of this rank failed, now or before: nothing received since can be relied on. */
static dkm_local mpi_failed(dkm_ctx *ctx)
{
    return dkm_fail(ctx, DKM_ERR_MPI, "MPI failed: %s", ctx->mpi_text);
}

/* Whether this rank was asked to stop; the context that all others were split from knows. */
static int interrupted(const dkm_ctx *ctx)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return ctx->asked && ctx->asked(ctx->asked_user);
}

dkm_status dkm_agree(dkm_ctx *ctx, dkm_local local)
{
    int first = ctx->size, mine, code;

    if (ctx->mpi_error != MPI_SUCCESS)
        local = mpi_failed(ctx);
    else if (local.code == DKM_OK && interrupted(ctx))
        local = dkm_fail(ctx, DKM_ERR_STOPPED, "interrupted");
    mine = local.code == DKM_OK ? ctx->size : ctx->rank;
    code = (int)local.code;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, ctx->comm);
    if (first == ctx->size && ctx->mpi_error == MPI_SUCCESS)
        return DKM_OK;
    if (first < ctx->size) {
        MPI_Bcast(&code, 1, MPI_INT, first, ctx->comm);
        MPI_Bcast(ctx->message, DKM_MESSAGE_LENGTH, MPI_CHAR, first, ctx->comm);
    }
    if (ctx->mpi_error != MPI_SUCCESS && local.code != DKM_ERR_MPI) /* here, of this agreement */
        return mpi_failed(ctx).code;
    return (dkm_status)code;
}

dkm_status dkm_error_context(dkm_ctx *ctx, const char *name, dkm_status status)
{
    char message[DKM_MESSAGE_LENGTH];

    if (status != DKM_ERR_ARG && status != DKM_ERR_UNSUPPORTED && status != DKM_ERR_NUMERIC)
        return status;
    snprintf(message, sizeof message, "%s", ctx->message);
    return dkm_agree(ctx, dkm_fail(ctx, status, "%s: %s", name, message));
}

dkm_status dkm_check_uniform_at(dkm_ctx *ctx, const char *name, double value)
{
    double range[2] = {value, -value}; /* one reduction gives the largest and, negated, the least */
    dkm_local local = DKM_LOCAL_OK;

    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_DOUBLE, MPI_MAX, ctx->comm);
    if (range[0] != -range[1])
        local = dkm_fail(ctx, DKM_ERR_ARG, "%s differs over the ranks, from %.17g to %.17g", name,
                         -range[1], range[0]);
    return dkm_agree(ctx, local);
}
