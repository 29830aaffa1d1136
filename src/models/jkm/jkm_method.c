/* Joint kernel maps as a method. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/jkm.h>

#include "core/minmax.h"
#include "models/common/example_weights.h"
#include "models/common/kernel_default.h"
#include "models/common/method_parts.h"
#include "models/jkm/chain/chain.h"
#include "models/jkm/jkm_impl.h"
#include "models/jkm/joint_map/joint_map_matrix.h"

/* Of estimates: constraints per example where each has its own; of chains of strings the window, and
 * characters of an alphabet. */
enum { CONSTRAINTS_EACH = 3, WINDOW = 3, LETTERS = 26 };
enum { LANDMARKS = 2000 }; /* of chains, where their number is not given */

static void jkm_report(dkm_report *report, const dkm_settings *s, const dkm_kernel *kx,
                       const dkm_jkm_info *j)
{
    dkm_report_add_int(report, "m", j->m);
    if (j->positions > 0)
        dkm_report_add_int(report, "positions", j->positions);
    if (j->landmarks > 0)
        dkm_report_add_int(report, "landmarks", j->landmarks);
    dkm_report_add_text(report, "kernel", dkm_kernel_text(kx));
    dkm_report_add_text(report, "joint", dkm_settings_text(s, "joint"));
    dkm_report_add_text(report, "outputs", j->outputs);
    dkm_report_add_int(report, "coordinates", j->r);
    if (j->candidates > 0)
        dkm_report_add_int(report, "candidates", j->candidates);
    dkm_report_add_real(report, "epsilon", j->epsilon);
    dkm_report_add_text(report, "slacks", j->slacks);
    if (dkm_settings_flag(s, "threshold"))
        dkm_report_add_real(report, "threshold", j->threshold);
    if (j->spread)
        dkm_report_add_text(report, "program", "spread");
    dkm_report_add_int(report, "rounds", j->rounds);
    dkm_report_add_int(report, "constraints", j->constraints);
    dkm_report_add_int(report, "support", j->support);
    dkm_report_add_real(report, "primal", j->primal);
    dkm_report_add_real(report, "dual", j->dual);
    dkm_report_add_real(report, "gap", j->gap);
    dkm_report_add_real(report, "slack", j->slack);
    dkm_report_add_real(report, "violation", j->violation);
}

static void jkm_read(const dkm_settings *s, dkm_jkm_settings *j)
{
    static const dkm_jkm_outputs domains[] = {DKM_JKM_AUTO, DKM_JKM_SPHERE, DKM_JKM_FREE,
                                              DKM_JKM_CANDIDATES, DKM_JKM_CHAIN};
    static const dkm_jkm_slacks formulations[] = {DKM_JKM_SLACKS_AUTO, DKM_JKM_SLACKS_EACH,
                                                  DKM_JKM_SLACKS_ONE};
    static const dkm_jkm_rescale rescales[] = {DKM_JKM_PLAIN, DKM_JKM_RESCALE_SLACK,
                                               DKM_JKM_RESCALE_MARGIN};

    *j = dkm_jkm_settings_default();
    j->layout = dkm_settings_layout(s);
    j->outputs = domains[dkm_settings_choice(s, "output-domain")];
    j->slacks = formulations[dkm_settings_choice(s, "formulation")];
    j->rescale = rescales[dkm_settings_choice(s, "rescale")];
    j->rounds = dkm_settings_int(s, "max-iter");
    j->tolerance = dkm_settings_real(s, "tolerance");
    j->threshold = dkm_settings_flag(s, "threshold");
    if (dkm_settings_given(s, "qp-distribute-above"))
        j->spread = dkm_settings_int(s, "qp-distribute-above");
    if (dkm_settings_given(s, "window"))
        j->window = dkm_settings_int(s, "window");
    if (dkm_settings_given(s, "sequence-column"))
        j->sequence_column = dkm_settings_int(s, "sequence-column");
    if (dkm_settings_given(s, "landmarks"))
        j->landmarks = dkm_settings_int(s, "landmarks");
    j->landmark_choice = (dkm_landmark_method)dkm_settings_choice(s, "landmark-choice");
    if (dkm_settings_given(s, "epsilon"))
        j->epsilon = dkm_settings_real(s, "epsilon");
    if (dkm_settings_given(s, "epsilon-start"))
        j->anneal = dkm_settings_real(s, "epsilon-start");
    if (dkm_settings_given(s, "C"))
        j->C = dkm_settings_real(s, "C");
}

