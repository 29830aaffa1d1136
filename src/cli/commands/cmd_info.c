#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"

/* For --json, "  name   value" is a field of `contents`; any other line is one of `lines`. */
static void note_line(run *r, const char *text)
{
    const char *name = text + strspn(text, " "), *tail = name + strcspn(name, " ");
    char field[80], *end;
    double number;

    snprintf(field, sizeof field, "contents.%.*s", (int)(tail - name), name);
    tail += strspn(tail, " ");
    if (name == text || !*tail || strchr(field + sizeof "contents", '.') ||
        !islower((unsigned char)*name)) {
        run_show(r, "lines", name);
        return;
    }
    number = strtod(tail, &end);
    if (*end == '\0')
        run_show_real(r, field, number);
    else
        run_show(r, field, tail);
}

static void print_line(void *user, const char *text)
{
    if (run_wants_json(user))
        note_line(user, text);
    else
        run_print(user, text);
}

static dkm_status info(run *r)
{
    return dkm_describe(r->ctx, r->args->positionals[0], args_text(r->args, "x-type"), print_line,
                        r);
}

static const option options[] = {ROW_X_TYPE, ROW_SVM_BASE, {0}};

const command command_info = {
    .name = "info",
    .summary = "tell what a data, model or record file holds",
    .example = "dkmap info model.h5",
    .positionals = "FILE",
    .tables = {options, report_options},
    .run = info,
};
