#include "cli/streams/standard_streams.h"

#include <string.h>

/* `-`, `-.npy`, `-[0:10]`: as the library understands it. */
static int is_standard(const char *text)
{
    return text[0] == '-' && (text[1] == '\0' || text[1] == '.' || text[1] == '[');
}

/* Options that name what is written; others that name a file read it. */
static int is_written(const option *o)
{
    static const char *const names[] = {"output", "record", "folds-out", "table",
                                        "plot",   "c",      "onnx",      "out-dir"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(o->name, names[k]) == 0)
            return 1;
    return 0;
}

/* Options whose values are names of files. */
static int names_file(const option *o)
{
    const char *hint = option_hint(o);

    return strncmp(hint, "FILE", 4) == 0 || strncmp(hint, "DIR", 3) == 0;
}

int standard_output_taken(const args *a)
{
    const char *path = args_accepts(a, "output") ? args_text(a, "output") : NULL;

    return path && is_standard(path);
}

static dkm_local check_written(dkm_ctx *ctx, const args *a, const value *v)
{
    if (strcmp(v->option->name, "output") != 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "--%s %s: name a file: standard output is for -o alone",
                        v->option->name, v->text);
    if (args_flag(a, "json"))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "-o %s and --json both want standard output: name a file for one of them",
                        v->text);
    return DKM_LOCAL_OK;
}

/* Two slices of one table may come through one pipe. */
static dkm_local check_read(dkm_ctx *ctx, const value *v, const value **first)
{
    const value *other = *first;

    if (!other)
        *first = v;
    if (!other || (strchr(other->text, '[') && strchr(v->text, '[')))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_ARG,
                    "--%s and --%s both want standard input: name a file for one of them, or give "
                    "each a slice of it, such as '-[:, 0:3]'",
                    other->option->name, v->option->name);
}

dkm_local standard_streams_check(dkm_ctx *ctx, const args *a)
{
    dkm_local local = DKM_LOCAL_OK;
    const value *first = NULL;

    for (int k = 0; k < a->given; k++) {
        const value *v = &a->values[k];
        if (!names_file(v->option) || !is_standard(v->text))
            continue;
        DKM_STEP(is_written(v->option) ? check_written(ctx, a, v) : check_read(ctx, v, &first));
    }
    for (int k = 0; k < a->operand_count; k++)
        if (is_standard(a->positionals[k]) && strcmp(a->command->name, "info") != 0)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG,
                              "%s: a model is an HDF5 file, which is not read from standard input: "
                              "name a file",
                              a->positionals[k]));
out:
    return local;
}