/* The kernel of the inputs, of chains that of their positions. */
static dkm_status input_kernel(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X,
                               const dkm_jkm_settings *settings, dkm_report *report,
                               dkm_kernel **kx)
{
    dkm_status status = DKM_OK;
    dkm_data *positions = NULL;

    if (settings->outputs != DKM_JKM_CHAIN)
        return dkm_input_kernel(ctx, s, X, report, kx);
    DKM_TRY(dkm_settings_kernel(ctx, s, "kx", NULL, kx));
    if (dkm_chain_is_explicit(dkm_data_type(X), *kx))
        goto out;
    DKM_TRY(dkm_jkm_chain_positions(X, settings, &positions));
    dkm_kernel_destroy(kx);
    DKM_TRY(dkm_input_kernel(ctx, s, positions, report, kx));
out:
    dkm_data_destroy(&positions);
    if (status != DKM_OK)
        dkm_kernel_destroy(kx);
    return status;
}

static dkm_status jkm_fit(dkm_ctx *ctx, const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                          dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    const char *type = dkm_settings_text(s, "candidate-type");
    dkm_jkm_settings settings;
    dkm_jkm_info info = {0};
    dkm_kernel *kx = NULL, *ky = NULL;
    dkm_joint *joint = NULL;
    dkm_data *candidates = NULL, *lists = NULL, *weights = NULL; /* read from files */

    jkm_read(s, &settings);
    DKM_TRY(input_kernel(ctx, s, X, &settings, report, &kx));
    DKM_TRY(dkm_settings_kernel(ctx, s, "ky", Y, &ky));
    DKM_TRY(dkm_settings_joint(ctx, s, "joint", &joint));
    DKM_TRY(dkm_settings_data(ctx, s, "candidates", type, &settings.candidates, &candidates));
    DKM_TRY(dkm_settings_data(ctx, s, "candidate-lists", "label-sets", &settings.lists, &lists));
    DKM_TRY(dkm_read_weights(ctx, s, Y, dkm_data_rows(X), &weights));
    settings.weights = weights;
    DKM_TRY(dkm_jkm_fit(ctx, X, Y, kx, ky, joint, &settings, model, &info));
    jkm_report(report, s, kx, &info);
out:
    dkm_data_destroy(&weights);
    dkm_data_destroy(&lists);
    dkm_data_destroy(&candidates);
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&ky);
    dkm_kernel_destroy(&kx);
    return status;
}

/* Settings that chains alone have. */
static dkm_local jkm_check(dkm_ctx *ctx, const dkm_settings *s)
{
    static const char *const names[] = {"window", "sequence-column", "landmarks"};

    if (strcmp(dkm_settings_text(s, "output-domain"), "chain") == 0)
        return DKM_LOCAL_OK;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (dkm_settings_given(s, names[k]))
            return dkm_fail(ctx, DKM_ERR_ARG, "%s%s goes with %soutputs chain", s->prefix, names[k],
                            s->prefix);
    return DKM_LOCAL_OK;
}

static int jkm_names_classes(const dkm_settings *s)
{
    const char *ky = dkm_settings_text(s, "ky");

    if (strcmp(dkm_settings_text(s, "output-domain"), "chain") == 0)
        return dkm_settings_given(s, "sequence-column");
    return (!ky || dkm_kernel_text_is_of_labels(ky)) && !dkm_settings_given(s, "candidates") &&
           strcmp(dkm_settings_text(s, "joint"), "tensor") == 0;
}

