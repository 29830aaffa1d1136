/* Model files: valid models of every method, with parts, types, sizes, links and numbers changed.
 * They are described, loaded, and predict objects of every kind, with deviations and prediction sets;
 * examples are appended and forgotten, and the model is exported; or they are refused in one line.
 */
#include <unistd.h>

#include <dkmap/conformal.h>
#include <dkmap/export.h>
#include <dkmap/preimage.h>
#include <dkmap/store.h>
#include <dkmap/update.h>

#include "fuzz/edit.h"

/* '@' is where files are; the model goes to @m.h5. Values with blanks cannot be written here. */
static const char *const fits[] = {
    "fit krr --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --gamma 0.1 -o @m.h5",
    "fit krr --x @.x.csv --y @.c.csv --y-type labels --kx linear --gamma 0.1 -o @m.h5",
    "fit krr --x @.x.svm --y @.y.csv --kx linear --gamma 0.1 -o @m.h5",
    "fit krr --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --gamma 0.1 --landmarks 3 -o @m.h5",
    "fit krr --x @.x.txt --y @.y.csv --kx spectrum(p=2) --gamma 0.1 -o @m.h5",
    "fit kpca --x @.x.csv --kx rbf(sigma=2) --components 2 -o @m.h5",
    "fit kpca --x @.x.csv --kx linear --components 2 -o @m.h5",
    "fit kde --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --ky rbf(sigma=2) --components 2 --gamma "
    "0.1 "
    "-o @m.h5",
    "fit kde --x @.x.csv --y @.y.csv --kx linear --ky linear --components 2 --gamma 0.1 -o @m.h5",
    "fit kde --x @.x.csv --y @.x.txt --kx linear --ky spectrum(p=1) --components 2 --gamma 0.1 "
    "-o @m.h5",
    "fit knn --x @.x.csv --y @.y.csv --kx linear --k 2 -o @m.h5",
    "fit knn --x @.x.csv --y @.c.csv --y-type labels --kx linear --k 3 -o @m.h5",
    "fit knn --x @.x.csv --y @.x.txt --kx linear --ky spectrum(p=1) --k 2 -o @m.h5",
    "fit svm --x @.x.csv --y @.c.csv --y-type labels --kx rbf(sigma=2) --C 1 -o @m.h5",
    "fit hopfield --x @.h.csv --y @.h.csv -o @m.h5",
    "embed lle --x @.x.csv --neighbors 3 --components 2 -o @m.h5",
    "fit jkm --x @.x.csv --y @.c.csv --y-type labels --kx linear --C 1 -o @m.h5",
    "fit jkm --x @.x.csv --y @.y.csv --kx linear --candidates @.y.csv --C 1 -o @m.h5",
    "fit jkm --x @.x.csv --y @.y.csv --kx linear --epsilon 0.1 --C 1 -o @m.h5",
    "fit jkm --x @.x.txt --y @.x.txt --kx spectrum(p=1) --candidates @.x.txt --joint strings(p=1) "
    "--C 1 -o @m.h5",
    "fit jkm --x @.x.csv --y @.x.txt --kx linear --ky spectrum(p=1) --candidates @.x.txt --C 1 "
    "-o @m.h5",
    "extend fit --gram @.k.csv --features @.x.csv -o @m.h5",
    "extend fit --x @.x.csv --kx rbf(sigma=1) --landmarks 3 -o @m.h5",
    "extend fit --gram @.k.csv --x @.x.txt --fisher markov -o @m.h5",
    "extend fit --gram @.k.csv --x @.x.csv --fisher gaussian -o @m.h5",
    /* LATER on: models with a factor, a table, names of classes, and residuals of what was held out */
    "fit krr --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --gamma 0.1 --keep-factor --holdout 0.4 -o "
    "@m.h5",
    "fit krr --x @.x.csv --y @.n.csv --kx rbf(sigma=2) --gamma 0.1 --standardize --holdout 0.4 -o "
    "@m.h5",
    "fit kde --x @.x.csv --y @.y.csv --kx linear --ky linear --components 2 --gamma 0.1 --holdout "
    "0.4 -o @m.h5",
    "fit knn --x @.x.csv --y @.n.csv --kx linear --k 2 --standardize --holdout 0.4 -o @m.h5",
    "fit knn --x @.x.csv --y @.x.txt --kx linear --ky spectrum(p=1) --k 2 --holdout 0.4 -o @m.h5",
    "fit jkm --x @.x.csv --y @.c.csv --y-type labels --kx linear --C 1 --holdout 0.4 -o @m.h5",
    "fit krr --x @.g.graphs --y @.y.csv --kx weisfeiler-lehman(h=2) --gamma 0.1 -o @m.h5",
    "fit kde --x @.x.csv --y @.g.graphs --kx on(1,linear) --ky weisfeiler-lehman --components 2 "
    "--gamma "
    "0.1 -o @m.h5",
    "fit jkm --x @.x.txt --y @.v.txt --outputs chain --kx weighted-degree(degree=1) --window 5 "
    "--C 1 -o @m.h5",
    "fit jkm --x @.x.csv --y @.c.csv --y-type labels --outputs chain --kx linear "
    "--sequence-column 0 --C 1 -o @m.h5",
    "fit jkm --x @.x.csv --y @.c.csv --y-type labels --outputs chain --kx rbf(sigma=1) "
    "--landmarks 3 --sequence-column 0 --weights @.w.csv --C 1 -o @m.h5",
    "fit krr --x @.x.csv --y @.y.csv --kx rbf(sigma=2) --gamma 0.1 --keep-factor --weights @.w.csv "
    "-o @m.h5"};

