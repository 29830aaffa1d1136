/* Pre-images among candidates: with the linear kernel the point that coordinates stand for is an
 * object itself, so that a few distances can be worked out anew by their definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/kpca.h>

#include "cli/bench/bench.h"
#include "cli/commands/commands.h"

enum { CHECKED = 4 };

typedef struct candidates_bench {
    bench b; /* first: the turns are given it */
    dkm_model *model;
    dkm_data *Z; /* coordinates to find objects for */
    dkm_idx train, components;
} candidates_bench;

/* The first @p count rows. */
static dkm_status first_rows(const bench *b, dkm_idx count, dkm_data **rows)
{
    dkm_status status = DKM_OK;
    dkm_idx *index = malloc((size_t)count * sizeof *index);

    *rows = NULL;
    DKM_AGREE(b->ctx, index ? DKM_LOCAL_OK
                            : dkm_fail(b->ctx, DKM_ERR_MEMORY, "no memory for %lld indices",
                                       (long long)count));
    for (dkm_idx i = 0; i < count; i++)
        index[i] = i;
    DKM_TRY(dkm_data_select(b->X, count, index, rows));
out:
    free(index);
    return status;
}

static dkm_local bench_kde_check_sizes(bench *b, dkm_idx train, dkm_idx points, dkm_idx components)
{
    dkm_idx most = train > points ? train : points;

    if (most > b->n)
        return dkm_fail(b->ctx, DKM_ERR_ARG, "--n %lld candidates: there must be %lld at least",
                        (long long)b->n, (long long)most);
    if (components > train || components > b->d)
        return dkm_fail(b->ctx, DKM_ERR_ARG,
                        "--components %lld of %lld training objects with %lld columns",
                        (long long)components, (long long)train, (long long)b->d);
    return DKM_LOCAL_OK;
}

/* Components of the first objects, and coordinates of some. */
static dkm_status open_model(candidates_bench *c)
{
    const args *a = c->b.r->args;
    dkm_kpca_settings settings = dkm_kpca_settings_default();
    dkm_data *X = NULL, *points = NULL;
    dkm_status status = DKM_OK;

    c->train = args_int(a, "train");
    settings.eigen.components = args_int(a, "components");
    settings.layout = run_layout(c->b.r);
    DKM_AGREE(c->b.ctx, bench_kde_check_sizes(&c->b, c->train, args_int(a, "points"),
                                              settings.eigen.components));
    DKM_TRY(dkm_kernel_parse(c->b.ctx, "linear", &c->b.kernel));
    DKM_TRY(first_rows(&c->b, c->train, &X));
    DKM_TRY(dkm_kpca_fit(c->b.ctx, X, c->b.kernel, &settings, &c->model, NULL));
    DKM_TRY(first_rows(&c->b, args_int(a, "points"), &points));
    DKM_TRY(dkm_model_predict(c->model, points, &c->Z));
    c->components = dkm_data_cols(c->Z);
out:
    dkm_data_destroy(&points);
    dkm_data_destroy(&X);
    return status;
}

/* Some of the first rows on every rank. */
static void bench_kde_share_rows(const bench *b, const dkm_data *data, dkm_idx count, double *rows)
{
    dkm_idx d = dkm_data_cols(data), first = dkm_data_local_first(data);

    memset(rows, 0, (size_t)(count * d) * sizeof *rows);
    for (dkm_idx i = 0; i < dkm_data_local_rows(data); i++)
        if (first + i < count)
            memcpy(rows + (first + i) * d, dkm_data_values_const(data) + i * d,
                   (size_t)d * sizeof *rows);
    MPI_Allreduce(MPI_IN_PLACE, rows, (int)(count * d), MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(b->ctx));
}

/* Squared distance of a point to the nearest of all objects, by definition. */
static double nearest_distance(const bench *b, const double *x)
{
    double least = INFINITY;

    for (dkm_idx i = 0; i < dkm_data_local_rows(b->X); i++) {
        double sum = 0;
        for (dkm_idx k = 0; k < b->d; k++) {
            double step = dkm_data_values_const(b->X)[i * b->d + k] - x[k];
            sum += step * step;
        }
        least = fmin(least, sum);
    }
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, dkm_ctx_comm(b->ctx));
    return least;
}

