/* Fits on simulated ranks: fits METHOD [NAME=VALUE]... with the files of rates and of records in the
 * environment, as smpirun splits arguments at spaces. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/jkm.h>
#include <dkmap/kde.h>
#include <dkmap/kpca.h>
#include <dkmap/krr.h>
#include <dkmap/random.h>
#include <dkmap/runlog.h>
#include <dkmap/table.h>

#include "linalg/linalg.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/multivec.h"
#include "simulate.h"

/* Sizes, with the names they are given by. */
typedef struct problem {
    dkm_idx n, d, outputs, components, landmarks, iterations, block, sample;
    const char *method, *record;
    dkm_data *X, *Y;
    dkm_kernel *kernel;
} problem;

static int problem_set(problem *s, const char *argument)
{
    const struct {
        const char *name;
        dkm_idx *value;
    } known[] = {{"n", &s->n},
                 {"d", &s->d},
                 {"outputs", &s->outputs},
                 {"components", &s->components},
                 {"landmarks", &s->landmarks},
                 {"iterations", &s->iterations},
                 {"block", &s->block},
                 {"sample", &s->sample}};
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : 0;

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k].name) == length && strncmp(argument, known[k].name, length) == 0) {
            *known[k].value = atoll(equals + 1);
            return *known[k].value >= 0;
        }
    return 0;
}

static void fill_normal(dkm_data *X, dkm_idx cols, uint64_t stream)
{
    dkm_idx first = dkm_data_local_first(X);
    double *x = dkm_data_values(X);

    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        for (dkm_idx j = 0; j < cols; j++)
            x[i * cols + j] = dkm_random_normal(1, stream, (uint64_t)(first + i), (uint64_t)j);
}

static void fill_classes(dkm_data *Y, dkm_idx classes)
{
    dkm_idx first = dkm_data_local_first(Y);

    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++)
        dkm_data_values(Y)[i] = (double)((first + i) % classes);
}

static dkm_status problem_open(dkm_ctx *ctx, problem *s)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=3)", &s->kernel));
    DKM_TRY(dkm_data_create_dense(ctx, s->n, s->d, &s->X));
    fill_normal(s->X, s->d, 2);
    if (strcmp(s->method, "jkm") == 0) {
        DKM_TRY(dkm_data_create_labels(ctx, s->n, &s->Y));
        fill_classes(s->Y, s->outputs);
    } else {
        DKM_TRY(dkm_data_create_dense(ctx, s->n, s->outputs, &s->Y));
        fill_normal(s->Y, s->outputs, 3);
    }
out:
    return status;
}

static void problem_close(problem *s)
{
    dkm_data_destroy(&s->X);
    dkm_data_destroy(&s->Y);
    dkm_kernel_destroy(&s->kernel);
}

static dkm_status fit_krr(dkm_ctx *ctx, problem *s, int pcg)
{
    dkm_status status = DKM_OK;
    dkm_krr_settings settings = dkm_krr_settings_default();
    dkm_model *model = NULL;
    dkm_krr_info info = {0};

    settings.ridge.gamma = 1e-2;
    settings.ridge.precision = DKM_RIDGE_DOUBLE;
    settings.solver = pcg ? DKM_PATH_PCG : DKM_PATH_CHOLESKY;
    settings.layout.block = s->block;
    settings.nystroem.landmarks = s->landmarks;
    settings.nystroem.max_steps = (int)s->iterations;
    settings.nystroem.precision = DKM_RIDGE_DOUBLE;
    settings.nystroem.keep = DKM_STORE;
    DKM_TRY(dkm_krr_fit(ctx, s->X, s->Y, s->kernel, &settings, &model, &info));
    if (pcg)
        s->iterations = info.nystroem.steps;
out:
    dkm_krr_info_free(&info);
    dkm_model_destroy(&model);
    return status;
}

static dkm_status fit_kpca(dkm_ctx *ctx, problem *s)
{
    dkm_status status = DKM_OK;
    dkm_kpca_settings settings = dkm_kpca_settings_default();
    dkm_model *model = NULL;
    dkm_kpca_info info = {0};

    settings.eigen.components = s->components;
    settings.eigen.solver = DKM_EIGEN_BLOCK;
    settings.layout.block = s->block;
    DKM_TRY(dkm_kpca_fit(ctx, s->X, s->kernel, &settings, &model, &info));
    s->iterations = info.eigen.rounds;
out:
    dkm_model_destroy(&model);
    return status;
}

