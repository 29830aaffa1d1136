#include "cli/core/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/core/range.h"
#include "cli/core/suggest.h"

typedef struct reader {
    args *a;
    int argc, at;
    char **argv;
    const config_loader *loader;
} reader;

static args_outcome wrong(args *a, const char *format, ...) DKM_PRINTF(2, 3);

static args_outcome wrong(args *a, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(a->complaint, sizeof a->complaint, format, list);
    va_end(list);
    return ARGS_WRONG;
}

static int is_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0';
}

static int asks_help(const char *text)
{
    return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

/* One value of option o, which the user called @p label. */
static args_outcome add_value(args *a, const option *o, const char *label, const char *text)
{
    value *grown = realloc(a->values, ((size_t)a->count + 1) * sizeof *grown);

    if (!grown)
        return wrong(a, "no memory for the command line");
    a->values = grown;
    if (!value_parse(o, text, &grown[a->count])) {
        dkm_setting_explain(o, label, text, a->complaint, sizeof a->complaint);
        return ARGS_WRONG;
    }
    a->count++;
    return ARGS_RUN;
}

/* The values of a range, of an option that is a list of numbers. */
static args_outcome add_range(args *a, const option *o, const char *label, const range *given)
{
    int integers = o->kind != OPT_REAL, count;
    args_outcome outcome = ARGS_RUN;
    char **grown = realloc(a->range_texts, ((size_t)a->ranges + 1) * sizeof *grown);

    if (!grown)
        return wrong(a, "no memory for the command line");
    a->range_texts = grown;
    count = range_expand(given, integers, &grown[a->ranges]);
    if (count == 0)
        return wrong(a, "no memory for the command line");
    a->ranges++;
    for (int k = 0; k < count && outcome == ARGS_RUN; k++) {
        outcome = add_value(a, o, label, grown[a->ranges - 1] + (size_t)k * RANGE_TEXT);
        if (outcome == ARGS_RUN)
            a->values[a->count - 1].range = a->ranges;
    }
    return outcome;
}

static int takes_list(const command *c, const option *o)
{
    return (o->flags & OPT_LIST) || ((o->flags & OPT_SEARCH) && c->sweeps);
}

/* One item of a list: a value, or a range of numbers. */
static args_outcome add_item(args *a, const option *o, const char *label, const char *text)
{
    int numbers = o->kind == OPT_REAL || o->kind == OPT_INT || (o->flags & OPT_SEARCH);
    range given;

    if (!numbers || !strchr(text, ':'))
        return add_value(a, o, label, text);
    if (!range_parse(text, &given))
        return wrong(a,
                     "%s %s: a range is FIRST:LAST:COUNT, two numbers above 0 and how many values, "
                     "such as 1e-3:1e3:7",
                     label, text);
    return add_range(a, o, label, &given);
}

/* Whether the user called the option by its first name, or its letter. */
static int is_named(const option *o, const char *label)
{
    return label[1] != '-' || strcmp(label + 2, o->name) == 0;
}

static args_outcome add_values(args *a, const option *o, const char *label, char *text)
{
    args_outcome outcome = ARGS_RUN;

    if (args_count(a, o->name) > 0 && !(o->flags & OPT_REPEATED) && o->kind != OPT_FLAG)
        return is_named(o, label) ? wrong(a, "%s is given twice", label)
                                  : wrong(a, "%s is another name of --%s, and one is given already",
                                          label, o->name);
    if (!takes_list(a->command, o) && (o->flags & OPT_SEARCH) && strchr(text, ','))
        return wrong(a, "%s %s: one value, please; dkmap cv chooses between several", label, text);
    if (!takes_list(a->command, o))
        return add_value(a, o, label, text);
    for (char *next = text; next && outcome == ARGS_RUN; text = next) {
        next = strchr(text, ',');
        if (next)
            *next++ = '\0';
        outcome = add_item(a, o, label, text);
    }
    return outcome;
}

static args_outcome unknown_option(args *a, const char *text)
{
    const char *name = text + strspn(text, "-");
    size_t length = strcspn(name, "=");
    char meant[SUGGESTION];

    suggest_option(a->command, name, length, meant);
    if (length < 2 || !*meant)
        return wrong(a, "unknown option %.*s; see: dkmap help %s", (int)(name + length - text),
                     text, a->command->name);
    return wrong(a, "unknown option %.*s: did you mean --%s? See: dkmap help %s",
                 (int)(name + length - text), text, meant, a->command->name);
}

/* The argument at hand is an option: --name VALUE, --name=VALUE, or -l VALUE. */
static args_outcome read_option(reader *r)
{
    char *text = r->argv[r->at++], *given = NULL, *equals = strchr(text, '=');
    const option *o = NULL;

    if (text[1] == '-')
        o = option_find(r->a->command, text + 2, strcspn(text + 2, "="));
    else if (text[2] == '\0')
        o = option_by_letter(r->a->command, text[1]);
    if (!o)
        return unknown_option(r->a, text);
    if (equals) {
        *equals = '\0';
        given = equals + 1;
    }
    if (o->kind == OPT_FLAG)
        return given ? wrong(r->a, "%s takes no value", text) : add_values(r->a, o, text, text);
    if (!given && r->at < r->argc && strncmp(r->argv[r->at], "--", 2) != 0)
        given = r->argv[r->at++];
    if (!given)
        return wrong(r->a, "%s needs a value: %s %s", text, text, option_hint(o));
    return add_values(r->a, o, text, given);
}

static int words_in(const char *text)
{
    int choices = 0;

    for (const char *c = text; c && *c; c++)
        choices += *c != ' ' && (c == text || c[-1] == ' ');
    return choices;
}

/* Whether more positional arguments of the last kind may follow. */
static int takes_more(const char *positionals)
{
    size_t length = positionals ? strlen(positionals) : 0;

    return length > 3 && strcmp(positionals + length - 3, "...") == 0;
}

static args_outcome check_operands(args *a)
{
    int wanted = words_in(a->command->positionals), more = takes_more(a->command->positionals);

    wanted -= more;
    if (a->operand_count > wanted && !more)
        return wrong(a, "%s: '%s' is one argument too many; see: dkmap help %s", a->command->name,
                     a->positionals[wanted], a->command->name);
    if (a->operand_count < wanted)
        return wrong(a, "%s needs %s; see: dkmap help %s", a->command->name,
                     a->command->positionals, a->command->name);
    return ARGS_RUN;
}

/* Options not given: its default stands in, a required one is missed. */
static args_outcome complete(args *a)
{
    args_outcome outcome = ARGS_RUN;
    char label[64];
    const option *o;

    a->given = a->count;
    for (int k = 0; outcome == ARGS_RUN && (o = option_at(a->command, k)); k++) {
        option_label(o, label, sizeof label);
        if (args_count(a, o->name) > 0)
            continue;
        if (o->flags & OPT_REQUIRED)
            outcome = wrong(a, "%s needs %s %s; see: dkmap help %s", a->command->name, label,
                            option_hint(o), a->command->name);
        else if (o->default_text)
            outcome = add_value(a, o, label, o->default_text);
    }
    return outcome;
}

/* "run.yaml:3: " before what is wrong with an entry. */
static args_outcome wrong_entry(args *a, const config_entry *e, const char *format, ...)
    DKM_PRINTF(3, 4);

static args_outcome wrong_entry(args *a, const config_entry *e, const char *format, ...)
{
    char message[300];
    va_list list;

    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return wrong(a, "%s:%d: %s", args_text(a, "config"), e->line, message);
}

/* Whether an option is among the first @p given values, those of the command line. */
static int args_given_first(const args *a, const option *o, int given)
{
    for (int k = 0; k < given; k++)
        if (a->values[k].option == o)
            return 1;
    return 0;
}

static args_outcome unknown_entry(args *a, const config_entry *e)
{
    char meant[SUGGESTION];

    suggest_option(a->command, e->name, strlen(e->name), meant);
    if (!*meant)
        return wrong_entry(a, e, "unknown option '%.60s'; see: dkmap help %s", e->name,
                           a->command->name);
    return wrong_entry(a, e, "unknown option '%.60s': did you mean '%s'? See: dkmap help %s",
                       e->name, meant, a->command->name);
}

/* `command: fit krr` says what a file is for. */
static args_outcome check_entry_command(args *a, const config_entry *e)
{
    if (e->count == 1 && strcmp(e->values[0], a->command->name) == 0)
        return ARGS_RUN;
    return wrong_entry(a, e, "these are options of '%.60s', not of '%s'",
                       e->count ? e->values[0] : "", a->command->name);
}

/* The words that YAML and TOML have for a flag. @return 1, 0, or -1 for another word */
static int truth_of(const char *text)
{
    static const char *const words[] = {"false", "no", "off", "true", "yes", "on"};

    for (int k = 0; k < 6; k++)
        if (strcmp(text, words[k]) == 0)
            return k >= 3;
    return -1;
}

static args_outcome add_entry_flag(args *a, const option *o, const config_entry *e)
{
    int set = e->count == 1 && !e->is_list ? truth_of(e->values[0]) : -1;

    if (set < 0)
        return wrong_entry(a, e, "%s is true or false", e->name);
    return set ? add_value(a, o, e->name, e->name) : ARGS_RUN;
}

/* A file may say true and false where the command line says yes and no. */
static char *entry_text(const option *o, char *text)
{
    static char yes[] = "yes", no[] = "no";
    value v;
    int truth = truth_of(text);

    if (truth < 0 || value_parse(o, text, &v))
        return text;
    return truth ? yes : no;
}

static args_outcome add_entry(args *a, const option *o, const config_entry *e)
{
    int many = (o->flags & OPT_REPEATED) || takes_list(a->command, o);
    args_outcome outcome = ARGS_RUN;

    if (o->kind == OPT_FLAG)
        return add_entry_flag(a, o, e);
    if (e->is_list && (!many || e->count == 0))
        return wrong_entry(a, e, "%s takes one value, not a list", e->name);
    for (int k = 0; k < e->count && outcome == ARGS_RUN; k++)
        outcome = e->is_list ? add_value(a, o, e->name, entry_text(o, e->values[k]))
                             : add_values(a, o, e->name, entry_text(o, e->values[k]));
    if (outcome == ARGS_WRONG) {
        char message[sizeof a->complaint];
        memcpy(message, a->complaint, sizeof message);
        wrong_entry(a, e, "%.250s", message);
    }
    return outcome;
}

/* Options of the file that the command line does not have; it had @p given values. */
static args_outcome apply_config(args *a, int given)
{
    args_outcome outcome = ARGS_RUN;

    for (int k = 0; k < a->config.count && outcome == ARGS_RUN; k++) {
        const config_entry *e = &a->config.entries[k];
        const option *o = option_find(a->command, e->name, strlen(e->name));
        int there = o ? args_value(a, o->name, 0) != NULL : 0;
        if (strcmp(e->name, "command") == 0)
            outcome = check_entry_command(a, e);
        else if (!o)
            outcome = unknown_entry(a, e);
        else if (strcmp(o->name, "config") == 0 || strcmp(o->name, "count-comm") == 0 ||
                 strcmp(o->name, "help") == 0)
            outcome = wrong_entry(a, e, "--%s goes on the command line", o->name);
        else if (there && !args_given_first(a, o, given))
            outcome = wrong_entry(a, e, "%s is given twice", e->name);
        else if (!there)
            outcome = add_entry(a, o, e);
    }
    return outcome;
}

static args_outcome read_config(reader *r)
{
    args *a = r->a;
    const char *path = args_accepts(a, "config") ? args_text(a, "config") : NULL;
    char *text = NULL, error[CONFIG_ERROR] = "no file is read here";
    size_t bytes = 0;
    int loaded;
    args_outcome outcome;

    if (!path)
        return ARGS_RUN;
    loaded = r->loader && r->loader->load(r->loader->user, a, path, &text, &bytes, error);
    if (!loaded) {
        wrong(a, "%.100s: %s", path, error);
        outcome = ARGS_FAILED;
    } else if (!config_parse(&a->config, path, text, bytes)) {
        outcome = wrong(a, "%s", a->config.error);
    } else {
        outcome = apply_config(a, a->count);
    }
    free(text);
    return outcome;
}

static args_outcome read_rest(reader *r)
{
    args_outcome outcome = ARGS_RUN;
    int only_operands = 0;

    while (r->at < r->argc && outcome == ARGS_RUN) {
        char *text = r->argv[r->at];
        if (!only_operands && strcmp(text, "--") == 0) {
            only_operands = 1;
            r->at++;
        } else if (!only_operands && is_option(text)) {
            outcome = read_option(r);
        } else {
            r->a->positionals[r->a->operand_count++] = text;
            r->at++;
        }
    }
    if (outcome == ARGS_RUN)
        outcome = check_operands(r->a);
    if (outcome == ARGS_RUN)
        outcome = read_config(r);
    return outcome == ARGS_RUN ? complete(r->a) : outcome;
}

/* "fit needs a method: krr, kpca" */
static args_outcome no_method(args *a)
{
    char choices[300] = "";
    subcommand below;
    size_t used = 0;

    for (int k = 0; used < sizeof choices && command_below(a->command, k, &below); k++)
        used += (size_t)snprintf(choices + used, sizeof choices - used, "%s%s", used ? ", " : "",
                                 command_word(&below.command));
    return wrong(a, "%s needs a method: %s", a->command->name, choices);
}

/* The next word of a command: a bare one, or `--name` where a method is called so; else NULL. */
static const char *method_word(const command *c, const char *text)
{
    subcommand below;

    if (!is_option(text))
        return text;
    return strncmp(text, "--", 2) == 0 && command_find(c, text + 2, &below) ? text + 2 : NULL;
}

static args_outcome unknown_word(args *a, const command *above, const char *word, const char *meant)
{
    const char *kind = above ? "method" : "command", *help = above ? above->name : "";

    if (!*meant)
        return wrong(a, "unknown %s '%s'; see: dkmap help%s%s", kind, word, *help ? " " : "", help);
    return wrong(a, "unknown %s '%s': did you mean '%s'? See: dkmap help%s%s", kind, word, meant,
                 *help ? " " : "", help);
}

/* Walk down from all commands to the one that the words name. */
static args_outcome find_command(reader *r)
{
    const char *word;
    args *a = r->a;

    while ((!a->command || command_is_group(a->command)) && r->at < r->argc &&
           (word = method_word(a->command, r->argv[r->at]))) {
        subcommand from = a->chosen;
        const command *above = a->command ? &from.command : NULL;
        char meant[SUGGESTION];
        r->at++;
        if (!command_find(above, word, &a->chosen)) {
            suggest_command(above, word, meant);
            return unknown_word(a, above, word, meant);
        }
        a->command = &a->chosen.command;
    }
    return ARGS_RUN;
}

static int help_among(const reader *r)
{
    for (int k = r->at; k < r->argc && strcmp(r->argv[k], "--") != 0; k++)
        if (asks_help(r->argv[k]))
            return 1;
    return 0;
}

/* `help --man`, `--markdown`, `--names` or `--completion bash`, before the words of a command. */
static args_outcome read_help_form(reader *r)
{
    static const struct {
        const char *name;
        help_form form;
    } forms[] = {{"--man", HELP_MAN},
                 {"--markdown", HELP_MARKDOWN},
                 {"--names", HELP_NAMES},
                 {"--completion", HELP_COMPLETION}};

    for (size_t k = 0; r->at < r->argc && k < sizeof forms / sizeof *forms; k++)
        if (strcmp(r->argv[r->at], forms[k].name) == 0) {
            r->a->help_form = forms[k].form;
            r->at++;
            break;
        }
    if (r->a->help_form != HELP_COMPLETION)
        return ARGS_RUN;
    if (r->at >= r->argc || strcmp(r->argv[r->at], "bash") != 0)
        return wrong(r->a, "help --completion needs the name of a shell: bash");
    r->at++;
    return ARGS_RUN;
}

args_outcome parse(args *a, int argc, char **argv, const config_loader *loader)
{
    reader r = {.a = a, .argc = argc, .at = 1, .argv = argv, .loader = loader};
    args_outcome outcome;
    int help;

    if (argc < 2)
        return ARGS_NOTHING;
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0)
        return ARGS_VERSION;
    help = asks_help(argv[1]) || strcmp(argv[1], "help") == 0;
    r.at += help;
    outcome = help ? read_help_form(&r) : ARGS_RUN;
    if (outcome == ARGS_RUN)
        outcome = find_command(&r);
    if (outcome != ARGS_RUN)
        return outcome;
    if (help || (a->command && help_among(&r)))
        return ARGS_HELP;
    if (!a->command)
        return wrong(a, "a command comes first, not '%s'; see: dkmap help", argv[1]);
    return command_is_group(a->command) ? no_method(a) : read_rest(&r);
}
