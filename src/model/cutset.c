#include "model/cutset.h"

#include <string.h>

#include "core/alloc.h"

dkm_cutset dkm_cutset_empty(dkm_form *form)
{
    return (dkm_cutset){.form = form, .qp = dkm_qp_empty(form->base.ctx)};
}

void dkm_cutset_clear(dkm_cutset *cuts)
{
    DKM_FREE(cuts->example);
    DKM_FREE(cuts->choice);
    DKM_FREE(cuts->idle);
    DKM_FREE(cuts->b);
    DKM_FREE(cuts->a);
    DKM_FREE(cuts->place);
    DKM_FREE(cuts->mine);
    DKM_FREE(cuts->V);
    dkm_qp_clear(&cuts->qp);
}

static int owner(const dkm_cutset *cuts, dkm_idx c)
{
    return dkm_slab_owner(cuts->form->m, cuts->example[c], dkm_ctx_size(cuts->form->base.ctx));
}

/* What all ranks propose, on every rank. */
typedef struct gathered {
    dkm_idx count;
    int *counts, *starts; /* of every rank: proposals, then numbers */
    dkm_idx *example, *choice;
    double *b, *V;
} gathered;

static void clear_gathered(gathered *g)
{
    DKM_FREE(g->counts);
    DKM_FREE(g->starts);
    DKM_FREE(g->example);
    DKM_FREE(g->choice);
    DKM_FREE(g->b);
    DKM_FREE(g->V);
}

static dkm_local room_for_all(dkm_ctx *ctx, dkm_idx r, gathered *g)
{
    dkm_local local = DKM_LOCAL_OK;

    for (int k = 0; k < dkm_ctx_size(ctx); k++) {
        g->starts[k] = (int)g->count;
        g->count += g->counts[k];
    }
    if (g->count * r > INT32_MAX)
        return dkm_fail(ctx, DKM_ERR_SIZE,
                        "%lld constraints of %lld numbers are too many for one round",
                        (long long)g->count, (long long)r);
    DKM_STEP(dkm_alloc(ctx, g->count, &g->example));
    DKM_STEP(dkm_alloc(ctx, g->count, &g->choice));
    DKM_STEP(dkm_alloc(ctx, g->count, &g->b));
    DKM_STEP(dkm_alloc(ctx, g->count * r, &g->V));
out:
    return local;
}

static dkm_status gather(dkm_cutset *cuts, const dkm_proposals *mine, gathered *g)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    MPI_Comm comm = dkm_ctx_comm(ctx);
    dkm_idx r = cuts->form->r;
    int size = dkm_ctx_size(ctx), count = (int)mine->count;

    DKM_AGREE(ctx, dkm_alloc(ctx, size, &g->counts));
    DKM_AGREE(ctx, dkm_alloc(ctx, size, &g->starts));
    MPI_Allgather(&count, 1, MPI_INT, g->counts, 1, MPI_INT, comm);
    DKM_AGREE(ctx, room_for_all(ctx, r, g));
    MPI_Allgatherv(mine->example, count, MPI_INT64_T, g->example, g->counts, g->starts, MPI_INT64_T,
                   comm);
    MPI_Allgatherv(mine->choice, count, MPI_INT64_T, g->choice, g->counts, g->starts, MPI_INT64_T,
                   comm);
    MPI_Allgatherv(mine->b, count, MPI_DOUBLE, g->b, g->counts, g->starts, MPI_DOUBLE, comm);
    for (int k = 0; k < size; k++) {
        g->counts[k] *= (int)r;
        g->starts[k] *= (int)r;
    }
    MPI_Allgatherv(mine->V, (int)(count * r), MPI_DOUBLE, g->V, g->counts, g->starts, MPI_DOUBLE,
                   comm);
out:
    return status;
}

