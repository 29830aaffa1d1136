#include <zlib.h>

#include "core/alloc.h"
#include "support/fixture_reading.h"
#include "support/scratch.h"

static const char svm_text[] =
    "# made by hand\n+1 qid:3 2:0.5\n\n-1 1:-2e3 # a comment 9:9\n0\n2 3:7 4:1";
static const double svm_rows[] = {0, 0.5, 0, 0, -2e3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1};

static void svmlight_features_are_sparse_rows(dkm_ctx *ctx)
{
    reading r = reading_inputs(ctx, &dkm_format_svmlight, svm_text);

    CHECK(reading_lists(&r, 4, 4, svm_rows) && r.file.type == DKM_SPARSE);
    reading_end(&r);
    r = reading_of(ctx, &dkm_format_svmlight, svm_text, DKM_INPUTS, DKM_DENSE);
    CHECK(reading_values(&r, 4, 4, svm_rows));
    reading_end(&r);
    r = reading_of(ctx, &dkm_format_svmlight, svm_text, DKM_OUTPUTS, DKM_SPARSE);
    CHECK(reading_lists(&r, 4, 4, svm_rows));
    reading_end(&r);
}

static void an_index_of_zero_makes_all_count_from_zero(dkm_ctx *ctx)
{
    static const double rows[] = {0, 0, 1, 0, 2, 0, 3, 0, 0};
    reading r;

    dkm_ctx_set_svm_base(ctx, DKM_SVM_BASE_AUTO);
    r = reading_inputs(ctx, &dkm_format_svmlight, "1 2:1\n1 1:2\n1 0:3\n");
    CHECK(reading_lists(&r, 3, 3, rows));
    CHECK(dkm_ctx_svm_base(ctx) == 0);
    reading_end(&r);
    dkm_ctx_set_svm_base(ctx, DKM_SVM_BASE_AUTO);
}

static void the_first_file_decides_for_those_after_it(dkm_ctx *ctx)
{
    const dkm_format *svm = &dkm_format_svmlight;
    reading r;

    dkm_ctx_set_svm_base(ctx, DKM_SVM_BASE_AUTO);
    r = reading_inputs(ctx, svm, "1\n2\n");
    CHECK(dkm_ctx_svm_base(ctx) == DKM_SVM_BASE_AUTO);
    reading_end(&r);
    r = reading_inputs(ctx, svm, "1 0:3\n");
    reading_end(&r);
    r = reading_inputs(ctx, svm, "1 1:5\n");
    CHECK(reading_lists(&r, 1, 2, (const double[]){0, 5}));
    reading_end(&r);
    r = reading_of(ctx, svm, "1 1:5\n", DKM_OUTPUTS, DKM_SPARSE);
    CHECK(reading_lists(&r, 1, 1, (const double[]){5}));
    reading_end(&r);
    dkm_ctx_set_svm_base(ctx, 1);
    reading_refused(ctx, svm, "1 0:3\n", "has the index 0");
    CHECK(dkm_ctx_svm_base(ctx) == 1);
    dkm_ctx_set_svm_base(ctx, 0);
    r = reading_inputs(ctx, svm, "1 1:5\n");
    CHECK(reading_lists(&r, 1, 2, (const double[]){0, 5}));
    reading_end(&r);
    dkm_ctx_set_svm_base(ctx, DKM_SVM_BASE_AUTO);
}

static void columns_are_cut_from_sparse_rows(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    reading r;

    scratch_path(ctx, "columns", path);
    scratch_text(ctx, path, svm_text);
    CHECK_OK(ctx, reading_begin(&r, ctx, &dkm_format_svmlight, path, DKM_INPUTS, DKM_TYPE_COUNT));
    dkm_objs_clear(&r.objs);
    r.first = 3;
    CHECK_OK(ctx, dkm_agree(ctx, r.format->read(&r.file, 3, 1, 1, 1, 3, &r.objs)));
    CHECK(r.objs.n == 1 && r.objs.d == 2 && r.objs.start[1] == 1);
    CHECK(reading_entry(&r, 3, 1, 0, 0) == 7.0);
    reading_end(&r);
    scratch_remove(ctx, path);
}

static reading read_labels(dkm_ctx *ctx, const char *text, dkm_type type)
{
    return reading_of(ctx, &dkm_format_svmlight, text, DKM_OUTPUTS, type);
}

