#include "cli/core/args.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/core/parse.h"

const value *args_value(const args *a, const char *name, int k)
{
    assert(option_find(a->command, name, strlen(name)));
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->values[i].option->name, name) == 0 && k-- == 0)
            return &a->values[i];
    return NULL;
}

int args_count(const args *a, const char *name)
{
    int k = 0;

    while (args_value(a, name, k))
        k++;
    return k;
}

const char *args_text(const args *a, const char *name)
{
    const value *v = args_value(a, name, 0);

    return v ? v->text : NULL;
}

double args_real(const args *a, const char *name)
{
    const value *v = args_value(a, name, 0);

    assert(v && (v->option->kind == OPT_REAL || v->option->kind == OPT_TIME ||
                 v->option->kind == OPT_BYTES));
    return v->real;
}

int64_t args_int(const args *a, const char *name)
{
    const value *v = args_value(a, name, 0);

    assert(v && (v->option->kind == OPT_INT || v->option->kind == OPT_CHOICE));
    return v->integer;
}

int args_flag(const args *a, const char *name)
{
    return args_value(a, name, 0) != NULL;
}

int args_given(const args *a, const char *name)
{
    for (int k = 0; k < a->given; k++)
        if (strcmp(a->values[k].option->name, name) == 0)
            return 1;
    return 0;
}

int args_counts_comm(const args *a)
{
    return a->command->counts_comm || (args_accepts(a, "count-comm") && args_flag(a, "count-comm"));
}

int args_changed(const args *a, const char *name)
{
    const value *v = args_value(a, name, 0);

    return v && (!v->option->default_text || strcmp(v->text, v->option->default_text) != 0);
}

int args_accepts(const args *a, const char *name)
{
    return option_find(a->command, name, strlen(name)) != NULL;
}

/* An argument with anything but plain letters goes in quotes, as a shell wants it. */
static char *quote(char *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,%@";
    int quoted = text[strspn(text, plain)] != '\0' || *text == '\0';

    if (quoted)
        *out++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            memcpy(out, "'\\'", 3);
            out += 3;
        }
        *out++ = *text;
    }
    if (quoted)
        *out++ = '\'';
    return out;
}

static void join_line(char *out, int argc, char **argv)
{
    out = quote(out, "dkmap");
    for (int k = 1; k < argc; k++) {
        *out++ = ' ';
        out = quote(out, argv[k]);
    }
    *out = '\0';
}

static size_t text_bytes(int argc, char **argv)
{
    size_t bytes = sizeof "dkmap";

    for (int k = 0; k < argc; k++)
        bytes += strlen(argv[k]) + 1;
    return bytes;
}

/* Copies of all arguments, one after the other. */
static char **copy_texts(args *a, int argc, char **argv)
{
    size_t bytes = text_bytes(argc, argv), used = 0;
    char **copies = calloc((size_t)argc + 1, sizeof *copies);

    a->positionals = calloc((size_t)argc + 1, sizeof *a->positionals);
    a->texts = malloc(bytes);
    a->line = malloc(4 * bytes); /* a quote takes four letters */
    if (!copies || !a->positionals || !a->texts || !a->line) {
        free(copies);
        return NULL;
    }
    for (int k = 0; k < argc; k++) {
        size_t length = strlen(argv[k]) + 1;
        copies[k] = memcpy(a->texts + used, argv[k], length);
        used += length;
    }
    return copies;
}

args_outcome args_read(args *a, int argc, char **argv, const config_loader *loader)
{
    args_outcome outcome = ARGS_WRONG;
    char **copies;

    *a = (args){.complaint = "no memory for the command line"};
    copies = copy_texts(a, argc, argv);
    if (copies) {
        join_line(a->line, argc, argv);
        outcome = parse(a, argc, copies, loader);
    }
    free(copies);
    return outcome;
}

void args_free(args *a)
{
    for (int k = 0; k < a->ranges; k++)
        free(a->range_texts[k]);
    free(a->range_texts);
    free(a->values);
    free(a->positionals);
    free(a->texts);
    free(a->line);
    config_free(&a->config);
    *a = (args){0};
}