/* The largest relative difference between reported and true distances. */
static dkm_status bench_kde_compare(candidates_bench *c, const dkm_data *found, double *worst)
{
    bench *b = &c->b;
    dkm_preimage_settings linear = {.method = DKM_PREIMAGE_LINEAR};
    dkm_idx count = dkm_data_rows(found) < CHECKED ? dkm_data_rows(found) : CHECKED;
    double *points = calloc((size_t)(count * b->d), sizeof *points), reported[2 * CHECKED];
    dkm_status status = DKM_OK;
    dkm_data *objects = NULL;

    DKM_AGREE(b->ctx, points ? DKM_LOCAL_OK : dkm_fail(b->ctx, DKM_ERR_MEMORY, "no memory"));
    DKM_TRY(dkm_model_configure(c->model, &linear));
    DKM_TRY(dkm_model_decode(c->model, c->Z, &objects));
    bench_kde_share_rows(b, objects, count, points);
    bench_kde_share_rows(b, found, count, reported);
    *worst = 0;
    for (dkm_idx i = 0; i < count; i++) {
        double least = nearest_distance(b, points + i * b->d);
        *worst = fmax(*worst, fabs(reported[2 * i + 1] - least) / least);
    }
out:
    dkm_data_destroy(&objects);
    free(points);
    return status;
}

static dkm_status time_candidates(bench *b, bench_turn *t)
{
    candidates_bench *c = (candidates_bench *)b;
    dkm_preimage_settings settings = {.method = DKM_PREIMAGE_CANDIDATES, .top = 1};
    double n = (double)b->n, m = (double)c->train, p = (double)c->components;
    double search = 2.0 * n * (double)dkm_data_rows(c->Z) * p, begun;
    dkm_status status = DKM_OK;
    dkm_data *found = NULL;

    DKM_TRY(first_rows(b, b->n, &settings.candidates));
    DKM_TRY(dkm_model_configure(c->model, &settings));
    begun = bench_start(b);
    DKM_TRY(dkm_model_decode(c->model, c->Z, &found));
    t->seconds = bench_stop(b, begun);
    t->flops = 2.0 * n * m * ((double)b->d + p) + search;
    bench_note_real(t, "points", (double)dkm_data_rows(c->Z));
    bench_note_real(t, "components", p);
    bench_note_real(t, "times_gemm", t->seconds * t->gemm_rate / t->flops);
    bench_note_real(t, "search_seconds", bench_phase(b, "nearest", NULL));
    bench_note_real(t, "search_times_gemm",
                    bench_phase(b, "nearest", NULL) * t->gemm_rate / search);
    DKM_TRY(bench_kde_compare(c, found, &t->residual));
out:
    dkm_data_destroy(&found);
    dkm_preimage_settings_clear(&settings);
    return status;
}

static dkm_status bench_kde(run *r)
{
    dkm_status status = DKM_OK;
    candidates_bench c = {0};

    DKM_TRY(bench_open_rows(&c.b, r, DKM_F64));
    DKM_TRY(open_model(&c));
    DKM_TRY(bench_run(&c.b, time_candidates));
out:
    dkm_data_destroy(&c.Z);
    dkm_model_destroy(&c.model);
    bench_close(&c.b);
    return status;
}

static const option options[] = {
    ROW_N,
    ROW_DENSE,
    ROW_D,
    {.name = "points",
     .kind = OPT_INT,
     .metavar = "N",
     .min = 1,
     .default_text = "10000",
     .help = "points of feature space that objects are found for"},
    {.name = "train",
     .kind = OPT_INT,
     .metavar = "M",
     .min = 2,
     .default_text = "1000",
     .help = "objects that the components come from, the first of them"},
    {.name = "components",
     .kind = OPT_INT,
     .metavar = "P",
     .min = 1,
     .default_text = "64",
     .help = "of them"},
    ROW_GEMM,
    ROW_REPEAT,
    {0}};

const command command_bench_kde = {
    .name = "bench kde",
    .summary = "pre-images of many points among many candidates",
    .about =
        "Finds the nearest of n candidates for each point, by the full distance in the feature "
        "space of the linear kernel: coordinates of all candidates, and the search among them. "
        "Counts 2 n m (d + p) operations for those and 2 n points p for the search; "
        "times_gemm and search_times_gemm are how many times longer than gemm each "
        "takes.",
    .example = "mpirun -np 2 dkmap bench kde --n 60000 --points 10000 --record bench.jsonl",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = bench_kde,
};
