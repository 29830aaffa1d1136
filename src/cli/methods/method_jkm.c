#include <string.h>

#include "cli/methods/method.h"
#include "cli/options/common_options.h"

static dkm_jkm_outputs method_jkm_outputs_of(const char *word)
{
    return strcmp(word, "sphere") == 0       ? DKM_JKM_SPHERE
           : strcmp(word, "free") == 0       ? DKM_JKM_FREE
           : strcmp(word, "candidates") == 0 ? DKM_JKM_CANDIDATES
                                             : DKM_JKM_AUTO;
}

static dkm_jkm_slacks slacks_of(const char *word)
{
    return strcmp(word, "each") == 0  ? DKM_JKM_SLACKS_EACH
           : strcmp(word, "one") == 0 ? DKM_JKM_SLACKS_ONE
                                      : DKM_JKM_SLACKS_AUTO;
}

static dkm_jkm_rescale rescale_of(const char *word)
{
    return strcmp(word, "slack") == 0    ? DKM_JKM_RESCALE_SLACK
           : strcmp(word, "margin") == 0 ? DKM_JKM_RESCALE_MARGIN
                                         : DKM_JKM_PLAIN;
}

static dkm_status read_epsilon(run *r, double *epsilon)
{
    dkm_local local = DKM_LOCAL_OK;

    *epsilon = args_real(r->args, "epsilon");
    if (!(*epsilon >= 0))
        local = dkm_fail(r->ctx, DKM_ERR_ARG, "--epsilon must be 0 or more, not %s",
                         args_text(r->args, "epsilon"));
    return dkm_agree(r->ctx, local);
}

static dkm_status method_jkm_settings(run *r, method_settings *s)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings *j = &s->jkm;

    *j = dkm_jkm_settings_default();
    j->layout = run_layout(r);
    j->outputs = method_jkm_outputs_of(args_text(r->args, "outputs"));
    j->slacks = slacks_of(args_text(r->args, "slacks"));
    j->rescale = rescale_of(args_text(r->args, "rescale"));
    j->rounds = args_whole(r->args, "rounds");
    j->tolerance = args_real(r->args, "tolerance");
    j->threshold = args_flag(r->args, "threshold");
    if (args_count(r->args, "spread") > 0)
        j->spread = args_whole(r->args, "spread");
    if (args_count(r->args, "epsilon") > 0)
        DKM_TRY(read_epsilon(r, &j->epsilon));
    if (args_count(r->args, "anneal") > 0)
        j->anneal = args_real(r->args, "anneal");
    if (args_count(r->args, "C") > 0)
        DKM_TRY(run_positive(r, "C", &j->C));
out:
    return status;
}

static dkm_status read_optional(run *r, const char *name, const char *type, dkm_data **data)
{
    const char *where = args_text(r->args, name);

    return where ? dkm_data_read(r->ctx, where, DKM_OUTPUTS, type, data) : DKM_OK;
}

static dkm_status method_jkm_fit(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
                                 dkm_model **model, method_info *info)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings j = s->jkm;
    dkm_joint *joint = NULL;

    DKM_TRY(dkm_joint_parse(r->ctx, args_text(r->args, "joint"), &joint));
    DKM_TRY(read_optional(r, "candidates", args_text(r->args, "y-type"), &j.candidates));
    DKM_TRY(read_optional(r, "lists", "label-sets", &j.lists));
    DKM_TRY(dkm_jkm_fit(r->ctx, X, Y, s->kx, s->ky, joint, &j, model, &info->jkm));
out:
    dkm_data_destroy(&j.candidates);
    dkm_data_destroy(&j.lists);
    dkm_joint_destroy(&joint);
    return status;
}

static void method_jkm_report(run *r, const method_settings *s, const method_info *info)
{
    const dkm_jkm_info *j = &info->jkm;

    report_int(r, "m", j->m);
    report_text(r, "kernel", dkm_kernel_text(s->kx));
    report_text(r, "joint", args_text(r->args, "joint"));
    report_text(r, "outputs", j->outputs);
    report_int(r, "coordinates", j->r);
    if (j->candidates > 0)
        report_int(r, "candidates", j->candidates);
    report_real(r, "epsilon", j->epsilon);
    report_text(r, "slacks", j->slacks);
    if (s->jkm.threshold)
        report_real(r, "threshold", j->threshold);
    if (j->spread)
        report_text(r, "program", "spread");
    report_int(r, "rounds", j->rounds);
    report_int(r, "constraints", j->constraints);
    report_int(r, "support", j->support);
    report_real(r, "primal", j->primal);
    report_real(r, "dual", j->dual);
    report_real(r, "gap", j->gap);
    report_real(r, "slack", j->slack);
    report_real(r, "violation", j->violation);
}