static dkm_local make_room(dkm_cutset *cuts, const gathered *g, dkm_idx own)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    dkm_idx n = cuts->n + g->count;

    if (n > cuts->room) {
        cuts->room = n + n / 2;
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->example));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->choice));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->idle));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->b));
        DKM_STEP(dkm_realloc(ctx, cuts->room, &cuts->a));
    }
    if (cuts->own + own > cuts->own_room) {
        cuts->own_room = cuts->own + own + (cuts->own + own) / 4 + 16;
        DKM_STEP(dkm_realloc(ctx, cuts->own_room, &cuts->place));
        DKM_STEP(dkm_realloc(ctx, cuts->own_room, &cuts->mine));
        DKM_STEP(dkm_realloc(ctx, cuts->own_room * cuts->form->r, &cuts->V));
    }
    if (dkm_ctx_rank(ctx) == 0)
        DKM_STEP(dkm_qp_grow(&cuts->qp, g->count));
out:
    return local;
}

static void append(dkm_cutset *cuts, const gathered *g)
{
    dkm_ctx *ctx = cuts->form->base.ctx;
    dkm_idx r = cuts->form->r, first = dkm_data_local_first(cuts->form->base.X);

    for (dkm_idx k = 0; k < g->count; k++) {
        dkm_idx c = cuts->n + k;
        cuts->example[c] = g->example[k];
        cuts->choice[c] = g->choice[k];
        cuts->b[c] = g->b[k];
        cuts->a[c] = 0;
        cuts->idle[c] = 0;
        if (dkm_ctx_rank(ctx) == 0) {
            cuts->qp.b[c] = g->b[k];
            cuts->qp.group[c] = g->example[k];
        }
        if (owner(cuts, c) != dkm_ctx_rank(ctx))
            continue;
        cuts->place[cuts->own] = c;
        cuts->mine[cuts->own] = g->example[k] - first;
        memcpy(cuts->V + cuts->own * r, g->V + k * r, (size_t)r * sizeof *g->V);
        cuts->own++;
    }
    cuts->n += g->count;
}

/* Put the products of new constraints with those of one rank where they belong in G. */
static void place_products(dkm_cutset *cuts, dkm_idx fresh, int rank, const double *block)
{
    dkm_qp *qp = &cuts->qp;
    dkm_idx column = 0, width = 0, old = cuts->n - fresh;

    for (dkm_idx c = 0; c < cuts->n; c++)
        width += owner(cuts, c) == rank;
    for (dkm_idx c = 0; c < cuts->n; c++) {
        if (owner(cuts, c) != rank)
            continue;
        for (dkm_idx k = 0; k < fresh; k++) {
            double g = block[k * width + column];
            qp->G[(old + k) * qp->room + c] = g;
            if (c < old)
                qp->G[c * qp->room + old + k] = g;
        }
        column++;
    }
}

/* Every rank's products to rank 0, one rank after the other. */
static dkm_status collect(dkm_cutset *cuts, dkm_idx fresh, double *own)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    MPI_Comm comm = dkm_ctx_comm(ctx);
    dkm_idx most = cuts->own;
    double *theirs = NULL;

    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm);
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_ctx_rank(ctx) == 0 ? most * fresh : 0, &theirs));
    if (dkm_ctx_rank(ctx) != 0)
        MPI_Send(own, (int)(cuts->own * fresh), MPI_DOUBLE, 0, 0, comm);
    else
        place_products(cuts, fresh, 0, own);
    for (int r = 1; dkm_ctx_rank(ctx) == 0 && r < dkm_ctx_size(ctx); r++) {
        MPI_Recv(theirs, (int)(most * fresh), MPI_DOUBLE, r, 0, comm, MPI_STATUS_IGNORE);
        place_products(cuts, fresh, r, theirs);
    }
out:
    DKM_FREE(theirs);
    return status;
}

dkm_status dkm_cutset_add(dkm_cutset *cuts, const dkm_proposals *mine)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    gathered g = {0};
    double *products = NULL;

    dkm_phase_begin(ctx, "constraints");
    DKM_TRY(gather(cuts, mine, &g));
    DKM_AGREE(ctx, make_room(cuts, &g, mine->count));
    append(cuts, &g);
    DKM_AGREE(ctx, dkm_alloc(ctx, g.count * cuts->own, &products));
    DKM_TRY(dkm_form_gram(cuts->form, (dkm_form_rows){g.count, g.example, g.V},
                          (dkm_form_rows){cuts->own, cuts->mine, cuts->V}, products));
    DKM_TRY(collect(cuts, g.count, products));