enum { FITS = sizeof fits / sizeof *fits, LATER = 25, FIRST_LATER = 208 };

static edit_file models[FITS];
static int made;

static const char *const files[][2] = {
    {".x.csv", "1,2\n3,4\n0.5,-1\n0,0.2\n-1,1\n2,-2\n"},
    {".y.csv", "1,0\n0,1\n1,1\n0,0.5\n-1,2\n1,3\n"},
    {".w.csv", "1\n2\n0.5\n1\n1\n3\n"},
    {".h.csv", "1,-1\n-1,1\n0.5,0.5\n-0.5,0.3\n0.1,0.9\n-1,-1\n"},
    {".c.csv", "0\n1\n0\n7\n1\n0\n"},
    {".n.csv", "kind\ncat\ndog\ncat\nemu\ndog\ncat\n"},
    {".x.svm", "1 1:1 3:2\n1 2:1\n1 3:1\n1 1:-1\n1 2:2\n1 1:3 2:1\n"},
    {".g.graphs", "C C O | 0-1 1-2\nN\nC N\nC C | 0-1:double\nO | \nN N C | 1-2\n"},
    {".x.txt", "abcabc\nabcd\nbb\nxyzabc\nca\nabba\n"},
    {".v.txt", "VCCVCC\nVCCC\nCC\nCCCVCC\nCV\nVCCV\n"},
    {".k.csv", "2,1,0,0,0,0\n1,2,1,0,0,0\n0,1,2,1,0,0\n0,0,1,2,1,0\n0,0,0,1,2,1\n0,0,0,0,1,2\n"}};

static void make_models(void)
{
    const char *path = fuzz_file(".h5", "", 0);
    char stem[256], model[300];

    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(path) - 3), path);
    snprintf(model, sizeof model, "%sm.h5", stem);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        (void)fuzz_file(files[k][0], files[k][1], strlen(files[k][1]));
    if (!freopen("/dev/null", "w", stdout)) /* commands write their results there */
        fuzz_broken("stdout", "cannot be closed");
    for (int k = 0; k < FITS; k++) {
        if (edit_run(fits[k], stem, 0) != 0)
            fuzz_broken("a valid model cannot be made", fits[k]);
        edit_take(model, &models[k]);
    }
    made = 1;
}

static void ignore(void *user, const char *line)
{
    (void)user;
    for (; *line; line++)
        if ((unsigned char)*line < ' ')
            fuzz_broken("a control character in a description", line);
}

/* What fails does so with one line. */
static void check_told(dkm_status status)
{
    const char *message = dkm_ctx_message(fuzz_ctx());

    if (status != DKM_OK && (!*message || strchr(message, '\n')))
        fuzz_broken("not one line", message);
}

