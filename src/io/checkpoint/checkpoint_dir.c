#include "io/checkpoint/checkpoint_dir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/archive/checksum.h"
#include "io/atomic_file.h"
#include "io/path.h"

#define DIGITS      6
#define HASH_DIGITS (DKM_RUN_LENGTH - 1)

static const char marker[] =
    "dkmap checkpoints, format 2\n"
    "States of long runs, see --checkpoint. Once their runs are done this folder can be removed.\n";

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 0x811c9dc5u; /* FNV-1a */

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193u;
    return hash;
}

void dkm_checkpoint_dir_stem(const char *stage, char stem[DKM_STEM_LENGTH])
{
    int length = 0;

    while (isalnum((unsigned char)stage[length]) && length < DKM_STEM_LENGTH / 2)
        length++;
    snprintf(stem, DKM_STEM_LENGTH, "%.*s-%08lx", length, stage, (unsigned long)hash_text(stage));
}

void dkm_checkpoint_run(const char *settings, char run[DKM_RUN_LENGTH])
{
    snprintf(run, DKM_RUN_LENGTH, "%08lx", (unsigned long)hash_text(settings));
}

/* The end of "-" and a hash in hexadecimal digits; NULL where they are not there. */
static const char *past_hash(const char *text)
{
    int n = 0;

    if (*text++ != '-')
        return NULL;
    while (n < HASH_DIGITS && isxdigit((unsigned char)text[n]))
        n++;
    return n == HASH_DIGITS ? text + n : NULL;
}

long dkm_checkpoint_dir_number(const dkm_checkpoint_files *files, const char *name,
                               const char **rest)
{
    const char *hash = name + strcspn(name, "-"), *run = past_hash(hash);
    const char *dash = run ? past_hash(run) : NULL;
    size_t length = strlen(files->stem);
    char *end;
    long number;

    if (!dash || *dash != '-' || !isdigit((unsigned char)dash[1]))
        return -1;
    if (length > 0 && ((size_t)(run - name) != length || strncmp(name, files->stem, length) != 0))
        return -1;
    if (*files->run && strncmp(run + 1, files->run, HASH_DIGITS) != 0)
        return -1;
    number = strtol(dash + 1, &end, 10);
    if (end - dash <= DIGITS || strncmp(end, ".h5", 3) != 0 || end + 3 - name >= DKM_NAME_LENGTH)
        return -1;
    if (rest)
        *rest = end + 3;
    return rest || end[3] == '\0' ? number : -1;
}

long dkm_checkpoint_dir_newest(const dkm_checkpoint_files *files, long below,
                               char name[DKM_NAME_LENGTH])
{
    DIR *list = opendir(files->folder);
    struct dirent *entry;
    long newest = -1;

    while (list && (entry = readdir(list))) {
        long number = dkm_checkpoint_dir_number(files, entry->d_name, NULL);
        if (number > newest && number < below) {
            newest = number;
            snprintf(name, DKM_NAME_LENGTH, "%.*s", DKM_NAME_LENGTH - 1, entry->d_name);
        }
    }
    if (list)
        closedir(list);
    return newest;
}

static int open_folder(const char *folder)
{
    return dkm_path_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Whether a plain file ends in a checksum trailer. */
static int is_sealed(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int sealed = fd >= 0 && dkm_seal_present(fd);

    if (fd >= 0)
        close(fd);
    return sealed;
}

void dkm_checkpoint_remove(const char *folder, const char *name)
{
    int fd = open_folder(folder);

    if (fd >= 0 && is_sealed(fd, name))
        unlinkat(fd, name, 0);
    if (fd >= 0)
        close(fd);
}

void dkm_checkpoint_dir_prune(const dkm_checkpoint_files *files, long below, int keep)
{
    int fd = open_folder(files->folder);
    char name[DKM_NAME_LENGTH];

    while (fd >= 0 && (below = dkm_checkpoint_dir_newest(files, below, name)) >= 0)
        if (keep-- <= 0 && is_sealed(fd, name))
            unlinkat(fd, name, 0);
    if (fd >= 0)
        close(fd);
}

void dkm_checkpoint_sweep(const dkm_checkpoint_files *files)
{
    int fd = open_folder(files->folder);
    DIR *list = fd >= 0 ? opendir(files->folder) : NULL;
    struct dirent *entry;

    while (list && (entry = readdir(list))) {
        const char *rest = NULL;
        size_t length = strlen(DKM_TEMPORARY);
        if (dkm_checkpoint_dir_number(files, entry->d_name, &rest) >= 0 &&
            strncmp(rest, DKM_TEMPORARY, length) == 0 &&
            dkm_temporary_is_abandoned(fd, entry->d_name, rest + length))
            unlinkat(fd, entry->d_name, 0);
    }
    if (list)
        closedir(list);
    if (fd >= 0)
        close(fd);
}

static int make_directory(const char *dir)
{
    struct stat about;

    if (mkdir(dir, 0777) == 0)
        return 1;
    return errno == EEXIST && stat(dir, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Whether the folder's marker is there; one that was cut short by a kill begins as it should. */
static int has_marker(int folder)
{
    int fd = openat(folder, DKM_CHECKPOINT_MARKER, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char text[sizeof marker] = "";
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text) : -1;

    if (fd >= 0)
        close(fd);
    return got >= 0 && (size_t)got < sizeof marker && strncmp(text, marker, (size_t)got) == 0;
}

static int is_empty(const char *folder)
{
    DIR *list = opendir(folder);
    struct dirent *entry;
    int others = 0;

    while (list && (entry = readdir(list)))
        others += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (list)
        closedir(list);
    return list && others == 0;
}

static int write_marker(int folder)
{
    int fd = openat(folder, DKM_CHECKPOINT_MARKER, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int bad = fd < 0 ? errno != EEXIST : write(fd, marker, sizeof marker - 1) < 0;

    if (fd >= 0)
        close(fd);
    return !bad;
}

dkm_local dkm_checkpoint_dir_make(dkm_ctx *ctx, const char *dir, const char *folder)
{
    int made = make_directory(dir) && make_directory(folder);
    int fd = made ? open_folder(folder) : -1, reason = errno;
    int ours = fd >= 0 && has_marker(fd), empty = 0, marked = ours;

    if (fd >= 0 && !ours) {
        empty = is_empty(folder);
        marked = empty ? write_marker(fd) : has_marker(fd); /* another run may have been faster */
        reason = errno;
    }
    if (fd >= 0)
        close(fd);
    if (marked)
        return DKM_LOCAL_OK;
    if (fd >= 0 && !empty)
        return dkm_fail(ctx, DKM_ERR_IO,
                        "%s: holds files and not the marker '%s' of a folder of checkpoints: use "
                        "another --checkpoint",
                        folder, DKM_CHECKPOINT_MARKER);
    return dkm_fail(ctx, DKM_ERR_IO, "%s: cannot be made a directory for checkpoints: %s", dir,
                    strerror(reason));
}

int dkm_checkpoint_dir_compare(const char *a, const char *b, char *mine, char *theirs, size_t size)
{
    while (*a || *b) {
        size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
        if (la != lb || strncmp(a, b, la) != 0) {
            snprintf(mine, size, "%.*s", (int)la, a);
            snprintf(theirs, size, "%.*s", (int)lb, b);
            return 1;
        }
        a += la + (a[la] == '\n');
        b += lb + (b[lb] == '\n');
    }
    return 0;
}