static dkm_status fit_kde(dkm_ctx *ctx, problem *s)
{
    dkm_status status = DKM_OK;
    dkm_kde_settings settings = dkm_kde_settings_default();
    dkm_kernel *ky = NULL;
    dkm_model *model = NULL;
    dkm_kde_info info = {0};

    settings.ridge.gamma = 1e-2;
    settings.ridge.precision = DKM_RIDGE_DOUBLE;
    settings.eigen.components = s->components;
    settings.eigen.solver = DKM_EIGEN_BLOCK;
    settings.layout.block = s->block;
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=3)", &ky));
    DKM_TRY(dkm_kde_fit(ctx, s->X, s->Y, s->kernel, ky, &settings, &model, &info));
    s->iterations = info.eigen.rounds;
out:
    dkm_model_destroy(&model);
    dkm_kernel_destroy(&ky);
    return status;
}

static dkm_status fit_jkm(dkm_ctx *ctx, problem *s)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings settings = dkm_jkm_settings_default();
    dkm_joint *joint = NULL;
    dkm_model *model = NULL;
    dkm_jkm_info info = {0};

    settings.C = 1;
    settings.slacks = DKM_JKM_SLACKS_ONE;
    settings.rounds = s->iterations > 0 ? s->iterations : 12;
    settings.tolerance = 1e-12;
    DKM_TRY(dkm_joint_parse(ctx, "tensor", &joint));
    DKM_TRY(dkm_jkm_fit(ctx, s->X, s->Y, s->kernel, NULL, joint, &settings, &model, &info));
    s->iterations = info.rounds;
out:
    dkm_model_destroy(&model);
    dkm_joint_destroy(&joint);
    return status;
}

