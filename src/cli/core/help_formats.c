#include "cli/core/help_formats.h"

#include <string.h>

#include <dkmap/context.h>

/* Call @p visit for every command, those below right after the one above. */
static void visit_commands(FILE *out, const command *above, void (*visit)(FILE *, const command *))
{
    subcommand below;

    for (int k = 0; command_below(above, k, &below); k++) {
        visit(out, &below.command);
        if (command_is_group(&below.command))
            visit_commands(out, &below.command, visit);
    }
}

static void print_name(FILE *out, const command *c)
{
    fprintf(out, "%s\n", c->name);
}

void help_names(FILE *out)
{
    visit_commands(out, NULL, print_name);
}

/* Text for roff: dashes and backslashes as they are, and no line that begins with a control. */
static void roff_text(FILE *out, const char *text)
{
    int starts = 1;

    for (; *text; text++) {
        if (starts && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        starts = *text == '\n';
    }
}

/* "loo, gcv" of "loo|gcv|". */
static void print_words(FILE *out, const char *words, const char *before)
{
    for (const char *w = words; w && *w; w += strcspn(w, "|") + 1)
        fprintf(out, "%s%s%.*s", w == words ? "" : ", ", before, (int)strcspn(w, "|"), w);
}

static int takes_list(const command *c, const option *o)
{
    return c->sweeps && (o->flags & OPT_SEARCH);
}

static void man_option(FILE *out, const command *c, const option *o)
{
    fputs(".TP\n.B ", out);
    if (o->letter)
        fprintf(out, "\\-%c, ", o->letter);
    fputs("\\-\\-", out);
    roff_text(out, o->name);
    if (*option_hint(o)) {
        fputs(" \\fI", out);
        roff_text(out, option_hint(o));
        fputs(takes_list(c, o) ? "[,...]\\fR" : "\\fR", out);
    }
    fputc('\n', out);
    roff_text(out, option_help(c, o));
    fputs(".\n", out);
    if (o->aliases) {
        fputs("Second names: ", out);
        print_words(out, o->aliases, "\\-\\-");
        fputs(".\n", out);
    }
    if (o->choices) {
        fputs("One of ", out);
        print_words(out, o->choices, "");
        fputs(".\n", out);
    }
    if (o->default_text)
        fprintf(out, "Default: %s.\n", o->default_text);
}

static void man_options(FILE *out, const command *c)
{
    const option *o;

    for (int k = 0; (o = option_at(c, k)); k++) {
        if (k == 0)
            fputs(".SH OPTIONS\n", out);
        if (!(o->flags & OPT_HIDDEN))
            man_option(out, c, o);
    }
}

static void man_title(FILE *out, const char *name, const char *summary)
{
    fputs(".TH \"DKMAP", out);
    for (const char *letter = name; *letter; letter++)
        fputc(*letter == ' '                     ? '-'
              : *letter >= 'a' && *letter <= 'z' ? *letter - 32
                                                 : *letter,
              out);
    fprintf(out, "\" 1 \"\" \"dkmap %s\" \"dkmap manual\"\n.SH NAME\ndkmap", DKMAP_VERSION);
    for (const char *letter = name; *letter; letter++)
        fputs(*letter == ' ' ? "\\-" : (char[]){*letter, '\0'}, out);
    fputs(" \\- ", out);
    roff_text(out, summary);
    fputc('\n', out);
}

static void man_below(FILE *out, const command *c)
{
    subcommand below;

    fprintf(out, ".SH %s\n", c ? "METHODS" : "COMMANDS");
    for (int k = 0; command_below(c, k, &below); k++) {
        fprintf(out, ".TP\n.B %s\n", command_word(&below.command));
        roff_text(out, command_summary(&below.command));
        fputc('\n', out);
    }
}

static void man_synopsis(FILE *out, const command *c)
{
    const option *o;

    fprintf(out, ".SH SYNOPSIS\n.B dkmap %s\n", c->name);
    if (command_is_group(c))
        fputs("METHOD\n", out);
    if (c->positionals)
        fprintf(out, "%s\n", c->positionals);
    for (int k = 0; (o = option_at(c, k)); k++)
        if (o->flags & OPT_REQUIRED) {
            fputs("\\-\\-", out);
            roff_text(out, o->name);
            fprintf(out, " \\fI%s\\fR\n", option_hint(o));
        }
    fputs("[options]\n", out);
}

static void man_example(FILE *out, const command *c)
{
    fputs(".SH EXAMPLE\n.nf\n", out);
    if (c->method) {
        fprintf(out, "mpirun \\-np 4 dkmap %s ", c->name);
        roff_text(out, dkm_method_example(c->method));
        fputc(' ', out);
    }
    roff_text(out, c->example);
    fputs("\n.fi\n", out);
}

void help_man(FILE *out, const command *c)
{
    const char *references = c && c->method ? dkm_method_references(c->method) : NULL;
    char name[COMMAND_NAME + 1] = "";

    if (c)
        snprintf(name, sizeof name, " %s", c->name);
    man_title(out, name,
              c ? command_summary(c) : "learn maps between arbitrary objects with kernels");
    if (!c) {
        fputs(".SH SYNOPSIS\n.B dkmap\nCOMMAND [options]\n.br\nmpirun \\-np 4 dkmap COMMAND "
              "[options]\n",
              out);
        man_below(out, NULL);
        fputs(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 3 stopped early on a signal\n",
              out);
        return;
    }
    man_synopsis(out, c);
    if (command_about(c)) {
        fputs(".SH DESCRIPTION\n", out);
        roff_text(out, command_about(c));
        fputc('\n', out);
    }
    if (command_is_group(c))
        man_below(out, c);
    man_options(out, c);
    man_example(out, c);
    if (references) {
        fputs(".SH REFERENCES\n", out);
        roff_text(out, references);
        fputc('\n', out);
    }
    fputs(".SH SEE ALSO\n.BR dkmap (1)\n", out);
}

/* Text of a cell of a table. */
static void cell_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|' || *text == '<' || *text == '*')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void markdown_option(FILE *out, const command *c, const option *o)
{
    fputs("| `", out);
    if (o->letter)
        fprintf(out, "-%c`, `", o->letter);
    fprintf(out, "--%s", o->name);
    if (*option_hint(o)) {
        fputc(' ', out);
        for (const char *h = option_hint(o); *h; h++)
            fprintf(out, *h == '|' ? "\\%c" : "%c", *h);
        fputs(takes_list(c, o) ? "[,...]" : "", out);
    }
    fputs("` | ", out);
    cell_text(out, option_help(c, o));
    if (o->aliases) {
        fputs("; also ", out);
        print_words(out, o->aliases, "--");
    }
    if (o->choices) {
        fputs(": ", out);
        print_words(out, o->choices, "");
    }
    fputs(" | ", out);
    if (o->default_text)
        fprintf(out, "`%s` ", o->default_text);
    fputs("|\n", out);
}

static void markdown_options(FILE *out, const command *c)
{
    const option *o;

    for (int k = 0; (o = option_at(c, k)); k++) {
        if (k == 0)
            fputs("| option | what it is | default |\n|---|---|---|\n", out);
        if (!(o->flags & OPT_HIDDEN))
            markdown_option(out, c, o);
    }
    fputc('\n', out);
}

static void markdown_example(FILE *out, const command *c)
{
    fputs("```\n", out);
    if (c->method)
        fprintf(out, "mpirun -np 4 dkmap %s %s ", c->name, dkm_method_example(c->method));
    fprintf(out, "%s\n```\n\n", c->example);
}

static void markdown_command(FILE *out, const command *c)
{
    const char *references = c->method ? dkm_method_references(c->method) : NULL;
    subcommand below;

    fprintf(out, "%s dkmap %s\n\n%s.\n\n", strchr(c->name, ' ') ? "##" : "#", c->name,
            command_summary(c));
    if (command_about(c))
        fprintf(out, "%s\n\n", command_about(c));
    for (int k = 0; command_is_group(c) && command_below(c, k, &below); k++)
        fprintf(out, "- `%s`: %s\n", below.command.name, command_summary(&below.command));
    if (command_is_group(c))
        fputc('\n', out);
    markdown_options(out, c);
    markdown_example(out, c);
    if (references)
        fprintf(out, "References: %s\n\n", references);
}

void help_markdown(FILE *out, const command *c)
{
    if (!c) {
        visit_commands(out, NULL, markdown_command);
        return;
    }
    markdown_command(out, c);
    if (command_is_group(c))
        visit_commands(out, c, markdown_command);
}

static void completion_choices(FILE *out, const command *c)
{
    const option *o;

    fputs("        case \"$previous\" in\n", out);
    for (int k = 0; (o = option_at(c, k)); k++) {
        if ((o->flags & OPT_HIDDEN) || o->kind == OPT_FLAG)
            continue;
        fprintf(out, "        --%s) words=\"", o->name);
        for (const char *w = o->choices; w && *w; w += strcspn(w, "|") + 1)
            fprintf(out, "%s%.*s", w == o->choices ? "" : " ", (int)strcspn(w, "|"), w);
        fputs("\" ;;\n", out);
    }
    fputs("        esac\n", out);
}

/* The words that may follow a command: methods, or options and their choices. */
static void completion_command(FILE *out, const command *c)
{
    const option *o;
    subcommand below;

    fprintf(out, "    \"%s%s\"*)\n        words=\"", c->name, strchr(c->name, ' ') ? "" : " ");
    for (int k = 0; command_is_group(c) && command_below(c, k, &below); k++)
        fprintf(out, "%s%s", k ? " " : "", command_word(&below.command));
    for (int k = 0; (o = option_at(c, k)); k++)
        if (!(o->flags & OPT_HIDDEN))
            fprintf(out, "%s--%s", k ? " " : "", o->name);
    fputs("\"\n", out);
    if (!command_is_group(c))
        completion_choices(out, c);
    fputs("        ;;\n", out);
}

/* A pattern that begins with another one must come first: methods before their command. */
static void completion_group(FILE *out, const command *c)
{
    subcommand below;

    for (int k = 0; command_is_group(c) && command_below(c, k, &below); k++)
        completion_command(out, &below.command);
    completion_command(out, c);
}

void help_completion(FILE *out)
{
    subcommand below;

    fputs("# bash completion for dkmap, made by: dkmap help --completion bash\n"
          "_dkmap() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local words=\"\" line=\"${COMP_WORDS[1]} ${COMP_WORDS[2]}\"\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        words=\"",
          out);
    for (int k = 0; command_below(NULL, k, &below); k++)
        fprintf(out, "%s%s", k ? " " : "", below.command.name);
    fputs(" help\"\n"
          "    else\n"
          "    case \"$line\" in\n",
          out);
    for (int k = 0; command_below(NULL, k, &below); k++)
        completion_group(out, &below.command);
    fputs("    esac\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "}\n"
          "complete -o default -F _dkmap dkmap\n",
          out);
}