/* Rows of one sequence stay together. */
static dkm_status jkm_groups(const dkm_settings *s, const dkm_data *X, dkm_data **groups)
{
    dkm_idx column = dkm_settings_given(s, "sequence-column")
                         ? dkm_settings_int(s, "sequence-column")
                         : dkm_data_cols(X);

    *groups = NULL;
    if (dkm_data_type(X) != DKM_DENSE || column < 0 || column >= dkm_data_cols(X))
        return DKM_OK;
    return dkm_sequences_numbers(X, column, groups);
}

/* Under other kernels than those with explicit features: those of landmarks, a row per position. */
static double estimate_landmarks(const dkm_jkm_settings *j, dkm_cost_terms *terms, dkm_cost *cost)
{
    double N = (double)terms->work.m, n = j->landmarks > 0 ? (double)j->landmarks : LANDMARKS, rows;

    if (terms->work.x_type == DKM_STRINGS)
        N *= terms->work.x_bytes;
    n = fmin(n, N);
    rows = 8 * N * n / terms->work.ranks;
    terms->work.x_cols = (dkm_idx)n;
    dkm_cost_add_phase(cost, "features", 2 * rows + 32 * n * n / terms->work.ranks,
                       9 * n * n * n + 2 * N * n * n, NAN);
    return rows;
}

/* Chains have features and no Gram matrix: w, one-hot weights of strings by character, and the sums
 * that make a constraint are on every rank. */
static double estimate_chain(const dkm_jkm_settings *j, const dkm_kernel *kx, dkm_cost_terms *terms,
                             dkm_cost *cost)
{
    dkm_idx window = j->window > 0 ? j->window : WINDOW;
    double k, size, rows = 0;

    terms->outputs = dkm_estimate_classes(&terms->work, cost);
    if (!dkm_chain_is_explicit(terms->work.x_type, kx))
        rows = estimate_landmarks(j, terms, cost);
    else if (terms->work.x_type == DKM_STRINGS)
        terms->work.x_cols = window * LETTERS;
    k = (double)terms->outputs;
    size = k * ((double)terms->work.x_cols + k);
    terms->primal = 1;
    return rows + dkm_cost_replicate(cost, "weight vectors of a chain, 6 k (d + k)", 48.0 * size);
}

/* The kernel matrix of one slack for all lies in two dimensions, or there are the features; bytes are those
 * that are given to MPI. */
static dkm_cost_products estimate_products(const dkm_jkm_settings *j, const dkm_cost_terms *terms)
{
    double m = (double)terms->work.m, r = (double)terms->outputs,
           named = dkm_joint_map_choice_bytes(terms->outputs);
    dkm_joint_map_load load = {.m = m,
                               .r = r,
                               .object_bytes = terms->work.x_bytes + DKM_JOINT_MAP_OBJECT_EXTRA,
                               .row_bytes = terms->named ? named : 8.0 * r,
                               .products = (double)dkm_idx_min(j->rounds, DKM_JKM_ROUNDS_EXPECTED)};
    int size = terms->work.ranks, R = j->layout.P, C = j->layout.Q;

    if (terms->primal)
        return (dkm_cost_products){.sent = 8.0 * (double)terms->work.x_cols * r * (1 + 1.0 / size)};
    if (R == 0 || C == 0)
        dkm_joint_map_matrix_shape(size, &load, &R, &C);
    else if (R * C != size)
        R = size, C = 1;
    return (dkm_cost_products){.rows = ceil(m / R),
                               .cols = dkm_joint_map_matrix_columns(m, C),
                               .matrix_sent = dkm_joint_map_matrix_bytes(&load, R, C),
                               .sent = load.row_bytes * m / size * (C > 1 ? 2 : 1) +
                                       (C > 1 ? 8 * r * m / R : 0)};
}

