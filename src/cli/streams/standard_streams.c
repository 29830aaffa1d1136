#include "cli/streams/standard_streams.h"

#include <string.h>
#include <sys/stat.h>

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

/* The file that a text names, which a slice or the name of a dataset may follow. Whether it is there. */
static int find_file(const char *text, struct stat *about)
{
    char path[4096];
    size_t length = strlen(text);
    char *colon;

    if (is_standard(text) || length >= sizeof path)
        return 0;
    memcpy(path, text, length + 1);
    if (stat(path, about) == 0)
        return S_ISREG(about->st_mode);
    path[strcspn(path, "[")] = '\0';
    if (stat(path, about) == 0)
        return S_ISREG(about->st_mode);
    colon = strrchr(path, ':');
    if (colon)
        *colon = '\0';
    return colon && stat(path, about) == 0 && S_ISREG(about->st_mode);
}

static int is_same_file(const char *one, const char *other)
{
    struct stat a, b;

    return find_file(one, &a) && find_file(other, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Commands that change a model may put the new one in the place of the old one. */
static int replaces_model(const args *a, const value *v)
{
    return strcmp(v->option->name, "output") == 0 &&
           (strcmp(a->command->name, "append") == 0 || strcmp(a->command->name, "forget") == 0 ||
            strcmp(a->command->name, "extend combine") == 0);
}

static dkm_local check_apart(dkm_ctx *ctx, const args *a, const value *v)
{
    char label[64], other[64];

    option_label(v->option, label, sizeof label);
    for (int k = 0; k < a->given; k++) {
        const value *u = &a->values[k];
        if (u == v || !names_file(u->option) || (u < v && is_written(u->option)) ||
            !(is_same_file(v->text, u->text) ||
              (is_written(u->option) && strcmp(v->text, u->text) == 0)))
            continue;
        option_label(u->option, other, sizeof other);
        return dkm_fail(ctx, DKM_ERR_ARG, "%s %s is the file of %s, too: name another one", label,
                        v->text, other);
    }
    for (int k = 0; k < a->operand_count && !replaces_model(a, v); k++)
        if (is_same_file(v->text, a->positionals[k]))
            return dkm_fail(ctx, DKM_ERR_ARG, "%s %s is a file that is read: name another one",
                            label, v->text);
    return DKM_LOCAL_OK;
}

dkm_local written_files_check(dkm_ctx *ctx, const args *a)
{
    dkm_local local = DKM_LOCAL_OK;

    for (int k = 0; dkm_ctx_rank(ctx) == 0 && k < a->given; k++)
        if (names_file(a->values[k].option) && is_written(a->values[k].option))
            DKM_STEP(check_apart(ctx, a, &a->values[k]));
out:
    return local;
}