static void svmlight_labels_say_what_they_are(dkm_ctx *ctx)
{
    static const double sets[] = {0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    reading r = read_labels(ctx, svm_text, DKM_TYPE_COUNT);

    CHECK(reading_values(&r, 4, 1, (const double[]){1, -1, 0, 2}) && r.file.type == DKM_LABELS);
    reading_end(&r);
    r = read_labels(ctx, "1 1:1\n2.5 1:1\n", DKM_TYPE_COUNT);
    CHECK(reading_values(&r, 2, 1, (const double[]){1, 2.5}) && r.file.type == DKM_DENSE);
    reading_end(&r);
    r = read_labels(ctx, "3,1,3 1:1\n 1:1\n0 2:1\n1:1 2:1\n", DKM_TYPE_COUNT);
    CHECK(reading_lists(&r, 4, 4, sets) && r.file.type == DKM_LABEL_SETS);
    CHECK(r.objs.val == NULL);
    reading_end(&r);
    r = read_labels(ctx, "1 1:1\n0\n", DKM_LABEL_SETS);
    CHECK(reading_lists(&r, 2, 2, (const double[]){0, 1, 1, 0}));
    reading_end(&r);
    r = read_labels(ctx, "1,2 1:1\n0\n", DKM_LABELS);
    CHECK(r.status == DKM_ERR_FORMAT && strstr(dkm_ctx_message(ctx), ":1: the label field"));
    reading_end(&r);
    r = read_labels(ctx, "1,2 1:1\n-1\n", DKM_TYPE_COUNT);
    CHECK(r.status == DKM_ERR_FORMAT && strstr(dkm_ctx_message(ctx), ":2: the label field"));
    reading_end(&r);
    r = read_labels(ctx, "1\nyes 1:1\n", DKM_TYPE_COUNT);
    CHECK(r.status == DKM_ERR_FORMAT && strstr(dkm_ctx_message(ctx), ":2: the label 'yes'"));
    reading_end(&r);
}

static void bad_svmlight_lines_are_named(dkm_ctx *ctx)
{
    const dkm_format *svm = &dkm_format_svmlight;

    reading_refused(ctx, svm, "1 1:1\n1 2:1 2:3\n", ":2: index 2 after 2: indices must ascend");
    reading_refused(ctx, svm, "1 1:1\n\n1 3:1 2:3\n", ":3: index 2 after 3");
    reading_refused(ctx, svm, "1 1:1 x:2\n", ":1: 'x:2' where index:value should be");
    reading_refused(ctx, svm, "1 -1:2\n", ":1: '-1:2' where");
    reading_refused(ctx, svm, "1 1\n", ":1: '1' where index:value");
    reading_refused(ctx, svm, "1 1:one\n", ":1: the value of '1:one' is not a finite number");
    reading_refused(ctx, svm, "1 1:1\n1 1:nan\n", ":2: the value of '1:nan'");
    reading_refused(ctx, svm, "1 1:1e999\n", ":1: the value of '1:1e999'");
    reading_refused(ctx, svm, "1 1:\n", ":1: the value of '1:'");
    reading_refused(ctx, svm, "1 99999999999999999999:1\n", ":1: '99999999999999999999:1' where");
    reading_refused(ctx, svm, "# nothing\n\n", "no examples");
}

static void dense_rows_of_hardly_any_numbers_are_refused(dkm_ctx *ctx)
{
    reading r = reading_of(ctx, &dkm_format_svmlight, "1 1:1 90000000:1\n", DKM_INPUTS, DKM_DENSE);

    CHECK(r.status == DKM_ERR_FORMAT && strstr(dkm_ctx_message(ctx), "read it as sparse"));
    reading_end(&r);
}

static void gzipped_files_read_the_same(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    reading r;

    scratch_path(ctx, "rows.svm.gz", path);
    if (dkm_ctx_rank(ctx) == 0) {
        gzFile f = gzopen(path, "wb");
        CHECK(f && gzputs(f, svm_text) > 0 && gzclose(f) == Z_OK);
    }
    MPI_Barrier(dkm_ctx_comm(ctx));
    CHECK_OK(ctx, reading_begin(&r, ctx, &dkm_format_svmlight, path, DKM_INPUTS, DKM_TYPE_COUNT));
    CHECK(reading_lists(&r, 4, 4, svm_rows));
    reading_end(&r);
    scratch_remove(ctx, path);
}

static const check_case cases[] = {
    CASE(svmlight_features_are_sparse_rows),
    CASE(an_index_of_zero_makes_all_count_from_zero),
    CASE(the_first_file_decides_for_those_after_it),
    CASE(columns_are_cut_from_sparse_rows),
    CASE(svmlight_labels_say_what_they_are),
    CASE(bad_svmlight_lines_are_named),
    CASE(gzipped_files_read_the_same),
    CASE(dense_rows_of_hardly_any_numbers_are_refused),
};

CHECK_MAIN(cases)