out:
    dkm_phase_end(ctx);
    DKM_FREE(products);
    clear_gathered(&g);
    return status;
}

static dkm_local solve_here(dkm_cutset *cuts, double C, double tolerance, dkm_qp_info *info)
{
    if (dkm_ctx_rank(cuts->form->base.ctx) != 0)
        return DKM_LOCAL_OK;
    return C > 0 ? dkm_qp_solve_budget(&cuts->qp, C, tolerance, info)
                 : dkm_qp_solve_free(&cuts->qp, tolerance, info);
}

dkm_status dkm_cutset_solve(dkm_cutset *cuts, double C, double tolerance, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    MPI_Comm comm = dkm_ctx_comm(ctx);

    dkm_phase_begin(ctx, "program");
    DKM_AGREE(ctx, solve_here(cuts, C, tolerance, info));
    if (dkm_ctx_rank(ctx) == 0 && cuts->n > 0)
        memcpy(cuts->a, cuts->qp.a, (size_t)cuts->n * sizeof *cuts->a);
    MPI_Bcast(cuts->a, (int)cuts->n, MPI_DOUBLE, 0, comm);
    MPI_Bcast(info, (int)sizeof *info, MPI_BYTE, 0, comm);
    for (dkm_idx c = 0; c < cuts->n; c++)
        cuts->idle[c] = cuts->a[c] > 0 ? 0 : cuts->idle[c] + 1;
out:
    dkm_phase_end(ctx);
    return status;
}

/* Keep the constraints that `keep` names, everywhere but in the program. */
static void keep_only(dkm_cutset *cuts, const char *keep)
{
    dkm_idx r = cuts->form->r, kept = 0, own = 0, k = 0;

    for (dkm_idx c = 0; c < cuts->n; c++) {
        int here = k < cuts->own && cuts->place[k] == c;
        if (keep[c] && here) {
            cuts->place[own] = kept;
            cuts->mine[own] = cuts->mine[k];
            memmove(cuts->V + own++ * r, cuts->V + k * r, (size_t)r * sizeof *cuts->V);
        }
        k += here;
        if (!keep[c])
            continue;
        cuts->example[kept] = cuts->example[c];
        cuts->choice[kept] = cuts->choice[c];
        cuts->idle[kept] = cuts->idle[c];
        cuts->b[kept] = cuts->b[c];
        cuts->a[kept++] = cuts->a[c];
    }
    cuts->n = kept;
    cuts->own = own;
}

dkm_status dkm_cutset_prune(dkm_cutset *cuts, dkm_idx rounds)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = cuts->form->base.ctx;
    dkm_idx dropped = 0;
    char *keep = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, cuts->n, &keep));
    for (dkm_idx c = 0; c < cuts->n; c++) {
        keep[c] = cuts->idle[c] < rounds;
        dropped += !keep[c];
    }
    if (dropped == 0)
        goto out;
    if (dkm_ctx_rank(ctx) == 0)
        dkm_qp_keep(&cuts->qp, keep);
    keep_only(cuts, keep);
out:
    DKM_FREE(keep);
    return status;
}

void dkm_cutset_machine(const dkm_cutset *cuts, double *U)
{
    dkm_idx r = cuts->form->r;

    memset(U, 0, (size_t)(dkm_data_local_rows(cuts->form->base.X) * r) * sizeof *U);
    for (dkm_idx k = 0; k < cuts->own; k++) {
        double a = cuts->a[cuts->place[k]], *u = U + cuts->mine[k] * r;
        for (dkm_idx j = 0; a > 0 && j < r; j++)
            u[j] += a * cuts->V[k * r + j];
    }
}
