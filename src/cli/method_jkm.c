#include <string.h>

#include "method.h"
#include "rows.h"

static dkm_jkm_outputs outputs_of(const char *word)
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

static dkm_status settings(run *r, method_settings *s)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings *j = &s->jkm;

    *j = dkm_jkm_settings_default();
    j->layout = run_layout(r);
    j->outputs = outputs_of(args_text(r->args, "outputs"));
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

static dkm_status fit(run *r, const method_settings *s, dkm_data **X, dkm_data **Y,
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

static void tell(run *r, const method_settings *s, const method_info *info)
{
    const dkm_jkm_info *j = &info->jkm;

    run_tell_int(r, "m", j->m);
    run_tell_text(r, "kernel", dkm_kernel_text(s->kx));
    run_tell_text(r, "joint", args_text(r->args, "joint"));
    run_tell_text(r, "outputs", j->outputs);
    run_tell_int(r, "coordinates", j->r);
    if (j->candidates > 0)
        run_tell_int(r, "candidates", j->candidates);
    run_tell_real(r, "epsilon", j->epsilon);
    run_tell_text(r, "slacks", j->slacks);
    if (s->jkm.threshold)
        run_tell_real(r, "threshold", j->threshold);
    if (j->spread)
        run_tell_text(r, "program", "spread");
    run_tell_int(r, "rounds", j->rounds);
    run_tell_int(r, "constraints", j->constraints);
    run_tell_int(r, "support", j->support);
    run_tell_real(r, "primal", j->primal);
    run_tell_real(r, "dual", j->dual);
    run_tell_real(r, "gap", j->gap);
    run_tell_real(r, "slack", j->slack);
    run_tell_real(r, "violation", j->violation);
}

static const option options[] = {
    ROW_X("training inputs, of any type that --kx is for"),
    ROW_Y("training outputs, as many: dense rows, labels, or objects of any type that --ky is for"),
    ROW_KX,
    {.name = "ky",
     .kind = OPT_TEXT,
     .hint = "KERNEL",
     .help =
         "kernel of the outputs; linear where none is given, with labels as one column a class"},
    {.name = "joint",
     .kind = OPT_TEXT,
     .preset = "tensor",
     .hint = "JOINT",
     .help = "joint kernel: tensor, linear, diag(lambda=0.5), patch(lambda=0.95, shape=64x64, "
             "size=10, step=5), identity, strings(p=3), rbf(sigma=1), and of those sum and scale"},
    {.name = "epsilon",
     .kind = OPT_REAL,
     .flags = OPT_SWEEP,
     .hint = "E",
     .help =
         "outputs so near are as good as the right one; 0.1, and 0 among candidates, where none "
         "is given. The margin is E^2/4, or 1 where E is 0"},
    {.name = "anneal",
     .kind = OPT_REAL,
     .hint = "E0",
     .help = "begin with this larger epsilon and shrink it each time examples are separated"},
    {.name = "C",
     .kind = OPT_REAL,
     .flags = OPT_SWEEP,
     .hint = "C",
     .help = "price of slack, for a soft margin; none is allowed without it"},
    {.name = "slacks",
     .kind = OPT_WORD,
     .words = "auto|each|one|",
     .preset = "auto",
     .help = "one slack for each example (fewer rounds), or one for all (smaller programs)"},
    {.name = "rescale",
     .kind = OPT_WORD,
     .words = "none|slack|margin|",
     .preset = "none",
     .help = "let the loss ||y - y'||^2 / 2 scale the slack, or the margin, of a wrong output"},
    {.name = "threshold",
     .kind = OPT_FLAG,
     .help = "split the constraints: right outputs score above a threshold by half the margin, and "
             "all others below it"},
    {.name = "outputs",
     .kind = OPT_WORD,
     .words = "auto|sphere|free|candidates|",
     .preset = "auto",
     .help = "among what a better output is looked for: vectors of unit length, all vectors, or a "
             "finite set; auto takes what suits the outputs"},
    {.name = "candidates",
     .kind = OPT_TEXT,
     .hint = "FILE",
     .help = "outputs to tell the right one from; the training outputs where none are given"},
    {.name = "lists",
     .kind = OPT_TEXT,
     .hint = "FILE",
     .help = "for each example the candidates that count, as label sets of their numbers"},
    {.name = "tolerance",
     .kind = OPT_REAL,
     .preset = "1e-3",
     .hint = "T",
     .help = "stop at violations of this share of the margin, or at this duality gap with --C"},
    {.name = "rounds",
     .kind = OPT_WHOLE,
     .least = 1,
     .preset = "1000",
     .hint = "N",
     .help = "stop after so many rounds"},
    {.name = "spread",
     .kind = OPT_WHOLE,
     .least = 1,
     .hint = "N",
     .help = "constraints beyond which their Gram matrix is spread over the ranks; 8000 where none "
             "is given"},
    ROW_X_TYPE,
    ROW_Y_TYPE,
    {0}};

static dkm_local check_cv(run *r)
{
    return run_refuse(r, "lists",
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
    .settings = settings,
    .fit = fit,
    .tell = tell,
    .lists = lists,
    .check_cv = check_cv,
};
