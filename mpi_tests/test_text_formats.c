/* Each reader is called through its dkm_format: opened by all ranks, read in slabs. */
#include <zlib.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "data/format.h"
#include "scratch.h"

/* A file being read, or why it was not. */
typedef struct reading {
    const dkm_format *format;
    dkm_file file;
    dkm_objs objs;
    dkm_idx first; /* row of objs */
    dkm_status status;
} reading;

/* Rows first, first + step, ... of the file, cut into slabs. Collective. */
static dkm_status read_rows(reading *r, dkm_idx first, dkm_idx step, dkm_idx count)
{
    dkm_ctx *ctx = r->file.ctx;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx mine = dkm_slab_first(count, rank, size);

    dkm_objs_clear(&r->objs);
    r->first = mine;
    return dkm_agree(ctx,
                     r->format->read(&r->file, first + mine * step, step,
                                     dkm_slab_count(count, rank, size), 0, r->file.d, &r->objs));
}

static dkm_status begin(reading *r, dkm_ctx *ctx, const dkm_format *format, const char *path,
                        dkm_role role, dkm_type type)
{
    *r = (reading){.format = format};
    r->file = (dkm_file){.ctx = ctx, .path = path, .role = role, .type = type};
    r->status = format->open(&r->file);
    if (r->status == DKM_OK)
        r->status = read_rows(r, 0, 1, r->file.m);
    return r->status;
}

static void end(reading *r)
{
    dkm_objs_clear(&r->objs);
    r->format->close(&r->file);
}

/* Write a file of @p text, and read it. */
static reading read_text(dkm_ctx *ctx, const dkm_format *format, const char *text, dkm_role role,
                         dkm_type type)
{
    static char path[SCRATCH_LENGTH];
    reading r;

    scratch_path(ctx, "text", path);
    scratch_text(ctx, path, text);
    (void)begin(&r, ctx, format, path, role, type);
    scratch_remove(ctx, path);
    return r;
}

static reading read_inputs(dkm_ctx *ctx, const dkm_format *format, const char *text)
{
    return read_text(ctx, format, text, DKM_INPUTS, DKM_TYPE_COUNT);
}

/* A file that must be refused with a message holding @p words. */
static void refuse(dkm_ctx *ctx, const dkm_format *format, const char *text, const char *words)
{
    reading r = read_inputs(ctx, format, text);

    CHECK(r.status == DKM_ERR_FORMAT || r.status == DKM_ERR_IO);
    if (!strstr(dkm_ctx_message(ctx), words) || strchr(dkm_ctx_message(ctx), '\n'))
        check_failed(__FILE__, __LINE__, "'%s' does not say '%s'", dkm_ctx_message(ctx), words);
    end(&r);
}

/* Whether this rank's objects are the strings @p wanted has at their places. */
static int are_strings(const reading *r, dkm_idx m, const char *const *wanted)
{
    int same = r->status == DKM_OK && r->file.m == m;

    for (dkm_idx i = 0; same && i < r->objs.n; i++) {
        dkm_idx length = r->objs.start[i + 1] - r->objs.start[i];
        const char *want = wanted[r->first + i];
        same = (size_t)length == strlen(want) &&
               memcmp(r->objs.bytes + r->objs.start[i], want, (size_t)length) == 0;
    }
    return same;
}

/* The entry (row, col) of this rank's lists; @p missing where there is none. Rows of other ranks
 * are as wanted. */
static double entry_at(const reading *r, dkm_idx row, dkm_idx col, double missing, double elsewhere)
{
    dkm_idx i = row - r->first;

    if (i < 0 || i >= r->objs.n)
        return elsewhere;
    for (dkm_idx k = r->objs.start[i]; k < r->objs.start[i + 1]; k++)
        if (r->objs.col[k] == col)
            return r->objs.val ? r->objs.val[k] : 1.0;
    return missing;
}

/* Whether the lists of all ranks are the dense m x d matrix @p wanted. */
static int are_lists(const reading *r, dkm_idx m, dkm_idx d, const double *wanted)
{
    int same = r->status == DKM_OK && r->file.m == m && r->file.d == d;

    for (dkm_idx k = 0; same && k < m * d; k++)
        same = entry_at(r, k / d, k % d, 0.0, wanted[k]) == wanted[k];
    return same;
}

static int are_values(const reading *r, dkm_idx m, dkm_idx d, const double *wanted)
{
    int same = r->status == DKM_OK && r->file.m == m && r->file.d == d;

    for (dkm_idx k = 0; same && k < r->objs.n * d; k++)
        same = r->objs.values[k] == wanted[r->first * d + k];
    return same;
}