/* One slack for all takes one constraint per iteration, one per example up to a few per example. */
static void jkm_estimate(const dkm_settings *s, const dkm_kernel *kx, const dkm_workload *work,
                         const dkm_rates *rates, dkm_cost *cost)
{
    dkm_cost_terms terms = {.work = *work, .rates = rates};
    dkm_jkm_settings j;
    int classes, one, chain;
    dkm_idx most;
    double held;

    jkm_read(s, &j);
    chain = j.outputs == DKM_JKM_CHAIN;
    classes = work->y_type == DKM_LABELS || j.outputs == DKM_JKM_CANDIDATES;
    most = work->y_type == DKM_LABELS && !dkm_settings_given(s, "ky") ? DKM_JKM_CLASSES_MOST
                                                                      : DKM_JKM_CANDIDATES_MOST;
    one = chain || j.slacks == DKM_JKM_SLACKS_ONE ||
          (j.slacks == DKM_JKM_SLACKS_AUTO && j.C > 0 && classes && work->m > most);
    terms.outputs = dkm_estimate_outputs(work, cost);
    if (work->iterations == 0) {
        terms.work.iterations = DKM_JKM_ROUNDS_EXPECTED;
        snprintf(cost->note, sizeof cost->note,
                 "how many rounds it takes is not known yet: taking %d for the plan",
                 DKM_JKM_ROUNDS_EXPECTED);
    }
    terms.constraints = one ? terms.work.iterations : CONSTRAINTS_EACH * work->m;
    terms.primal = work->x_type == DKM_DENSE && work->x_cols < work->m && dkm_kernel_is_linear(kx);
    terms.kept = one && !chain && !terms.primal;
    terms.named = terms.kept && work->y_type == DKM_LABELS && !dkm_settings_given(s, "weights") &&
                  strcmp(dkm_settings_text(s, "joint"), "tensor") == 0;
    if (one && !chain)
        terms.products = estimate_products(&j, &terms);
    held = dkm_cost_data(&terms) + dkm_cost_shifted_rows(&terms, kx, work->x_type, work->x_cols);
    if (chain)
        held += estimate_chain(&j, kx, &terms, cost);
    else if (!one)
        held += dkm_example_weights_estimate(s, work->m, 2.0, cost);
    dkm_cost_add_cutting_plane(cost, &terms, held);
    dkm_cost_sum_up(cost, &terms);
}

