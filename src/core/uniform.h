/** @file uniform.h  Arguments that must be equal on every rank, checked in debug builds.
 *
 *  A caller who passes another gamma on one rank gets, in a release build, a wrong answer or a
 * hang; in a debug build, a message that names the argument. Release builds spend nothing on it.
 */
#ifndef DKMAP_CORE_UNIFORM_H
#define DKMAP_CORE_UNIFORM_H

#include <dkmap/status.h>

/** Refuse a @p value that is not the same on every rank; use through DKM_CHECK_UNIFORM().
 *
 *  Collective on the communicator of @p ctx: one allreduce.
 *
 *  @param[in] name  what the value is called in the message
 *  @return DKM_OK; DKM_ERR_ARG, with the least and the largest value
 */
DKM_NODISCARD dkm_status dkm_check_uniform_at(dkm_ctx *ctx, const char *name, double value);

/** In a collective with `status` and the label `out`: an argument every rank must pass alike. Comes
 *  after the checks of the argument itself, so that a bad value is reported as such. */
#ifdef NDEBUG
#define DKM_CHECK_UNIFORM(ctx, value) ((void)0)
#else
#define DKM_CHECK_UNIFORM(ctx, value) DKM_TRY(dkm_check_uniform_at((ctx), #value, (double)(value)))
#endif

#endif
