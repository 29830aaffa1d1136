/* Support vector machines as a method. */
#include <math.h>

#include <dkmap/svm.h>

#include "models/common/cost_model_impl.h"
#include "models/common/example_weights.h"
#include "models/common/kernel_default.h"
#include "models/common/method_parts.h"

#define NODE_BYTES  16.0       /* of LIBSVM, per kernel value */
#define CACHE_BYTES 1e8        /* at most, of its cache */
#define CHUNK_BYTES 16777216.0 /* of rows on their way to the ranks that solve */
#define ROUND       16777216.0 /* of rows on their way from the grid to slabs */
#define ROUNDS      60.0       /* of the decomposition for each class, where nothing is known */
#define SET         512.0      /* variables of a working set of the decomposition */

static void svm_report(dkm_report *report, const dkm_kernel *kx, double C, const dkm_svm_info *info)
{
    dkm_report_add_int(report, "m", info->m);
    dkm_report_add_text(report, "kernel", dkm_kernel_text(kx));
    dkm_report_add_int(report, "classes", info->classes);
    dkm_report_add_real(report, "C", C);
    dkm_report_add_int(report, "support_vectors", info->support);
    if (info->rounds > 0)
        dkm_report_add_int(report, "rounds_per_class", llround(info->rounds));
}

static dkm_status svm_fit(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                          dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_svm_settings settings = dkm_svm_settings_default();
    dkm_svm_info info = {0};
    dkm_data *weights = NULL;
    dkm_kernel *kx = NULL;

    settings.layout = dkm_settings_layout(s);
    settings.margin.loss =
        dkm_settings_choice(s, "hinge") == 0 ? DKM_LOSS_HINGE : DKM_LOSS_SQUARED_HINGE;
    settings.margin.C = dkm_settings_real(s, "C");
    settings.margin.tolerance = dkm_settings_real(s, "tolerance");
    settings.margin.solver = (dkm_svm_solver)dkm_settings_choice(s, "solver");
    DKM_TRY(dkm_input_kernel(ctx, s, X, report, &kx));
    DKM_TRY(dkm_read_weights(ctx, s, Y, dkm_data_rows(X), &weights));
    settings.weights = weights;
    DKM_TRY(dkm_svm_fit(ctx, X, Y, kx, &settings, model, &info));
    svm_report(report, kx, settings.margin.C, &info);
out:
    dkm_data_destroy(&weights);
    dkm_kernel_destroy(&kx);
    return status;
}

static int svm_names_classes(const dkm_settings *s)
{
    (void)s;
    return 1;
}

/* The kernel matrix by rows, both triangles. LIBSVM has it once more in its nodes, with its cache, on
 * each rank that solves; the decomposition has its working sets. A step of LIBSVM takes two rows, and
 * it is taken to need as many steps as there are examples; either's time is not known. */
/* Rows of the kernel matrix in slabs, by way of the grid. With LIBSVM all of them to all ranks, which
 * have their space for them already. */
static void add_rows(dkm_cost *cost, const dkm_cost_terms *terms, int libsvm, double held)
{
    double m = (double)terms->work.m, slab = dkm_cost_rows(terms, 8.0 * m),
           matrix = 8.0 * dkm_cost_elements(terms);
    dkm_comm_grid g = dkm_cost_grid(terms);
    dkm_comm comm = dkm_comm_symmetrize(&g);

    dkm_comm_add(&comm, 1.0, dkm_comm_rows(&g, m));
    if (libsvm && terms->work.ranks > 1)
        comm.bytes += 8.0 * m * m / terms->work.ranks;
    held += slab + matrix + 2.0 * fmin(slab, ROUND);
    dkm_cost_add_phase(cost, "rows", held, 0.0, terms->rates ? 0.0 : NAN);
    dkm_cost_note_phase(cost, held, comm);
}

/* Violators along a tree, 2 words of each of SET from every rank; rows of a working set on its columns to the
 * rank that solves, the set and what it moved from there: a problem of a round of the decomposition. */
static dkm_comm round_comm(const dkm_workload *work)
{
    double ranks = (double)work->ranks;

    return (dkm_comm){ranks > 1 ? 8.0 * SET * (2.0 + (SET + 6.0) / ranks) : 0.0, 2.0 * log2(ranks),
                      4.0};
}

