#include "cli/core/checkpoint_options.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Options that a run may change and still go on from the states of another: where files are and how
 * the work is spread. What the files hold is checked by itself. */
static const char *const free_to_change[] = {
    "x",        "y",       "z",          "output",     "grid",
    "block",    "threads", "record",     "quiet",      "verbose",
    "help",     "resume",  "checkpoint", "candidates", "checkpoint-every",
    "max-time", "factor",  "count-comm", "json",       "config"};

static volatile sig_atomic_t caught;

static void catch_signal(int number)
{
    caught = number;
}

static int asked_to_stop(void)
{
    return caught != 0;
}

static void watch_signals(void)
{
    struct sigaction action = {.sa_handler = catch_signal, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int checkpoint_options_is_free(const char *name)
{
    for (size_t k = 0; k < sizeof free_to_change / sizeof *free_to_change; k++)
        if (strcmp(name, free_to_change[k]) == 0)
            return 1;
    return 0;
}

/* All other options, one per line in the order of their tables, whatever order they were given in.
 */
static void list_settings(const args *a, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s\n", a->command->name);
    const option *o;
    const value *v;

    for (int k = 0; (o = option_at(a->command, k)) && used < size; k++)
        for (int n = 0;
             !checkpoint_options_is_free(o->name) && used < size && (v = args_value(a, o->name, n));
             n++)
            used += (size_t)snprintf(out + used, size - used, "--%s %s\n", o->name,
                                     o->kind == OPT_FLAG ? "yes" : v->text);
}

static dkm_local checkpoint_options_check_options(run *r)
{
    if (args_flag(r->args, "resume") || args_real(r->args, "max-time") > 0)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--%s needs --checkpoint DIR",
                        args_flag(r->args, "resume") ? "resume" : "max-time");
    return DKM_LOCAL_OK;
}

dkm_status checkpoint_begin(run *r)
{
    dkm_checkpoint_settings s = dkm_checkpoint_settings_default();
    char settings[4000];

    s.dir = args_text(r->args, "checkpoint");
    if (!s.dir)
        return dkm_agree(r->ctx, checkpoint_options_check_options(r));
    list_settings(r->args, settings, sizeof settings);
    s.resume = args_flag(r->args, "resume");
    s.every = args_real(r->args, "checkpoint-every");
    s.max_time = args_real(r->args, "max-time");
    s.started = r->started;
    s.asked = asked_to_stop;
    s.settings = settings;
    s.command = r->args->line;
    watch_signals();
    return dkm_checkpoint_open(r->ctx, &s, &r->checkpoint);
}
