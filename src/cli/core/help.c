#include "cli/core/help.h"

#include <string.h>

#include <dkmap/context.h>

enum { WIDTH = 80, COLUMN = 22 };

/* Words of @p text from column @p at, broken at WIDTH; new lines begin at @p indent. */
static void wrap(FILE *out, int indent, int at, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (at > indent && at + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        at += fprintf(out, "%s%.*s", at > indent ? " " : "", length, text);
        text += length;
        if (*text == '\n') {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        text += *text != '\0';
    }
    fputc('\n', out);
}

/* The left column and, from COLUMN on, the text that explains it. */
static void help_explain(FILE *out, const char *left, const char *text)
{
    int at = fprintf(out, "  %s", left);

    if (at >= COLUMN) {
        fprintf(out, "\n%*s", COLUMN, "");
    } else {
        fprintf(out, "%*s", COLUMN - at, "");
    }
    wrap(out, COLUMN, COLUMN, text);
}

/* What follows the hint of an option that takes a list in commands that search over settings. */
static const char *list_hint(const command *c, const option *o)
{
    return c->sweeps && (o->flags & OPT_SEARCH) ? "[,...]" : "";
}

static void explain_option(FILE *out, const command *c, const option *o)
{
    char left[120], text[800], letter[8] = "";
    const char *choices = o->choices ? o->choices : "";
    size_t used = (size_t)snprintf(text, sizeof text, "%s", option_help(c, o));

    for (const char *w = o->aliases ? o->aliases : ""; *w && used < sizeof text;
         w += strcspn(w, "|") + 1)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s--%.*s",
                                 w == o->aliases ? "; also " : ", ", (int)strcspn(w, "|"), w);
    for (const char *w = choices; *w && used < sizeof text; w += strcspn(w, "|") + 1)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s",
                                 w == choices ? ": " : ", ", (int)strcspn(w, "|"), w);
    if (o->default_text && used < sizeof text)
        snprintf(text + used, sizeof text - used, " [%s]", o->default_text);
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s%s", letter, o->name, *option_hint(o) ? " " : "",
             option_hint(o), list_hint(c, o));
    help_explain(out, left, text);
}

static void print_usage_line(FILE *out, const command *c)
{
    char line[600], label[64];
    size_t used = (size_t)snprintf(line, sizeof line, "dkmap %s", c->name);
    const option *o;

    if (command_is_group(c))
        used += (size_t)snprintf(line + used, sizeof line - used, " METHOD");
    if (c->positionals)
        used += (size_t)snprintf(line + used, sizeof line - used, " %s", c->positionals);
    for (int k = 0; (o = option_at(c, k)) && used < sizeof line; k++) {
        option_label(o, label, sizeof label);
        if (o->flags & OPT_REQUIRED)
            used += (size_t)snprintf(line + used, sizeof line - used, " %s %s%s", label,
                                     option_hint(o), list_hint(c, o));
    }
    if (used < sizeof line)
        snprintf(line + used, sizeof line - used, " [options]");
    fputs("Usage: ", out);
    wrap(out, 7, 7, line);
}

/* The method's options, then the command's own, then those that all have in common. */
static void print_options(FILE *out, const command *c)
{
    const option *o;
    int common = 0;

    for (int k = 0; (o = option_at(c, k)); k++) {
        if (k == 0)
            fputs("\nOptions:\n", out);
        if (!common && (o == dkm_layout_settings || o == compute_options || o == report_options))
            common = fputs("\nCommon options:\n", out) >= 0;
        if (!(o->flags & OPT_HIDDEN))
            explain_option(out, c, o);
    }
}

static void print_example(FILE *out, const command *c)
{
    fputs("\nExample:\n", out);
    if (c->method)
        fprintf(out, "  mpirun -np 4 dkmap %s %s %s\n", c->name, dkm_method_example(c->method),
                c->example);
    else
        fprintf(out, "  %s\n", c->example);
}

static void print_list(FILE *out, const char *title, const command *c)
{
    subcommand below;

    fprintf(out, "\n%s:\n", title);
    for (int k = 0; command_below(c, k, &below); k++)
        help_explain(out, command_word(&below.command), command_summary(&below.command));
}

static void print_command(FILE *out, const command *c)
{
    const char *about = command_about(c);

    fprintf(out, "dkmap %s: %s\n\n", c->name, command_summary(c));
    print_usage_line(out, c);
    if (about) {
        fputc('\n', out);
        wrap(out, 0, 0, about);
    }
    if (command_is_group(c))
        print_list(out, "Methods", c);
    print_options(out, c);
    print_example(out, c);
    if (command_is_group(c))
        fprintf(out, "\nMore on a method: dkmap help %s METHOD\n", c->name);
}

void help_print(FILE *out, const command *c)
{
    if (c) {
        print_command(out, c);
        return;
    }
    fprintf(out, "dkmap %s: learn maps between arbitrary objects with kernels, on MPI ranks\n\n",
            DKMAP_VERSION);
    fputs("Usage: dkmap COMMAND [options]\n"
          "       mpirun -np 4 dkmap COMMAND [options]\n",
          out);
    print_list(out, "Commands", NULL);
    fputs("\nMore on a command: dkmap help COMMAND\n"
          "Manual pages, Markdown: dkmap help --man COMMAND, dkmap help --markdown\n"
          "Completion for bash: source <(dkmap help --completion bash)\n"
          "Exit status: 0 done, 1 failed, 2 wrong usage, 3 stopped early on a signal\n",
          out);
}

void help_usage(FILE *out)
{
    const char *word = "";

    fputs("Usage: dkmap COMMAND [options], where COMMAND is", out);
    for (const command *const *c = commands; *c; c++) {
        fprintf(out, "%s%s", word, c[1] || c == commands ? " " : " or ");
        fputs(command_word(*c), out);
        word = c[1] && c[2] ? "," : "";
    }
    fputs(".\nFor more: dkmap help\n", out);
}