static void add_decomposition(dkm_cost *cost, const dkm_cost_terms *terms, dkm_idx classes,
                              double held)
{
    double m = (double)terms->work.m, c = (double)classes;
    double rounds = terms->work.iterations > 0 ? (double)terms->work.iterations : ROUNDS;
    dkm_comm comm = {0};

    /* rows of a working set that are here, those of all of it, and the subproblem */
    held += dkm_cost_rows(terms, 16.0 * c) +
            8.0 * SET * (fmin(SET, dkm_cost_rows(terms, 1.0)) + 2.0 * SET);
    dkm_comm_add(&comm, rounds * c, round_comm(&terms->work));
    dkm_cost_add_phase(cost, "solve", held, 2.0 * SET * m * rounds * c, NAN);
    dkm_cost_note_phase(cost, held, comm);
}

static void svm_estimate(const dkm_settings *s, const dkm_kernel *kx, const dkm_workload *work,
                         const dkm_rates *rates, dkm_cost *cost)
{
    dkm_cost_terms terms = {.work = *work, .rates = rates};
    double data =
        dkm_cost_data(&terms) + dkm_cost_shifted_rows(&terms, kx, work->x_type, work->x_cols) +
        dkm_example_weights_estimate(s, work->m, 1.0, cost) +
        dkm_cost_replicate(cost, "places of the support vectors, m", 8.0 * (double)work->m);
    double m = (double)work->m, nodes = NODE_BYTES * m * m + CHUNK_BYTES;
    dkm_idx classes = work->y_cols > 1 ? work->y_cols : dkm_estimate_classes(work, cost);
    dkm_svm_dual_settings chosen = {.solver = (dkm_svm_solver)dkm_settings_choice(s, "solver")};
    int libsvm = dkm_svm_dual_solver(&chosen, work->m) == DKM_SVM_LIBSVM &&
                 !dkm_settings_given(s, "weights");

    data += libsvm ? dkm_cost_replicate(cost, "kernel matrix for LIBSVM, 16 m^2", nodes) : 0.0;
    dkm_cost_add_gram(cost, &terms, "gram", data, work->x_bytes, (double)work->x_cols);
    add_rows(cost, &terms, libsvm, data);
    if (libsvm) {
        dkm_cost_add_phase(cost, "solve", data + fmin(CACHE_BYTES, 4.0 * m * m),
                           6.0 * m * m * (double)classes, NAN);
        dkm_cost_note_phase(cost, data, (dkm_comm){0});
    } else {
        add_decomposition(cost, &terms, classes, data + dkm_cost_rows(&terms, 8.0 * m));
    }
    dkm_cost_sum_up(cost, &terms);
}

static const dkm_setting settings[] = {
    DKM_ROW_KX,
    {.name = "C",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_REQUIRED | DKM_SETTING_SEARCH | DKM_SETTING_POSITIVE,
     .metavar = "C",
     .help = "weight > 0 of examples on the wrong side of the margin"},
    {.name = "hinge",
     .kind = DKM_SETTING_CHOICE,
     .choices = "plain|squared|",
     .default_text = "plain",
     .metavar = "WORD",
     .help = "what such an example costs: its distance to the margin, or half the square of that"},
    {.name = "tolerance",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_POSITIVE,
     .default_text = "1e-3",
     .metavar = "E",
     .help = "violation of the optimality conditions that may be left"},
    {.name = "solver",
     .kind = DKM_SETTING_CHOICE,
     .choices = "auto|libsvm|decomposition|",
     .default_text = "auto",
     .metavar = "WORD",
     .help = "libsvm: a class per rank, which holds all of the kernel matrix; decomposition: all "
             "ranks on each class; auto: libsvm up to 4000 examples without weights"},
    DKM_ROW_WEIGHTS,
    DKM_ROW_CLASS_WEIGHTS,
    {0}};

const dkm_method dkm_method_svm = {
    .name = "svm",
    .summary = "support vector machines, one class against the rest",
    .about =
        "Up to 4000 examples the classes are dealt to the ranks, and LIBSVM solves for each; a "
        "rank that solves holds all of the kernel matrix, 16 bytes per element. Above that, "
        "all ranks share the kernel matrix and solve every class by decomposition.",
    .references = "Chang, Lin (2011), LIBSVM: a library for support vector machines, "
                  "doi:10.1145/1961189.1961199; Joachims (1999), Making large-scale SVM learning "
                  "practical, Advances in Kernel Methods ch. 11",
    .example = "--x x.npy --y labels.npy --kx 'rbf(sigma=2)' --C 10",
    .inputs = "training inputs, of any type",
    .outputs = "labels or names of classes, as many",
    .settings = settings,
    .fit = svm_fit,
    .names_classes = svm_names_classes,
    .estimate = svm_estimate,
    .takes_gram = 1,
    .classes = {&dkm_class_svm},
};
