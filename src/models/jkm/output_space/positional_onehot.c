/* Strings as rows: one coordinate for each place and character. */
#include <string.h>

#include "core/alloc.h"
#include "models/jkm/output_space/output_space_impl.h"

enum { BYTES = 256 };

/* The characters of all strings, and the length of the longest. */
static dkm_status learn_letters(dkm_output_space *s)
{
    dkm_status status = DKM_OK;
    const dkm_objs *own = &s->objects->mine;
    MPI_Comm comm = dkm_ctx_comm(s->ctx);
    char seen[BYTES] = {0};

    for (dkm_idx i = 0; i < own->n; i++) {
        dkm_idx length = own->start[i + 1] - own->start[i];
        s->positions = length > s->positions ? length : s->positions;
        for (dkm_idx k = own->start[i]; k < own->start[i + 1]; k++)
            seen[(unsigned char)own->bytes[k]] = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, &s->positions, 1, MPI_INT64_T, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, seen, BYTES, MPI_SIGNED_CHAR, MPI_MAX, comm);
    DKM_AGREE(s->ctx, dkm_calloc(s->ctx, BYTES + 1, &s->alphabet));
    for (int c = 1; c < BYTES; c++)
        if (seen[c])
            s->alphabet[s->n_chars++] = (char)c;
    DKM_REQUIRE(s->ctx, s->n_chars > 0, DKM_ERR_ARG, "the outputs are empty strings");
out:
    return status;
}

static dkm_local onehot_check_length(const dkm_output_space *s)
{
    const dkm_objs *own = &s->objects->mine;

    for (dkm_idx i = 0; i < own->n; i++)
        if (own->start[i + 1] - own->start[i] > s->positions)
            return dkm_fail(s->ctx, DKM_ERR_ARG,
                            "candidate %lld has %lld letters, and the model was made for at most "
                            "%lld: fit with candidates as long",
                            (long long)(dkm_data_local_first(s->objects) + i),
                            (long long)(own->start[i + 1] - own->start[i]),
                            (long long)s->positions);
    return DKM_LOCAL_OK;
}

dkm_status dkm_output_space_onehot_chars(dkm_output_space *space)
{
    dkm_status status = DKM_OK;
    const dkm_objs *own = &space->objects->mine;

    if (!space->alphabet)
        DKM_TRY(learn_letters(space));
    DKM_AGREE(space->ctx, onehot_check_length(space));
    DKM_TRY(dkm_data_create_dense(space->ctx, dkm_data_rows(space->objects),
                                  space->positions * space->n_chars, &space->C));
    for (dkm_idx i = 0; i < own->n; i++)
        for (dkm_idx k = 0; k < own->start[i + 1] - own->start[i]; k++) {
            const char *at = strchr(space->alphabet, own->bytes[own->start[i] + k]);
            if (at && *at) /* characters that the model has not seen have no say */
                dkm_data_values(space->C)[(i * space->positions + k) * space->n_chars +
                                          (at - space->alphabet)] = 1;
        }
out:
    return status;
}
