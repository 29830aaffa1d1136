/* Files that stand beside the examples: weights, folds, groups, rows to forget, candidates and lists of
 * them, labels, images, graphs. Each is read by the command that takes it, which
 * ends well or refuses it. The first byte chooses the command, the rest is the file. */
#include <stdio.h>
#include <string.h>

#include "fuzz/edit.h"

/* '@' is where files are; the file of the input is @.b and an ending. */
static const char *const made[] = {
    "fit krr --x @.x.csv --y @.y.csv --kx linear --gamma 0.1 --keep-factor -o @f.h5",
    "fit jkm --x @.x.csv --y @.c.csv --y-type labels --kx linear --C 1 -o @j.h5",
    "fit kde --x @.x.csv --y @.y.csv --kx linear --ky linear --components 2 --gamma 0.1 -o @d.h5",
    "fit kpca --x @.x.csv --kx linear --components 2 -o @p.h5",
    "fit jkm --x @.s.txt --y @.v.txt --outputs chain --kx weighted-degree(degree=1) --C 1 -o @s.h5",
    ("fit jkm --x @.x.csv --y @.c.csv --y-type labels --outputs chain --kx linear "
     "--sequence-column 0 --C 1 -o @r.h5")};

static const char *const lines[][2] = {
    {".b.csv",
     "fit krr --x @.x.csv --y @.y.csv --kx linear --gamma 0.1 --weights @.b.csv -o @m.h5"},
    {".b.csv", "fit krr --x @.x.csv --y @.b.csv --kx linear --gamma 0.1 -o @m.h5"},
    {".b.csv", "fit knn --x @.x.csv --y @.b.csv --y-type labels --kx linear --k 2 -o @m.h5"},
    {".b.csv", "cv krr --x @.x.csv --y @.y.csv --kx linear --gamma 0.1,1 --folds-in @.b.csv"},
    {".b.txt", "cv krr --x @.x.csv --y @.y.csv --kx linear --gamma 1 --folds 2 --groups @.b.txt"},
    {".b.csv", "cv krr --x @.x.csv --y @.y.csv --kx linear --gamma 1 --folds 2 --groups @.b.csv"},
    {".b.csv", "forget @f.h5 --rows @.b.csv -o @m.h5"},
    {".b.csv", "append @f.h5 --x @.b.csv --y @.y.csv -o @m.h5"},
    {".b.csv", "score --truth @.y.csv --pred @.b.csv"},
    {".b.csv", "score --truth @.c.csv --pred @.b.csv --loss zero-one"},
    {".b.csv", "score --truth @.y.csv --pred @.y.csv --weights @.b.csv"},
    {".b.csv", "predict @d.h5 --x @.x.csv --candidates @.b.csv -o @o.csv"},
    {".b.csv", "predict @j.h5 --x @.b.csv -o @o.csv"},
    {".b.csv", "decode @p.h5 --z @.b.csv -o @o.csv"},
    {".b.csv", "align --x @.x.csv --kx linear --labels @.b.csv"},
    {".b.csv",
     "fit jkm --x @.x.csv --y @.c.csv --y-type labels --kx linear --C 1 --candidate-lists "
     "@.b.csv -o @m.h5"},
    {".b.csv",
     "extend complete --gram @.k.csv --observed @.b.csv --by @.k.csv --lambda 0.5 -o @o.csv"},
    {".b.csv", "montage --rows @.b.csv --shape 1x2 -o @o.png"},
    {".b.graphs", "gram --x @.b.graphs --kx weisfeiler-lehman(h=2) -o @o.csv"},
    {".b.mtx", "gram --x @.b.mtx --x-type graph --kx diffusion(tau=0.5) -o @o.csv"},
    {".b.csv", "gram --x @.b.csv --kx linear -o @o.csv"},
    {".b.txt",
     "fit jkm --x @.b.txt --y @.v.txt --outputs chain --kx weighted-degree(degree=1) --C 1 "
     "--max-iter 4 -o @m.h5"},
    {".b.txt",
     "fit jkm --x @.s.txt --y @.b.txt --outputs chain --kx weighted-degree(degree=1) --C 1 "
     "--max-iter 4 -o @m.h5"},
    {".b.txt", "predict @s.h5 --x @.b.txt -o @o.txt"},
    {".b.csv", "fit jkm --x @.b.csv --y @.c.csv --y-type labels --outputs chain --kx linear "
               "--sequence-column 1 --C 1 --max-iter 4 -o @m.h5"},
    {".b.csv", "predict @r.h5 --x @.b.csv -o @o.csv"},
    {".b.csv",
     "fit krr --x @.b.csv --y @.y.csv --kx rbf(sigma=1) --gamma 0.1 --tune --tune-fits 3 -o "
     "@m.h5"},
    {".b.csv",
     "fit kde --x @.x.csv --y @.b.csv --kx rbf(sigma=1) --ky rbf(sigma=1) --components 2 --gamma "
     "0.1 --tune --tune-fits 3 -o @m.h5"},
    {".b.csv",
     "fit krr --x @.x.csv --y @.y.csv --kx linear --gamma 0.1 --landmarks 3 --weights @.b.csv -o "
     "@m.h5"}};

static const char *const files[][2] = {
    {".x.csv", "1,2\n3,4\n0.5,-1\n0,0.2\n-1,1\n2,-2\n"},
    {".y.csv", "1,0\n0,1\n1,1\n0,0.5\n-1,2\n1,3\n"},
    {".c.csv", "0\n1\n0\n7\n1\n0\n"},
    {".s.txt", "abcabc\nabcd\nbb\nxyzabc\nca\nabba\n"},
    {".v.txt", "VCCVCC\nVCCC\nCC\nCCCVCC\nCV\nVCCV\n"},
    {".k.csv", "2,1,0,0,0,0\n1,2,1,0,0,0\n0,1,2,1,0,0\n0,0,1,2,1,0\n0,0,0,1,2,1\n0,0,0,0,1,2\n"}};

enum {
    MADE = sizeof made / sizeof *made,
    LINES = sizeof lines / sizeof *lines,
    FILES = sizeof files / sizeof *files,
    BYTES = 1 << 14 /* of the other files */
};

static char stem[256];

static void begin(void)
{
    const char *path = fuzz_file(".b.csv", "", 0);

    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(path) - strlen(".b.csv")), path);
    for (int k = 0; k < FILES; k++)
        (void)fuzz_file(files[k][0], files[k][1], strlen(files[k][1]));
    if (!freopen("/dev/null", "w", stdout)) /* commands write their results there */
        fuzz_broken("stdout", "cannot be closed");
    for (int k = 0; k < MADE; k++)
        if (edit_run(made[k], stem, BYTES) != 0)
            fuzz_broken("a valid model cannot be made", made[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int status, which;

    if (!*stem)
        begin();
    if (size < 1)
        return 0;
    which = data[0] % LINES;
    (void)fuzz_file(lines[which][0], data + 1, size - 1);
    fuzz_begin();
    status = edit_run(lines[which][1], stem, size + BYTES);
    if (status < 0 || status > 2)
        fuzz_broken("no status of a command", lines[which][1]);
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0)
        fuzz_broken("HDF5 objects are left open", lines[which][1]);
    fuzz_end(size, 8);
    return 0;
}
