#include "store/checkpoint_dir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGITS 6

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 0x811c9dc5u; /* FNV-1a */

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193u;
    return hash;
}

void dkm_checkpoint_stem(const char *stage, char stem[DKM_STEM_LENGTH])
{
    const char *slash = strrchr(stage, '/'), *word = slash ? slash + 1 : stage;
    int length = 0;

    while (isalnum((unsigned char)word[length]) && length < DKM_STEM_LENGTH / 2)
        length++;
    snprintf(stem, DKM_STEM_LENGTH, "%.*s-%08lx", length, word, (unsigned long)hash_text(stage));
}

long dkm_checkpoint_number(const char *name, const char *stem)
{
    const char *dash = strrchr(name, '-');
    size_t length = strlen(stem);
    char *end;
    long number;

    if (strncmp(name, stem, length) != 0 || (length > 0 && name[length] != '-') || !dash ||
        strlen(name) >= DKM_NAME_LENGTH || !isdigit((unsigned char)dash[1]))
        return -1;
    number = strtol(dash + 1, &end, 10);
    return end - dash > DIGITS && strcmp(end, ".h5") == 0 ? number : -1;
}

long dkm_checkpoint_newest(const char *dir, const char *stem, long below,
                           char name[DKM_NAME_LENGTH])
{
    DIR *list = opendir(dir);
    struct dirent *entry;
    long newest = -1;

    while (list && (entry = readdir(list))) {
        long number = dkm_checkpoint_number(entry->d_name, stem);
        if (number > newest && number < below) {
            newest = number;
            snprintf(name, DKM_NAME_LENGTH, "%.*s", DKM_NAME_LENGTH - 1, entry->d_name);
        }
    }
    if (list)
        closedir(list);
    return newest;
}

void dkm_checkpoint_prune(const char *dir, const char *stem, long below, int keep)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[DKM_NAME_LENGTH];

    while (fd >= 0 && (below = dkm_checkpoint_newest(dir, stem, below, name)) >= 0)
        if (keep-- <= 0)
            unlinkat(fd, name, 0);
    if (fd >= 0)
        close(fd);
}

dkm_local dkm_checkpoint_make(dkm_ctx *ctx, const char *dir)
{
    struct stat about;

    if (mkdir(dir, 0777) == 0)
        return DKM_LOCAL_OK;
    if (errno == EEXIST && stat(dir, &about) == 0 && S_ISDIR(about.st_mode))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_IO, "%s: cannot be made a directory for checkpoints: %s", dir,
                    strerror(errno));
}

int dkm_checkpoint_differ(const char *a, const char *b, char *mine, char *theirs, size_t room)
{
    while (*a || *b) {
        size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
        if (la != lb || strncmp(a, b, la) != 0) {
            snprintf(mine, room, "%.*s", (int)la, a);
            snprintf(theirs, room, "%.*s", (int)lb, b);
            return 1;
        }
        a += la + (a[la] == '\n');
        b += lb + (b[lb] == '\n');
    }
    return 0;
}