static const option options[] = {
    ROW_X("training inputs, of any type that --kx is for"),
    ROW_Y("training outputs, as many: dense rows, labels, or objects of any type that --ky is for"),
    ROW_KX,
    {.name = "ky",
     .kind = OPT_TEXT,
     .metavar = "KERNEL",
     .help =
         "kernel of the outputs; linear where none is given, with labels as one column a class"},
    {.name = "joint",
     .kind = OPT_TEXT,
     .default_text = "tensor",
     .metavar = "JOINT",
     .help = "joint kernel: tensor, linear, diag(lambda=0.5), patch(lambda=0.95, shape=64x64, "
             "size=10, step=5), identity, strings(p=3), rbf(sigma=1), and of those sum and scale"},
    {.name = "epsilon",
     .kind = OPT_REAL,
     .flags = OPT_SEARCH,
     .metavar = "E",
     .help =
         "outputs so near are as good as the right one; 0.1, and 0 among candidates, where none "
         "is given. The margin is E^2/4, or 1 where E is 0"},
    {.name = "anneal",
     .kind = OPT_REAL,
     .metavar = "E0",
     .help = "begin with this larger epsilon and shrink it each time examples are separated"},
    {.name = "C",
     .kind = OPT_REAL,
     .flags = OPT_SEARCH,
     .metavar = "C",
     .help = "price of slack, for a soft margin; none is allowed without it"},
    {.name = "slacks",
     .kind = OPT_WORD,
     .choices = "auto|each|one|",
     .default_text = "auto",
     .help = "one slack for each example (fewer rounds), or one for all (smaller programs)"},
    {.name = "rescale",
     .kind = OPT_WORD,
     .choices = "none|slack|margin|",
     .default_text = "none",
     .help = "let the loss ||y - y'||^2 / 2 scale the slack, or the margin, of a wrong output"},
    {.name = "threshold",
     .kind = OPT_FLAG,
     .help = "split the constraints: right outputs score above a threshold by half the margin, and "
             "all others below it"},
    {.name = "outputs",
     .kind = OPT_WORD,
     .choices = "auto|sphere|free|candidates|",
     .default_text = "auto",
     .help = "among what a better output is looked for: vectors of unit length, all vectors, or a "
             "finite set; auto takes what suits the outputs"},
    {.name = "candidates",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "outputs to tell the right one from; the training outputs where none are given"},
    {.name = "lists",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "for each example the candidates that count, as label sets of their numbers"},
    {.name = "tolerance",
     .kind = OPT_REAL,
     .default_text = "1e-3",
     .metavar = "T",
     .help = "stop at violations of this share of the margin, or at this duality gap with --C"},
    {.name = "rounds",
     .kind = OPT_WHOLE,
     .least = 1,
     .default_text = "1000",
     .metavar = "N",
     .help = "stop after so many rounds"},
    {.name = "spread",
     .kind = OPT_WHOLE,
     .least = 1,
     .metavar = "N",
     .help = "constraints beyond which their Gram matrix is spread over the ranks; 8000 where none "
             "is given"},
    ROW_X_TYPE,
    ROW_Y_TYPE,
    {0}};

static dkm_local method_jkm_check_cv(run *r)
{
    return run_reject_option(r, "lists",
                             "is for fit: it has a line an example, and cv deals those to folds");
}

static const char *const lists[] = {"epsilon", "C", NULL};

const method method_jkm = {
    .name = "jkm",
    .summary = "joint kernel maps: score pairs of input and output, by a margin",
    .about = "Learns a score of pairs such that the right output of each example beats all others "
             "farther than epsilon by a margin. Violated constraints are looked for in rounds, on "
             "all ranks, and the quadratic program of those found is solved anew each time. "
             "`dkmap predict` gives the output of highest score.",
    .arguments = "--x x.npy --y y.npy --kx linear --joint 'diag(lambda=0.5)' --epsilon 0.1",
    .options = options,
    .settings = method_jkm_settings,
    .fit = method_jkm_fit,
    .tell = method_jkm_report,
    .lists = lists,
    .check_cv = method_jkm_check_cv,
};
