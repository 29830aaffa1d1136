#include "cli/profile/calibration.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_COUNT  1e6  /* of ranks, cores or nodes */
#define MOST_NUMBER 1e15 /* bytes or seconds */

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

/* The value of a variable that is set to something; NULL where it is not. */
static const char *variable(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? text : NULL;
}

/* The directory of calibrations, made where asked and not there.
 * Returns 0 when there is no place for one. */
static int directory(char *out, size_t size, int make)
{
    const char *given = variable("DKMAP_CALIBRATION"), *home = variable("HOME");

    *out = '\0';
    if (!given && !home)
        return 0;
    if (given) {
        snprintf(out, size, "%s", given);
    } else {
        snprintf(out, size, "%s/.config", home);
        if (make)
            mkdir(out, 0777);
        snprintf(out, size, "%s/.config/dkmap", home);
    }
    if (make)
        mkdir(out, 0777);
    return 1;
}

static void calibration_name_file(int ranks, const char *dir, char path[CALIBRATION_PATH])
{
    snprintf(path, CALIBRATION_PATH, "%s/%s-%d.calibration", dir, machine(), ranks);
}

/* All figures to a descriptor, which is closed. */
static int write_figures(const calibration *c, int fd)
{
    FILE *file = fdopen(fd, "w");
    int bad = !file;

    if (!file) {
        close(fd);
        return 0;
    }
#define WRITE_FIELD(name) fprintf(file, "%s %.6e\n", #name, c->name);
    CALIBRATION_LIST(WRITE_FIELD)
#undef WRITE_FIELD
    bad = fflush(file) != 0 || ferror(file) || (fsync(fd) != 0 && errno != EINVAL);
    return fclose(file) == 0 && !bad;
}

/* Under another name until it is complete. */
static dkm_local write_file(run *r, const calibration *c, const char *path)
{
    char temporary[CALIBRATION_PATH + 32];
    int fd, reason;

    snprintf(temporary, sizeof temporary, "%s.tmp.%ld", path, (long)getpid());
    do
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 && write_figures(c, fd) && rename(temporary, path) == 0)
        return DKM_LOCAL_OK;
    reason = errno;
    if (fd >= 0)
        unlink(temporary);
    return dkm_fail(r->ctx, DKM_ERR_IO, "%s: cannot write: %s", path, strerror(reason));
}

dkm_status calibration_place(run *r, char path[CALIBRATION_PATH])
{
    dkm_local local = DKM_LOCAL_OK;
    char dir[CALIBRATION_PATH / 2];

    if (!directory(dir, sizeof dir, dkm_ctx_rank(r->ctx) == 0))
        local = dkm_fail(r->ctx, DKM_ERR_IO,
                         "no place for a calibration: neither HOME nor DKMAP_CALIBRATION, which "
                         "names a directory, is set");
    calibration_name_file(dkm_ctx_size(r->ctx), dir, path);
    return dkm_agree(r->ctx, local);
}

dkm_status calibration_write(run *r, const calibration *c, const char *path)
{
    dkm_local local = DKM_LOCAL_OK;

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

static int is_count(double x)
{
    return x >= 1 && x <= MOST_COUNT && x == floor(x);
}

/* Counts are counts, and times are times: a file that says otherwise was not written by us. */
static int is_sound(const calibration *c)
{
    int sound = is_count(c->ranks) && is_count(c->cores) && (c->nodes == 0 || is_count(c->nodes));

#define CHECK_FIELD(name) sound = sound && isfinite(c->name) && fabs(c->name) <= MOST_NUMBER;
    CALIBRATION_LIST(CHECK_FIELD)
#undef CHECK_FIELD
    return sound;
}

/* Terms that are summed: at least one of them takes time. */
static int has_time(double a, double b)
{
    return isfinite(a) && isfinite(b) && a >= 0 && b >= 0 && a + b > 0;
}

static int is_rate(double x)
{
    return isfinite(x) && x > 0;
}

const char *calibration_unsound(const calibration *c)
{
    const int before = c->rank_gemm_double == 0; /* files from before rates of one rank */
    const struct {
        int sound;
        const char *name;
    } all[] = {{has_time(c->gram_column, c->gram_element), "gram_column"},
               {is_rate(c->gram_column), "gram_column"},
               {has_time(c->double_cube, c->double_square), "double_cube"},
               {is_rate(c->double_cube), "double_cube"},
               {has_time(c->single_cube, c->single_square), "single_cube"},
               {is_rate(c->single_cube), "single_cube"},
               {has_time(c->solve_column, c->solve_square), "solve_column"},
               {has_time(c->refine_column, c->refine_square), "refine_column"},
               {has_time(c->round_column, c->round_basis), "round_column"},
               {has_time(c->rounds_root, c->rounds_base), "rounds_root"},
               {is_rate(c->full_cube), "full_cube"},
               {has_time(c->apply_column, c->apply_square), "apply_column"},
               {before || is_rate(c->rank_gemm_double), "rank_gemm_double"},
               {before || is_rate(c->rank_gemm_single), "rank_gemm_single"},
               {before || is_rate(c->rank_syrk), "rank_syrk"},
               {before || is_rate(c->rank_trsm), "rank_trsm"},
               {before || is_rate(c->rank_potrf), "rank_potrf"},
               {before || is_rate(c->rank_skinny_bytes), "rank_skinny_bytes"},
               {before || is_rate(c->rank_copy_bytes), "rank_copy_bytes"},
               {before || is_rate(c->rank_map_element), "rank_map_element"}};

    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!all[k].sound)
            return all[k].name;
    return NULL;
}

static int calibration_read_file(int ranks, const char *dir, calibration *c)
{
    char path[CALIBRATION_PATH], name[64];
    double number;
    FILE *file;

    calibration_name_file(ranks, dir, path);
    file = fopen(path, "r");
    if (!file)
        return 0;
    *c = (calibration){0};
    while (fscanf(file, "%63s %lf", name, &number) == 2)
        set_field(c, name, number);
    fclose(file);
    return is_sound(c) && !calibration_unsound(c);
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

    if (!directory(dir, sizeof dir, 0))
        return 0;
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
    return best > 0 && calibration_read_file(best, dir, c);
}
