/* Checkpoints: the states of valid runs, one of them changed and sealed again, or its bytes changed
 * and not sealed; then the same command goes on from them. It ends well or with a reason. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <sys/stat.h>

#include "fuzz/edit.h"

static const char *const run_lines[] = {
    "fit krr --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --gamma 0.1 --solver cholesky -o @m.h5",
    "fit krr --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --gamma 0.1 --solver pcg -o @m.h5",
    "fit kpca --x @.x.csv --kx rbf(sigma=2) --components 2 -o @m.h5",
    ("fit kde --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --ky linear --components 2 --gamma 0.1 "
     "-o @m.h5"),
    "fit jkm --x @.x.csv --y @.c.csv --y-type labels --kx linear --C 1 -o @m.h5",
    "fit jkm --x @.x.csv --y @.c.csv --y-type labels --kx linear --C 1 --slacks one -o @m.h5",
    "fit svm --x @.x.csv --y @.c.csv --y-type labels --kx rbf(sigma=2) --C 1 -o @m.h5",
    "cv krr --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --gamma 0.1,1 --folds 3",
    /* LATER on */
    "fit jkm --x @.x.txt --y @.v.txt --outputs chain --kx weighted-degree(degree=1) --C 1 -o @m.h5",
    "fit krr --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --gamma 0.1 --tune --tune-fits 3 -o @m.h5",
    "fit jkm --x @.x.csv --y @.c.csv --y-type labels --outputs chain --kx rbf(sigma=1) "
    "--landmarks 3 --sequence-column 0 --weights @.w.csv --C 1 -o @m.h5"};

enum {
    RUN_LINES = sizeof run_lines / sizeof *run_lines,
    LATER = 8,
    FIRST_LATER = 176,
    STATES = 24
};

static const char *const files[][2] = {{".x.csv", "1,2\n3,4\n0.5,-1\n0,0.2\n-1,1\n2,-2\n"},
                                       {".y.csv", "1,0\n0,1\n1,1\n0,0.5\n-1,2\n1,3\n"},
                                       {".c.csv", "0\n1\n0\n7\n1\n0\n"},
                                       {".w.csv", "1\n2\n0.5\n1\n1\n3\n"},
                                       {".x.txt", "abcabc\nabcd\nbb\nxyzabc\nca\nabba\n"},
                                       {".v.txt", "VCCVCC\nVCCC\nCC\nCCCVCC\nCV\nVCCV\n"}};

/* The files that a run left in its folder. */
typedef struct run_states {
    edit_file state[STATES];
    char name[STATES][256]; /* below the folder */
    int count;
    char marker_name[256], marker[4096]; /* says whose folder it is */
    size_t marker_length;
} run_states;

static run_states runs[RUN_LINES], *filling;
static char stem[256], folder[300], model[300];
static int made;

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    unlink(model);
}

static void take_marker(const char *path)
{
    FILE *in = fopen(path, "rb");

    if (!in)
        fuzz_broken("cannot read", path);
    snprintf(filling->marker_name, sizeof filling->marker_name, "%s", path + strlen(folder));
    filling->marker_length = fread(filling->marker, 1, sizeof filling->marker, in);
    fclose(in);
}

static int take_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    size_t length = strlen(path);

    (void)about;
    (void)place;
    if (kind != FTW_F || filling->count == STATES || length < 3)
        return 0;
    if (strcmp(path + length - 3, ".h5") != 0) {
        take_marker(path);
        return 0;
    }
    snprintf(filling->name[filling->count], sizeof filling->name[0], "%s", path + strlen(folder));
    edit_take(path, &filling->state[filling->count++]);
    return 0;
}

/* @p save: states are saved at every safe point, else none before an hour has passed. */
static int run_again(int which, int save, int resume, size_t bytes)
{
    char line[1000];

    snprintf(line, sizeof line, "%s --checkpoint @d --checkpoint-every %s%s", run_lines[which],
             save ? "0" : "3600", resume ? " --resume" : "");
    return edit_run(line, stem, bytes);
}

static void make_states(void)
{
    const char *path = fuzz_file(".h5", "", 0);

    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(path) - 3), path);
    snprintf(folder, sizeof folder, "%sd", stem);
    snprintf(model, sizeof model, "%sm.h5", stem);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        (void)fuzz_file(files[k][0], files[k][1], strlen(files[k][1]));
    if (!freopen("/dev/null", "w", stdout)) /* commands write their results there */
        fuzz_broken("stdout", "cannot be closed");
    for (int k = 0; k < RUN_LINES; k++) {
        if (run_again(k, 1, 0, 0) != 0)
            fuzz_broken("a valid run fails", run_lines[k]);
        filling = &runs[k];
        nftw(folder, take_one, 8, FTW_PHYS);
        if (runs[k].count == 0)
            fuzz_broken("a run leaves no states", run_lines[k]);
        remove_folder();
    }
    made = 1;
}

/* All folders on the way to a file. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void put_bytes(const char *name, const char *bytes, size_t length, char path[600])
{
    FILE *out;

    snprintf(path, 600, "%s%s", folder, name);
    make_folders(path);
    out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, length, out) != length || fclose(out) != 0)
        fuzz_broken("cannot write", path);
}

/* Not sealed again: HDF5 must not see it. */
static void spoil_byte(const char *path, size_t length, unsigned at, edit_recipe *r)
{
    FILE *out = fopen(path, "r+b");

    if (!out)
        fuzz_broken("cannot open", path);
    fseek(out, (long)((at * 256 + edit_next(r)) % length), SEEK_SET);
    fputc((int)edit_next(r), out);
    fclose(out);
}

/* @return bytes of the file */
static size_t put_state(const run_states *s, int k, edit_recipe *r)
{
    const edit_file *f = &s->state[k];
    unsigned at = r ? edit_next(r) : 0;
    char path[600];

    put_bytes(s->name[k], f->bytes, f->length, path);
    if (r && at % 8 != 7)
        return edit_all(f, path, r);
    if (r)
        spoil_byte(path, f->length, at, r);
    return f->length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    edit_recipe r = {data, data + size};
    int which, save, state, status;
    size_t bytes = 0;
    char path[600];

    if (!made)
        make_states();
    which = (int)edit_next(&r);
    save = which / LATER % 8 == 0;
    which =
        which < FIRST_LATER ? which % LATER : LATER + (which - FIRST_LATER) % (RUN_LINES - LATER);
    state = (int)(edit_next(&r) % (unsigned)runs[which].count);
    for (int k = 0; k < runs[which].count; k++)
        bytes += put_state(&runs[which], k, k == state && r.at < r.end ? &r : NULL);
    put_bytes(runs[which].marker_name, runs[which].marker, runs[which].marker_length, path);
    fuzz_begin();
    status = run_again(which, save, 1, bytes);
    if (status != 0 && size <= 2)
        fuzz_broken("a valid state is refused", run_lines[which]);
    remove_folder();
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0)
        fuzz_broken("HDF5 objects are left open", run_lines[which]);
    return 0;
}