static void lines_become_strings(dkm_ctx *ctx)
{
    static const char *const wanted[] = {"first", "", " two words\t", "\xff\xfe", "last"};
    reading r = read_inputs(ctx, &dkm_format_lines, "first\n\n two words\t\r\n\xff\xfe\nlast");

    CHECK(are_strings(&r, 5, wanted) && r.file.type == DKM_STRINGS);
    end(&r);
    r = read_inputs(ctx, &dkm_format_lines, "one\n");
    CHECK(are_strings(&r, 1, (const char *const[]){"one"}));
    end(&r);
}

static void every_other_line_backwards_and_forwards(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    reading r;

    scratch_path(ctx, "step", path);
    scratch_text(ctx, path, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    CHECK_OK(ctx, begin(&r, ctx, &dkm_format_lines, path, DKM_INPUTS, DKM_TYPE_COUNT));
    CHECK_OK(ctx, read_rows(&r, 1, 3, 3));
    r.file.m = 3;
    CHECK(are_strings(&r, 3, (const char *const[]){"1", "4", "7"}));
    CHECK_OK(ctx, read_rows(&r, 9, -4, 3));
    CHECK(are_strings(&r, 3, (const char *const[]){"9", "5", "1"}));
    CHECK_OK(ctx, read_rows(&r, 4, 1, 0));
    CHECK(r.objs.n == 0 && r.objs.start[0] == 0);
    end(&r);
    scratch_remove(ctx, path);
}

static void sets_are_sorted_and_their_words_once(dkm_ctx *ctx)
{
    static const char *const wanted[] = {"a b c", "", "A Z a", "x", "a ab abc"};
    reading r = read_inputs(ctx, &dkm_format_sets, "c  b a\tb\n\nZ a A \n x x x\r\nabc ab a\n");

    CHECK(are_strings(&r, 5, wanted) && r.file.type == DKM_SETS);
    end(&r);
    r = read_text(ctx, &dkm_format_lines, "b a\n", DKM_INPUTS, DKM_SETS);
    CHECK(are_strings(&r, 1, (const char *const[]){"a b"}));
    end(&r);
}

static void fasta_records_are_joined(dkm_ctx *ctx)
{
    static const char *const wanted[] = {"ACGT", "", "MKV", "LAST"};
    reading r =
        read_inputs(ctx, &dkm_format_fasta, "\n>a one\nAC\nGT\n>b\n>c\r\nM K\r\nV\r\n\n>d\nLA\nST");

    CHECK(are_strings(&r, 4, wanted));
    end(&r);
    refuse(ctx, &dkm_format_fasta, "\nACGT\n>a\nAC\n", ":2: 'ACGT' where a FASTA record begins");
    refuse(ctx, &dkm_format_fasta, "\n \n", "no FASTA record");
}

static const char svm_text[] =
    "# made by hand\n+1 qid:3 2:0.5\n\n-1 1:-2e3 # a comment 9:9\n0\n2 3:7 4:1";
static const double svm_rows[] = {0, 0.5, 0, 0, -2e3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1};

static void svmlight_features_are_sparse_rows(dkm_ctx *ctx)
{
    reading r = read_inputs(ctx, &dkm_format_svmlight, svm_text);

    CHECK(are_lists(&r, 4, 4, svm_rows) && r.file.type == DKM_SPARSE);
    end(&r);
    r = read_text(ctx, &dkm_format_svmlight, svm_text, DKM_INPUTS, DKM_DENSE);
    CHECK(are_values(&r, 4, 4, svm_rows));
    end(&r);
    r = read_text(ctx, &dkm_format_svmlight, svm_text, DKM_OUTPUTS, DKM_SPARSE);
    CHECK(are_lists(&r, 4, 4, svm_rows));
    end(&r);
}

static void an_index_of_zero_makes_all_count_from_zero(dkm_ctx *ctx)
{
    static const double rows[] = {0, 0, 1, 0, 2, 0, 3, 0, 0};
    reading r = read_inputs(ctx, &dkm_format_svmlight, "1 2:1\n1 1:2\n1 0:3\n");

    CHECK(are_lists(&r, 3, 3, rows));
    end(&r);
}

static void columns_are_cut_from_sparse_rows(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    reading r;

    scratch_path(ctx, "columns", path);
    scratch_text(ctx, path, svm_text);
    CHECK_OK(ctx, begin(&r, ctx, &dkm_format_svmlight, path, DKM_INPUTS, DKM_TYPE_COUNT));
    dkm_objs_clear(&r.objs);
    r.first = 3;
    CHECK_OK(ctx, dkm_agree(ctx, r.format->read(&r.file, 3, 1, 1, 1, 3, &r.objs)));
    CHECK(r.objs.n == 1 && r.objs.d == 2 && r.objs.start[1] == 1);
    CHECK(entry_at(&r, 3, 1, 0, 0) == 7.0);
    end(&r);
    scratch_remove(ctx, path);
}

static reading read_labels(dkm_ctx *ctx, const char *text, dkm_type type)
{
    return read_text(ctx, &dkm_format_svmlight, text, DKM_OUTPUTS, type);
}

static void svmlight_labels_say_what_they_are(dkm_ctx *ctx)
{
    static const double sets[] = {0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    reading r = read_labels(ctx, svm_text, DKM_TYPE_COUNT);

    CHECK(are_values(&r, 4, 1, (const double[]){1, -1, 0, 2}) && r.file.type == DKM_LABELS);
    end(&r);
    r = read_labels(ctx, "1 1:1\n2.5 1:1\n", DKM_TYPE_COUNT);
    CHECK(are_values(&r, 2, 1, (const double[]){1, 2.5}) && r.file.type == DKM_DENSE);
    end(&r);
    r = read_labels(ctx, "3,1,3 1:1\n 1:1\n0 2:1\n1:1 2:1\n", DKM_TYPE_COUNT);
    CHECK(are_lists(&r, 4, 4, sets) && r.file.type == DKM_LABEL_SETS);
    CHECK(r.objs.val == NULL);
    end(&r);
    r = read_labels(ctx, "1 1:1\n0\n", DKM_LABEL_SETS);
    CHECK(are_lists(&r, 2, 2, (const double[]){0, 1, 1, 0}));
    end(&r);
    r = read_labels(ctx, "1,2 1:1\n0\n", DKM_LABELS);
    CHECK(r.status == DKM_ERR_FORMAT && strstr(dkm_ctx_message(ctx), ":1: the label field"));
    end(&r);
    r = read_labels(ctx, "1,2 1:1\n-1\n", DKM_TYPE_COUNT);
    CHECK(r.status == DKM_ERR_FORMAT && strstr(dkm_ctx_message(ctx), ":2: the label field"));
    end(&r);
    r = read_labels(ctx, "1\nyes 1:1\n", DKM_TYPE_COUNT);
    CHECK(r.status == DKM_ERR_FORMAT && strstr(dkm_ctx_message(ctx), ":2: the label 'yes'"));
    end(&r);
}

static void bad_svmlight_lines_are_named(dkm_ctx *ctx)
{
    const dkm_format *svm = &dkm_format_svmlight;

    refuse(ctx, svm, "1 1:1\n1 2:1 2:3\n", ":2: index 2 after 2: indices must ascend");
    refuse(ctx, svm, "1 1:1\n\n1 3:1 2:3\n", ":3: index 2 after 3");
    refuse(ctx, svm, "1 1:1 x:2\n", ":1: 'x:2' where index:value should be");
    refuse(ctx, svm, "1 -1:2\n", ":1: '-1:2' where");
    refuse(ctx, svm, "1 1\n", ":1: '1' where index:value");
    refuse(ctx, svm, "1 1:one\n", ":1: the value of '1:one' is not a finite number");
    refuse(ctx, svm, "1 1:1\n1 1:nan\n", ":2: the value of '1:nan'");
    refuse(ctx, svm, "1 1:1e999\n", ":1: the value of '1:1e999'");
    refuse(ctx, svm, "1 1:\n", ":1: the value of '1:'");
    refuse(ctx, svm, "1 99999999999999999999:1\n", ":1: '99999999999999999999:1' where");
    refuse(ctx, svm, "# nothing\n\n", "no examples");
}

/* 0 - 1 with weight 2, 1 - 2 with weight 3, a loop at 2 */
static const double graph_rows[] = {0, 2, 0, 0, 2, 0, 3, 0, 0, 3, 5, 0, 0, 0, 0, 0};

static void matrix_market_files_are_graphs(dkm_ctx *ctx)
{
    reading r = read_inputs(ctx, &dkm_format_mtx,
                            "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n\n"
                            "4 4 3\n2 1 2.0\n3 3 5\n 3\t2 3 \n");

    CHECK(are_lists(&r, 4, 4, graph_rows) && r.file.type == DKM_GRAPH);
    end(&r);
    r = read_inputs(ctx, &dkm_format_mtx,
                    "%%matrixmarket MATRIX coordinate integer general\r\n4 4 7\r\n3 2 3\r\n2 3 3\n"
                    "1 2 2\n2 1 2\n3 3 5\n4 1 0\n1 4 0");
    CHECK(are_lists(&r, 4, 4, graph_rows));
    end(&r);
    r = read_inputs(ctx, &dkm_format_mtx,
                    "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 1\n");
    CHECK(are_lists(&r, 3, 3, (const double[]){0, 0, 1, 0, 0, 0, 1, 0, 0}));
    end(&r);
    r = read_inputs(ctx, &dkm_format_mtx,
                    "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 0");
    CHECK(are_lists(&r, 2, 2, (const double[]){0, 0, 0, 0}));
    end(&r);
}

#define HEAD    "%%MatrixMarket matrix coordinate real symmetric\n"
#define GENERAL "%%MatrixMarket matrix coordinate real general\n"

static void bad_graphs_are_told(dkm_ctx *ctx)
{
    const dkm_format *mtx = &dkm_format_mtx;

    refuse(ctx, mtx, "3 3 1\n1 1 1\n", ":1: a Matrix Market file begins with %%MatrixMarket");
    refuse(ctx, mtx, "%%MatrixMarket matrix array real general\n1 1\n1\n", ":1: ' array");
    refuse(ctx, mtx, "%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "real, integer");
    refuse(ctx, mtx, "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", "symmetric or");
    refuse(ctx, mtx, HEAD "% only this", "cut short before its sizes");
    refuse(ctx, mtx, HEAD "3 3\n", ":2: '3 3' where rows, columns and entries");
    refuse(ctx, mtx, HEAD "3 4 0\n", ":2: 3 x 4: the matrix of a graph is square");
    refuse(ctx, mtx, HEAD "3 3 2\n2 1 1\n", "promises 2 entries and holds 1");
    refuse(ctx, mtx, HEAD "3 3 1", "promises 1 entries and holds 0");
    refuse(ctx, mtx, HEAD "3 3 1\n2 1 1\n3 1 1\n", "promises 1 entries and holds 2");
    refuse(ctx, mtx, HEAD "3 3 1\n4 1 1\n", ":3: index 4 is not in 1 to 3");
    refuse(ctx, mtx, HEAD "3 3 1\n1 0 1\n", ":3: index 0 is not in 1 to 3");
    refuse(ctx, mtx, HEAD "3 3 1\n2 1 -1\n", ":3: weight -1");
    refuse(ctx, mtx, HEAD "3 3 1\n2 1 inf\n", ":3: the weight 'inf' is not");
    refuse(ctx, mtx, HEAD "3 3 1\n2 1\n", ":3: the weight '' is not");
    refuse(ctx, mtx, HEAD "3 3 1\n2 1 1 1\n", ":3: '1' after the entry");
    refuse(ctx, mtx, HEAD "3 3 2\n2 1 1\nx 1 1\n", ":4: 'x 1 1' where row, column and weight");
    refuse(ctx, mtx, HEAD "3 3 2\n2 1 1\n1 2 1\n", "between 1 and 2 stands there twice");
    refuse(ctx, mtx, GENERAL "3 3 1\n2 1 1\n", "is not the same in both directions");
    refuse(ctx, mtx, GENERAL "3 3 2\n2 1 1\n1 2 2\n", "is not the same in both directions");
    refuse(ctx, mtx, GENERAL "3 3 4\n2 1 1\n1 2 1\n2 1 1\n1 2 1\n", "stands there twice");
}

static void empty_files_and_missing_ones_are_told(dkm_ctx *ctx)
{
    static const dkm_format *const formats[] = {&dkm_format_svmlight, &dkm_format_lines,
                                                &dkm_format_fasta, &dkm_format_sets,
                                                &dkm_format_mtx};
    for (int k = 0; k < 5; k++) {
        reading r;
        refuse(ctx, formats[k], "", "empty");
        CHECK(begin(&r, ctx, formats[k], "/nonexistent/file", DKM_INPUTS, DKM_TYPE_COUNT) ==
              DKM_ERR_IO);
        CHECK(strstr(dkm_ctx_message(ctx), "/nonexistent/file") != NULL);
        end(&r);
    }
}

static void a_type_that_does_not_fit_is_refused(dkm_ctx *ctx)
{
    static const struct {
        const dkm_format *format;
        const char *text;
        dkm_type type;
    } wrong[] = {
        {&dkm_format_lines, "a\n", DKM_LABELS},      {&dkm_format_sets, "a\n", DKM_DENSE},
        {&dkm_format_fasta, ">a\nA\n", DKM_SETS},    {&dkm_format_mtx, HEAD "1 1 0\n", DKM_DENSE},
        {&dkm_format_svmlight, "1 1:1\n", DKM_GRAM},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        reading r = read_text(ctx, wrong[k].format, wrong[k].text, DKM_INPUTS, wrong[k].type);
        CHECK(r.status == DKM_ERR_ARG);
        CHECK(strstr(dkm_ctx_message(ctx), dkm_type_name(wrong[k].type)) != NULL);
        end(&r);
    }
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
    CHECK_OK(ctx, begin(&r, ctx, &dkm_format_svmlight, path, DKM_INPUTS, DKM_TYPE_COUNT));
    CHECK(are_lists(&r, 4, 4, svm_rows));
    end(&r);
    scratch_remove(ctx, path);
}

/* Long enough that ranks begin in the middle and the index has marks. */
static void long_files_keep_their_order(dkm_ctx *ctx)
{
    enum { ROWS = 60000, WIDTH = 14 };
    char path[SCRATCH_LENGTH], *text = malloc(ROWS * WIDTH + 1), want[WIDTH + 1];
    reading r;
    int same = 1;

    for (int k = 0; k < ROWS; k++)
        snprintf(text + k * WIDTH, WIDTH + 1, "%-2d 1:%08d\n", k % 10, k);
    scratch_path(ctx, "long", path);
    scratch_text(ctx, path, text);
    CHECK_OK(ctx, begin(&r, ctx, &dkm_format_lines, path, DKM_INPUTS, DKM_TYPE_COUNT));
    for (dkm_idx i = 0; i < r.objs.n; i++) {
        snprintf(want, sizeof want, "%-2d 1:%08d", (int)((r.first + i) % 10), (int)(r.first + i));
        same &= memcmp(r.objs.bytes + r.objs.start[i], want, WIDTH - 1) == 0;
    }
    CHECK(same && r.file.m == ROWS);
    end(&r);
    CHECK_OK(ctx, begin(&r, ctx, &dkm_format_svmlight, path, DKM_INPUTS, DKM_TYPE_COUNT));
    for (dkm_idx i = 0; i < r.objs.n; i++)
        same &= r.objs.val[i] == (double)(r.first + i);
    CHECK(same && r.file.m == ROWS && r.file.d == 1);
    end(&r);
    free(text);
    scratch_remove(ctx, path);
}

static char brutal_path[SCRATCH_LENGTH];
static const dkm_format *brutal_format;
static dkm_role brutal_role;

static dkm_status attempt(dkm_ctx *ctx)
{
    reading r;
    dkm_status status = begin(&r, ctx, brutal_format, brutal_path, brutal_role, DKM_TYPE_COUNT);

    end(&r);
    return status;
}

static void every_allocation_may_fail(dkm_ctx *ctx)
{
    static const struct {
        const dkm_format *format;
        const char *text;
        dkm_role role;
    } all[] = {
        {&dkm_format_svmlight, "1,2 1:1 2:2\n2 1:1 3:4\n1 9:1\n3 1:2\n", DKM_INPUTS},
        {&dkm_format_svmlight, "1,2 1:1 2:2\n2 1:1 3:4\n1 9:1\n3 1:2\n", DKM_OUTPUTS},
        {&dkm_format_lines, "a\nb\nc\n", DKM_INPUTS},
        {&dkm_format_sets, "b a\nb\nc\n", DKM_INPUTS},
        {&dkm_format_fasta, ">a\nAC\n>b\nG\n>c\nT\n", DKM_INPUTS},
        {&dkm_format_mtx, HEAD "3 3 2\n2 1 1\n3 2 1\n", DKM_INPUTS},
    };
    scratch_path(ctx, "brutal", brutal_path);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        brutal_format = all[k].format;
        brutal_role = all[k].role;
        scratch_text(ctx, brutal_path, all[k].text);
        check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
        check_every_allocation(ctx, 0, attempt);
    }
    scratch_remove(ctx, brutal_path);
}

static const check_case cases[] = {
    CASE(lines_become_strings),
    CASE(every_other_line_backwards_and_forwards),
    CASE(sets_are_sorted_and_their_words_once),
    CASE(fasta_records_are_joined),
    CASE(svmlight_features_are_sparse_rows),
    CASE(an_index_of_zero_makes_all_count_from_zero),
    CASE(columns_are_cut_from_sparse_rows),
    CASE(svmlight_labels_say_what_they_are),
    CASE(bad_svmlight_lines_are_named),
    CASE(matrix_market_files_are_graphs),
    CASE(bad_graphs_are_told),
    CASE(empty_files_and_missing_ones_are_told),
    CASE(a_type_that_does_not_fit_is_refused),
    CASE(gzipped_files_read_the_same),
    CASE(long_files_keep_their_order),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
