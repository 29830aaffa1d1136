/* Settings by name, as the library takes them: a method on the first line, then NAME=VALUE a line. What
 * is taken can be told again, copied and checked; what is refused is refused with a reason. */
#include <stdlib.h>
#include <string.h>

#include <dkmap/settings.h>

#include "fuzz/fuzz.h"

static void check_told(dkm_status status, const char *about)
{
    if (status != DKM_OK && !*dkm_ctx_message(fuzz_ctx()))
        fuzz_broken("refused without a word", about);
}

/* NAME=VALUE, or the number of values of NAME. */
static void set_line(dkm_settings *settings, char *line)
{
    char *value = strchr(line, '=');
    dkm_status status;

    if (!value) {
        (void)dkm_settings_count(settings, line);
        return;
    }
    *value++ = '\0';
    status = dkm_settings_set(settings, line, value);
    check_told(status, line);
    if (status == DKM_OK && !dkm_settings_text(settings, line))
        fuzz_broken("taken and not told again", line);
}

/* The line at @p at, ended, which then is at the next one; NULL past the last. */
static char *next_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;

    *at = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *at = text, *line;
    dkm_settings *settings = NULL, *copy = NULL;
    dkm_status status;

    fuzz_begin();
    line = next_line(&at);
    if (strstr(text, "extend") || (at && strstr(at, "extend"))) /* names a file */
        goto out;
    status = dkm_settings_create(fuzz_ctx(), line, &settings);
    check_told(status, line);
    if (status != DKM_OK)
        goto out;
    while ((line = next_line(&at)) != NULL)
        set_line(settings, line);
    check_told(dkm_settings_check(fuzz_ctx(), settings), "check");
    check_told(dkm_settings_copy(fuzz_ctx(), settings, &copy), "copy");
out:
    dkm_settings_destroy(&copy);
    dkm_settings_destroy(&settings);
    fuzz_end(size, 8);
    free(text);
    return 0;
}
