#include "calibration.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *machine(void)
{
    static char host[128];
    const char *name = getenv("DKMAP_MACHINE");

    if (!name)
        name = getenv("SLURM_CLUSTER_NAME");
    if (name)
        return name;
    if (gethostname(host, sizeof host - 1) != 0)
        snprintf(host, sizeof host, "machine");
    return host;
}

/* The directory, made where it is not there. */
static void directory(char *out, size_t size)
{
    const char *given = getenv("DKMAP_CALIBRATION"), *home = getenv("HOME");

    if (given) {
        snprintf(out, size, "%s", given);
    } else {
        snprintf(out, size, "%s/.config", home ? home : "/tmp");
        mkdir(out, 0777);
        snprintf(out, size, "%s/.config/dkmap", home ? home : "/tmp");
    }
    mkdir(out, 0777);
}

void calibration_path(int ranks, char path[CALIBRATION_PATH])
{
    char dir[CALIBRATION_PATH / 2];

    directory(dir, sizeof dir);
    snprintf(path, CALIBRATION_PATH, "%s/%s-%d.calibration", dir, machine(), ranks);
}

static dkm_local write_file(run *r, const calibration *c, const char *path)
{
    FILE *file = fopen(path, "w");
    int bad = !file;

    if (file) {
#define WRITE_FIELD(name) fprintf(file, "%s %.6e\n", #name, c->name);
        CALIBRATION_LIST(WRITE_FIELD)
#undef WRITE_FIELD
        bad = ferror(file);
        bad = fclose(file) != 0 || bad;
    }
    if (bad)
        return dkm_fail(r->ctx, DKM_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    return DKM_LOCAL_OK;
}

dkm_status calibration_write(run *r, const calibration *c, char path[CALIBRATION_PATH])
{
    dkm_local local = DKM_LOCAL_OK;

    calibration_path(dkm_ctx_size(r->ctx), path);
    if (dkm_ctx_rank(r->ctx) == 0)
        local = write_file(r, c, path);
    return dkm_agree(r->ctx, local);
}

static void set_field(calibration *c, const char *name, double number)
{
#define SET_FIELD(field)                                                                           \
    if (strcmp(name, #field) == 0)                                                                 \
        c->field = number;
    CALIBRATION_LIST(SET_FIELD)
#undef SET_FIELD
}

static int read_file(int ranks, calibration *c)
{
    char path[CALIBRATION_PATH], name[64];
    double number;
    FILE *file;

    calibration_path(ranks, path);
    file = fopen(path, "r");
    if (!file)
        return 0;
    *c = (calibration){0};
    while (fscanf(file, "%63s %lf", name, &number) == 2)
        set_field(c, name, number);
    fclose(file);
    return c->ranks > 0 && c->cores > 0;
}

/* Of two rank counts the better one: no more ranks than asked for, and then the nearest. */
static int is_nearer(int asked, int count, int best)
{
    if (best == 0 || (count <= asked) != (best <= asked))
        return best == 0 || count <= asked;
    return abs(count - asked) < abs(best - asked);
}

int calibration_find(int ranks, calibration *c)
{
    char dir[CALIBRATION_PATH / 2], file[CALIBRATION_PATH], *end;
    int length = snprintf(file, sizeof file, "%s-", machine()), best = 0;
    struct dirent *entry;
    DIR *all;

    directory(dir, sizeof dir);
    all = opendir(dir);
    while (all && (entry = readdir(all)) != NULL) {
        long count = 0;
        if (strncmp(entry->d_name, file, (size_t)length) == 0)
            count = strtol(entry->d_name + length, &end, 10);
        if (count > 0 && count <= INT_MAX && strcmp(end, ".calibration") == 0 &&
            is_nearer(ranks, (int)count, best))
            best = (int)count;
    }
    if (all)
        closedir(all);
    return best > 0 && read_file(best, c);
}
