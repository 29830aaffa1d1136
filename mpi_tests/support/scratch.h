/** @file scratch.h  Files that a test makes, reads back and removes. */
#ifndef DKMAP_SCRATCH_H
#define DKMAP_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

#define SCRATCH_LENGTH 256

/** A path for @p name that no other run of the test uses, the same on every rank. Collective. */
static inline void scratch_path(dkm_ctx *ctx, const char *name, char path[SCRATCH_LENGTH])
{
    const char *dir = getenv("TMPDIR");

    snprintf(path, SCRATCH_LENGTH, "%s/dkmap_test_%ld_%s", dir ? dir : "/tmp", (long)getpid(),
             name);
    MPI_Bcast(path, SCRATCH_LENGTH, MPI_CHAR, 0, dkm_ctx_comm(ctx));
}

/** Rank 0 writes the file; all wait for it. Collective. */
static inline void scratch_bytes(dkm_ctx *ctx, const char *path, const void *bytes, size_t length)
{
    if (dkm_ctx_rank(ctx) == 0) {
        FILE *f = fopen(path, "wb");
        CHECK(f && fwrite(bytes, 1, length, f) == length);
        CHECK(f && fclose(f) == 0);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
}

static inline void scratch_text(dkm_ctx *ctx, const char *path, const char *text)
{
    scratch_bytes(ctx, path, text, strlen(text));
}

/** Remove the file once no rank needs it any more. Collective. */
static inline void scratch_remove(dkm_ctx *ctx, const char *path)
{
    MPI_Barrier(dkm_ctx_comm(ctx));
    if (dkm_ctx_rank(ctx) == 0)
        unlink(path);
    MPI_Barrier(dkm_ctx_comm(ctx));
}

/** Whether something is there. Local. */
static inline int scratch_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

#endif