static const dkm_setting settings[] = {
    DKM_ROW_KX,
    {.name = "ky",
     .kind = DKM_SETTING_KERNEL,
     .metavar = "KERNEL",
     .help = "kernel of the outputs; linear where none is given, with labels as one column per "
             "class"},
    {.name = "joint",
     .kind = DKM_SETTING_JOINT,
     .default_text = "tensor",
     .metavar = "JOINT",
     .help = "joint kernel: tensor, linear, diag(lambda=0.5), patch(lambda=0.95, shape=64x64, "
             "size=10, step=5), identity, strings(p=3), rbf(sigma=1), and of those sum and scale"},
    {.name = "epsilon",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_SEARCH | DKM_SETTING_NONNEGATIVE,
     .metavar = "E",
     .help =
         "outputs so near are as good as the right one; 0.1, and 0 among candidates, where none "
         "is given. The margin is E^2/4, or 1 where E is 0"},
    {.name = "epsilon-start",
     .kind = DKM_SETTING_REAL,
     .metavar = "E0",
     .old_names = "anneal|",
     .help = "begin with this larger epsilon and shrink it each time examples are separated"},
    {.name = "C",
     .kind = DKM_SETTING_REAL,
     .flags = DKM_SETTING_SEARCH | DKM_SETTING_POSITIVE,
     .metavar = "C",
     .help = "price of slack, for a soft margin; none is allowed without it"},
    {.name = "formulation",
     .kind = DKM_SETTING_CHOICE,
     .choices = "auto|n-slack|1-slack|",
     .default_text = "auto",
     .old_names = "slacks|",
     .old_choices = "auto|each|one|",
     .help = "one slack per example (fewer iterations), or one for all (smaller programs)"},
    {.name = "rescale",
     .kind = DKM_SETTING_CHOICE,
     .choices = "none|slack|margin|",
     .default_text = "none",
     .help = "let the loss ||y - y'||^2 / 2 scale the slack, or the margin, of a wrong output"},
    {.name = "threshold",
     .kind = DKM_SETTING_FLAG,
     .help = "split the constraints: right outputs score above a threshold by half the margin, and "
             "all others below it"},
    {.name = "output-domain",
     .kind = DKM_SETTING_CHOICE,
     .choices = "auto|sphere|free|candidates|chain|",
     .default_text = "auto",
     .old_names = "outputs|",
     .help = "among what a better output is looked for: vectors of unit length, all vectors, a "
             "finite set, or label sequences; auto takes what suits the outputs"},
    {.name = "window",
     .kind = DKM_SETTING_INT,
     .min = 1,
     .metavar = "W",
     .only_with = "output-domain=chain|",
     .help = "of chains of strings: characters of the input around each position, odd; 3 when not "
             "given"},
    {.name = "sequence-column",
     .kind = DKM_SETTING_INT,
     .metavar = "N",
     .only_with = "output-domain=chain|",
     .help = "of chains of dense rows: the column of x, counted from 0, with the number of the "
             "sequence; a new one begins where it changes"},
    {.name = "landmarks",
     .kind = DKM_SETTING_INT,
     .min = 1,
     .metavar = "N",
     .only_with = "output-domain=chain|",
     .help =
         "of chains under kernels without explicit features: positions that stand for all; 2000 "
         "when not given, and all where there are fewer, which is exact"},
    DKM_ROW_LANDMARK_CHOICE("output-domain=chain|"),
    {.name = "candidates",
     .kind = DKM_SETTING_DATA,
     .metavar = "FILE",
     .help = "outputs to tell the right one from; the training outputs where none are given"},
    {.name = "candidate-lists",
     .kind = DKM_SETTING_DATA,
     .metavar = "FILE",
     .old_names = "lists|",
     .not_in_cv = "is for fit: it has a line per example, and cv deals those to folds",
     .help = "for each example the candidates that count, as label sets of their numbers"},
    DKM_ROW_WEIGHTS,
    DKM_ROW_CLASS_WEIGHTS,
    {.name = "candidate-type",
     .kind = DKM_SETTING_TEXT,
     .flags = DKM_SETTING_HIDDEN,
     .help = "what a file of candidates holds, where its ending does not say"},
    {.name = "tolerance",
     .kind = DKM_SETTING_REAL,
     .default_text = "1e-3",
     .metavar = "T",
     .help = "stop at violations of this share of the margin, or at this duality gap with --C"},
    {.name = "max-iter",
     .kind = DKM_SETTING_INT,
     .min = 1,
     .default_text = "1000",
     .metavar = "N",
     .old_names = "rounds|",
     .help = "stop after so many iterations"},
    {.name = "qp-distribute-above",
     .kind = DKM_SETTING_INT,
     .min = 1,
     .metavar = "N",
     .old_names = "spread|",
     .help = "constraints beyond which their Gram matrix is distributed over the ranks; 2000 where "
             "none is given, and 8000 on one rank"},
    {0}};

const dkm_method dkm_method_jkm = {
    .name = "jkm",
    .summary = "joint kernel maps: score pairs of input and output, by a margin",
    .about = "Learns a score of pairs such that the right output of each example beats all others "
             "farther than epsilon by a margin. Violated constraints are looked for in rounds, on "
             "all ranks, and the quadratic program of those found is solved anew each time. "
             "`dkmap predict` gives the output of highest score.",
    .references =
        "Weston, Schoelkopf, Bousquet (2005), Joint kernel maps, doi:10.1007/11494669_23\n"
        "Tsochantaridis, Joachims, Hofmann, Altun (2005), Large margin methods for "
        "structured and interdependent output variables, JMLR 6",
    .example = "--x x.npy --y y.npy --kx linear --joint 'diag(lambda=0.5)' --epsilon 0.1",
    .inputs = "training inputs, of any type that --kx is for",
    .outputs =
        "training outputs, as many: dense rows, labels, or objects of any type that --ky is for",
    .settings = settings,
    .check = jkm_check,
    .fit = jkm_fit,
    .names_classes = jkm_names_classes,
    .groups = jkm_groups,
    .estimate = jkm_estimate,
    .classes = {&dkm_class_jkm, &dkm_class_jkm_chain},
};