static void predict(dkm_model *model)
{
    for (int kind = 0; kind < FUZZ_KINDS; kind++) {
        dkm_data *Y = NULL, *X = NULL;
        dkm_status status = dkm_model_predict(model, fuzz_objects((fuzz_kind)kind), &Y);
        check_told(status);
        if (status == DKM_OK && strcmp(dkm_model_method(model), "kpca") == 0)
            check_told(dkm_model_decode(model, Y, &X));
        dkm_data_destroy(&X);
        dkm_data_destroy(&Y);
    }
}

/* Prediction sets by what was held out, and standard deviations. */
static void predict_uncertainty(dkm_model *model)
{
    const dkm_data *X = fuzz_objects(FUZZ_DENSE);
    dkm_data *Y = NULL;
    dkm_status status = dkm_model_calibrate(model, 0.5, NULL);

    check_told(status);
    if (status == DKM_OK)
        check_told(dkm_model_prediction_sets(model, X, &Y));
    dkm_data_destroy(&Y);
    status = dkm_model_choose_std(model, DKM_NOISE_ESTIMATED, 0.0, NULL);
    check_told(status);
    if (status == DKM_OK)
        check_told(dkm_model_predict(model, X, &Y));
    dkm_data_destroy(&Y);
}

/* Examples come and go: numbers, and labels where those do not suit. */
static void update(dkm_model *model, unsigned byte)
{
    const dkm_idx rows[] = {byte % 5, 5};

    if (dkm_model_append(model, fuzz_objects(FUZZ_DENSE), fuzz_objects(FUZZ_DENSE), NULL) != DKM_OK)
        check_told(
            dkm_model_append(model, fuzz_objects(FUZZ_DENSE), fuzz_objects(FUZZ_LABELS), NULL));
    check_told(dkm_model_forget(model, 1 + byte % 2, rows, NULL));
}

static void export(dkm_model *model)
{
    check_told(dkm_model_export(model, DKM_EXPORT_C, fuzz_file(".c", "", 0), NULL));
    check_told(dkm_model_export(model, DKM_EXPORT_ONNX, fuzz_file(".onnx", "", 0), NULL));
}

/* Another pre-image than the one that suits. */
static void configure(dkm_model *model, unsigned byte)
{
    dkm_preimage_settings settings = {.method = (dkm_preimage_method)(byte % 10),
                                      .top = byte / 10 % 3};
    const char *name = dkm_model_method(model);
    dkm_status status;

    if (byte == 0 || (strcmp(name, "kde") != 0 && strcmp(name, "kpca") != 0 &&
                      strcmp(name, "knn") != 0 && strcmp(name, "jkm") != 0))
        return;
    settings.gamma_z = 0.1;
    if (settings.method == DKM_PREIMAGE_LEARNED &&
        dkm_kernel_parse(fuzz_ctx(), "rbf(sigma=1)", &settings.kz) != DKM_OK)
        return;
    status = dkm_model_configure(model, &settings);
    check_told(status);
    dkm_preimage_settings_clear(&settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    edit_recipe r = {data, data + size};
    dkm_layout layout = {0};
    dkm_model *model = NULL;
    const edit_file *f;
    const char *path;
    unsigned preimage, which;
    dkm_status status;
    size_t bytes;

    if (!made)
        make_models();
    for (int kind = 0; kind < FUZZ_KINDS; kind++)
        (void)fuzz_objects((fuzz_kind)kind);
    which = edit_next(&r);
    f = &models[which < FIRST_LATER ? which % LATER
                                    : LATER + (which - FIRST_LATER) % (FITS - LATER)];
    preimage = edit_next(&r);
    path = fuzz_file(".h5", f->bytes, f->length);
    bytes = edit_all(f, path, &r);
    fuzz_begin();
    check_told(dkm_describe(fuzz_ctx(), path, NULL, ignore, NULL));
    status = dkm_model_load(fuzz_ctx(), path, &layout, &model);
    check_told(status);
    if (size <= 2 && status != DKM_OK)
        fuzz_broken("a valid model is refused", dkm_ctx_message(fuzz_ctx()));
    if (status == DKM_OK) {
        configure(model, preimage);
        predict(model);
        export(model);
        if (which >= FIRST_LATER) {
            predict_uncertainty(model);
            update(model, preimage);
            predict(model);
        }
    }
    dkm_model_destroy(&model);
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0)
        fuzz_broken("HDF5 objects are left open", path);
    fuzz_end(bytes, 8);
    return 0;
}