/* K V for one block of vectors, as one of its iterations would have it. */
static dkm_status multiply(dkm_ctx *ctx, problem *s)
{
    dkm_status status = DKM_OK;
    dkm_multivec V = {0}, W = {0};
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    dkm_idx nb;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    nb = s->block > 0 ? s->block : dkm_grid_block(grid, s->n);
    DKM_TRY(dkm_dmat_create(grid, s->n, s->n, nb, nb, DKM_F64, &K));
    DKM_AGREE(ctx, dkm_multivec_init(&V, ctx, s->n, s->components));
    DKM_AGREE(ctx, dkm_multivec_init(&W, ctx, s->n, s->components));
    V.cols = s->components;
    dkm_phase_begin(ctx, "product");
    for (dkm_idx k = 0; k < (s->iterations > 0 ? s->iterations : 1) && status == DKM_OK; k++)
        status = dkm_symm_apply('L', K, &V, &W);
    dkm_phase_end(ctx);
out:
    dkm_multivec_free(&W);
    dkm_multivec_free(&V);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

/* The Cholesky factor of a fit, and one solve with it. */
static dkm_status factor(dkm_ctx *ctx, problem *s)
{
    dkm_status status = DKM_OK;
    dkm_multivec V = {0};
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    dkm_idx nb, info = 0;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    nb = s->block > 0 ? s->block : dkm_grid_block(grid, s->n);
    DKM_TRY(dkm_dmat_create(grid, s->n, s->n, nb, nb, DKM_F64, &K));
    DKM_AGREE(ctx, dkm_multivec_init(&V, ctx, s->n, 1));
    V.cols = 1;
    dkm_phase_begin(ctx, "factor");
    status = dkm_la_potrf_from(K, 0, NULL, &info);
    dkm_phase_end(ctx);
    if (status != DKM_OK || info != 0)
        goto out;
    dkm_phase_begin(ctx, "one solve");
    status = dkm_la_potrs_multivec(K, 1, V.a);
    dkm_phase_end(ctx);
out:
    dkm_multivec_free(&V);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

static dkm_status fit(dkm_ctx *ctx, problem *s)
{
    if (strcmp(s->method, "factor") == 0)
        return factor(ctx, s);
    if (strcmp(s->method, "krr") == 0)
        return fit_krr(ctx, s, 0);
    if (strcmp(s->method, "pcg") == 0)
        return fit_krr(ctx, s, 1);
    if (strcmp(s->method, "kpca") == 0)
        return fit_kpca(ctx, s);
    if (strcmp(s->method, "kde") == 0)
        return fit_kde(ctx, s);
    if (strcmp(s->method, "jkm") == 0)
        return fit_jkm(ctx, s);
    return multiply(ctx, s);
}

static void put_problem(dkm_runlog *record, const problem *s)
{
    dkm_runlog_text(record, "simulated", getenv("DKMAP_SIM_LABEL"));
    dkm_runlog_int(record, "n", s->n);
    dkm_runlog_int(record, "d", s->d);
    dkm_runlog_int(record, "outputs", s->outputs);
    dkm_runlog_int(record, "components", s->components);
    dkm_runlog_int(record, "landmarks", s->landmarks);
    dkm_runlog_int(record, "iterations", s->iterations);
    dkm_runlog_int(record, "sampled_panels", s->sample);
    dkm_runlog_real(record, "gemm_rate", sim_gemm_rate());
}

static dkm_status simulate(dkm_ctx *ctx, problem *s)
{
    dkm_status status = DKM_OK;
    char command[64];
    dkm_runlog *record = NULL;
    double begun, seconds;

    snprintf(command, sizeof command, "simulate %s", s->method);
    DKM_TRY(problem_open(ctx, s));
    DKM_TRY(dkm_runlog_create(ctx, command, &record));
    MPI_Barrier(dkm_ctx_comm(ctx));
    begun = MPI_Wtime();
    DKM_TRY(fit(ctx, s));
    MPI_Barrier(dkm_ctx_comm(ctx));
    seconds = MPI_Wtime() - begun;
    put_problem(record, s);
    dkm_runlog_real(record, "seconds", seconds);
    DKM_TRY(dkm_runlog_append(record, s->record));
    if (dkm_ctx_rank(ctx) == 0)
        printf("simulated %s n %lld ranks %d seconds %.6g\n", s->method, (long long)s->n,
               dkm_ctx_size(ctx), seconds);
out:
    dkm_runlog_destroy(&record);
    problem_close(s);
    return status;
}

static void read_counts(dkm_comm_counts *out)
{
    *out = *sim_counts();
}

/* There are no files and no tables here, and so none to close. */
void dkm_source_close(dkm_source **source)
{
    *source = NULL;
}

void dkm_table_destroy(dkm_table **table)
{
    *table = NULL;
}

/* One message for all ranks. */
static int refuse(const char *why)
{
    if (sim_rank() == 0)
        fprintf(stderr, "simulate: %s\n", why);
    return 0;
}

static int prepare(int argc, char **argv, problem *s)
{
    const char *rates = getenv("DKMAP_SIM_RATES");
    int size = 1;

    s->record = getenv("DKMAP_SIM_RECORD");
    if (argc < 2 || !rates || !s->record || !getenv("DKMAP_SIM_LABEL"))
        return refuse("started by jobs/study/simulate.sh only");
    s->method = argv[1];
    for (int k = 2; k < argc; k++)
        if (!problem_set(s, argv[k]))
            return refuse("an unknown argument");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sim_open(size);
    sim_sample(s->sample, size);
    if (!sim_rates_read(rates))
        return refuse(
            "the calibration lacks rates of a rank: make one with `dkmap bench calibrate`");
    if (strcmp(s->method, "pcg") != 0 && strcmp(s->method, "jkm") != 0)
        sim_share_from((size_t)(2 * s->n * s->n / size));
    return 1;
}

int main(int argc, char **argv)
{
    problem s = {.d = 20, .outputs = 1, .components = 16, .landmarks = 200};
    dkm_ctx *ctx = NULL;
    dkm_status status = DKM_ERR_ARG;

    MPI_Init(&argc, &argv);
    if (prepare(argc, argv, &s) && dkm_ctx_create(MPI_COMM_WORLD, &ctx) == DKM_OK) {
        dkm_ctx_set_threads(ctx, 1);
        dkm_ctx_set_comm_reader(ctx, read_counts);
        status = simulate(ctx, &s);
        if (status != DKM_OK && dkm_ctx_rank(ctx) == 0)
            fprintf(stderr, "simulate: %s\n", dkm_ctx_message(ctx));
    }
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return status == DKM_OK ? 0 : 1;
}
