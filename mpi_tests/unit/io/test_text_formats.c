/* Each reader is called through its dkm_format: opened by all ranks, read in slabs. */
#include <dkmap/grid.h>

#include "core/alloc.h"
#include "support/fixture_reading.h"
#include "support/scratch.h"

static void lines_become_strings(dkm_ctx *ctx)
{
    static const char *const wanted[] = {"first", "", " two words\t", "\xff\xfe", "last"};
    reading r = reading_inputs(ctx, &dkm_format_lines, "first\n\n two words\t\r\n\xff\xfe\nlast");

    CHECK(reading_strings(&r, 5, wanted) && r.file.type == DKM_STRINGS);
    reading_end(&r);
    r = reading_inputs(ctx, &dkm_format_lines, "one\n");
    CHECK(reading_strings(&r, 1, (const char *const[]){"one"}));
    reading_end(&r);
}

static void every_other_line_backwards_and_forwards(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    reading r;

    scratch_path(ctx, "step", path);
    scratch_text(ctx, path, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    CHECK_OK(ctx, reading_begin(&r, ctx, &dkm_format_lines, path, DKM_INPUTS, DKM_TYPE_COUNT));
    CHECK_OK(ctx, reading_rows(&r, 1, 3, 3));
    r.file.m = 3;
    CHECK(reading_strings(&r, 3, (const char *const[]){"1", "4", "7"}));
    CHECK_OK(ctx, reading_rows(&r, 9, -4, 3));
    CHECK(reading_strings(&r, 3, (const char *const[]){"9", "5", "1"}));
    CHECK_OK(ctx, reading_rows(&r, 4, 1, 0));
    CHECK(r.objs.n == 0 && r.objs.start[0] == 0);
    reading_end(&r);
    scratch_remove(ctx, path);
}

static void sets_are_sorted_and_their_words_once(dkm_ctx *ctx)
{
    static const char *const wanted[] = {"a b c", "", "A Z a", "x", "a ab abc"};
    reading r = reading_inputs(ctx, &dkm_format_sets, "c  b a\tb\n\nZ a A \n x x x\r\nabc ab a\n");

    CHECK(reading_strings(&r, 5, wanted) && r.file.type == DKM_SETS);
    reading_end(&r);
    r = reading_of(ctx, &dkm_format_lines, "b a\n", DKM_INPUTS, DKM_SETS);
    CHECK(reading_strings(&r, 1, (const char *const[]){"a b"}));
    reading_end(&r);
}

static void graphs_have_one_form(dkm_ctx *ctx)
{
    static const char *const wanted[] = {"C C O | 0-1 1-2", "N", "", "a b | 0-1:x"};
    reading r =
        reading_inputs(ctx, &dkm_format_graphs, "C C  O | 2-1 0-1 1-0\nN |\n\na b | 1-0:x\n");

    CHECK(reading_strings(&r, 4, wanted) && r.file.type == DKM_GRAPHS);
    reading_end(&r);
    reading_refused(ctx, &dkm_format_graphs, "C C\nC C | 0-1 1-2\n",
                    ":2: '1-2' is no edge i-j or i-j:label between two of the 2 vertices");
    reading_refused(ctx, &dkm_format_graphs, "C C | 0-1:a 1-0:b\n",
                    ":1: the edge 0-1 has two labels");
}

static void fasta_records_are_joined(dkm_ctx *ctx)
{
    static const char *const wanted[] = {"ACGT", "", "MKV", "LAST"};
    reading r = reading_inputs(ctx, &dkm_format_fasta,
                               "\n>a one\nAC\nGT\n>b\n>c\r\nM K\r\nV\r\n\n>d\nLA\nST");

    CHECK(reading_strings(&r, 4, wanted));
    reading_end(&r);
    reading_refused(ctx, &dkm_format_fasta, "\nACGT\n>a\nAC\n",
                    ":2: 'ACGT' where a FASTA record begins");
    reading_refused(ctx, &dkm_format_fasta, "\n \n", "no FASTA record");
}

/* 0 - 1 with weight 2, 1 - 2 with weight 3, a loop at 2 */
static const double graph_rows[] = {0, 2, 0, 0, 2, 0, 3, 0, 0, 3, 5, 0, 0, 0, 0, 0};

static void matrix_market_files_are_graphs(dkm_ctx *ctx)
{
    reading r = reading_inputs(ctx, &dkm_format_mtx,
                               "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n\n"
                               "4 4 3\n2 1 2.0\n3 3 5\n 3\t2 3 \n");

    CHECK(reading_lists(&r, 4, 4, graph_rows) && r.file.type == DKM_GRAPH);
    reading_end(&r);
    r = reading_inputs(
        ctx, &dkm_format_mtx,
        "%%matrixmarket MATRIX coordinate integer general\r\n4 4 7\r\n3 2 3\r\n2 3 3\n"
        "1 2 2\n2 1 2\n3 3 5\n4 1 0\n1 4 0");
    CHECK(reading_lists(&r, 4, 4, graph_rows));
    reading_end(&r);
    r = reading_inputs(ctx, &dkm_format_mtx,
                       "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 1\n");
    CHECK(reading_lists(&r, 3, 3, (const double[]){0, 0, 1, 0, 0, 0, 1, 0, 0}));
    reading_end(&r);
    r = reading_inputs(ctx, &dkm_format_mtx,
                       "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 0");
    CHECK(reading_lists(&r, 2, 2, (const double[]){0, 0, 0, 0}));
    reading_end(&r);
}

#define HEAD    "%%MatrixMarket matrix coordinate real symmetric\n"
#define GENERAL "%%MatrixMarket matrix coordinate real general\n"

static void bad_graphs_are_told(dkm_ctx *ctx)
{
    const dkm_format *mtx = &dkm_format_mtx;

    reading_refused(ctx, mtx, "3 3 1\n1 1 1\n",
                    ":1: a Matrix Market file begins with %%MatrixMarket");
    reading_refused(ctx, mtx, "%%MatrixMarket matrix vector real general\n1 1\n1\n",
                    ":1: ' vector");
    reading_refused(ctx, mtx, "%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
                    "real, integer");
    reading_refused(ctx, mtx, "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n",
                    "symmetric or");
    reading_refused(ctx, mtx, HEAD "% only this", "cut short before its sizes");
    reading_refused(ctx, mtx, HEAD "3 3\n", ":2: '3 3' where rows, columns and entries");
    reading_refused(ctx, mtx, HEAD "9000000000 9000000000 1\n1 1 1\n",
                    ":2: 9000000000 vertices and 1 entries");
    reading_refused(ctx, mtx, HEAD "3 4 0\n", ":2: 3 x 4: the matrix of a graph is square");
    reading_refused(ctx, mtx, HEAD "3 3 2\n2 1 1\n", "promises 2 entries and holds 1");
    reading_refused(ctx, mtx, HEAD "3 3 1", "promises 1 entries and holds 0");
    reading_refused(ctx, mtx, HEAD "3 3 1\n2 1 1\n3 1 1\n", "promises 1 entries and holds 2");
    reading_refused(ctx, mtx, HEAD "3 3 1\n4 1 1\n", ":3: index 4 is not in 1 to 3");
    reading_refused(ctx, mtx, HEAD "3 3 1\n1 0 1\n", ":3: index 0 is not in 1 to 3");
    reading_refused(ctx, mtx, HEAD "3 3 1\n2 1 -1\n", ":3: weight -1");
    reading_refused(ctx, mtx, HEAD "3 3 1\n2 1 inf\n", ":3: the weight 'inf' is not");
    reading_refused(ctx, mtx, HEAD "3 3 1\n2 1\n", ":3: the weight '' is not");
    reading_refused(ctx, mtx, HEAD "3 3 1\n2 1 1 1\n", ":3: '1' after the entry");
    reading_refused(ctx, mtx, HEAD "3 3 2\n2 1 1\nx 1 1\n",
                    ":4: 'x 1 1' where row, column and weight");
    reading_refused(ctx, mtx, HEAD "3 3 2\n2 1 1\n1 2 1\n", "between 1 and 2 stands there twice");
    reading_refused(ctx, mtx, GENERAL "3 3 1\n2 1 1\n", "is not the same in both directions");
    reading_refused(ctx, mtx, GENERAL "3 3 2\n2 1 1\n1 2 2\n",
                    "is not the same in both directions");
    reading_refused(ctx, mtx, GENERAL "3 3 4\n2 1 1\n1 2 1\n2 1 1\n1 2 1\n", "stands there twice");
}

#define ARRAY "%%MatrixMarket matrix array real general\n"

static void check_array(dkm_ctx *ctx, const char *text, dkm_idx m, dkm_idx d, const double *wanted)
{
    reading r = reading_inputs(ctx, &dkm_format_mtx, text);

    CHECK(r.file.type == DKM_DENSE && r.file.m == m && r.file.d == d);
    for (dkm_idx i = 0; i < r.objs.n * d; i++)
        CHECK(r.objs.values[i] == wanted[r.first * d + i]);
    reading_end(&r);
}

static void arrays_of_matrix_market_are_rows(dkm_ctx *ctx)
{
    const dkm_format *mtx = &dkm_format_mtx;

    check_array(ctx, ARRAY "% a comment\n2 3\n1\n2.5\n-3\n\n4\n5\n6e1\n", 2, 3,
                (const double[]){1, -3, 5, 2.5, 4, 60});
    check_array(ctx, "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", 3, 3,
                (const double[]){1, 2, 3, 2, 4, 5, 3, 5, 6});
    reading_refused(ctx, mtx, ARRAY "2 2\n1\n2\n3\n", "promises 4 entries and holds 3");
    reading_refused(ctx, mtx, ARRAY "2\n1\n", ":2: '2' where rows, columns should be");
    reading_refused(ctx, mtx, ARRAY "1 1\nx\n", ":3: 'x' where one finite number should be");
    reading_refused(ctx, mtx, ARRAY "1 2\n1 2\n3\n", ":3: '1 2' where one finite number");
    reading_refused(ctx, mtx, ARRAY "3000000000 1000000000\n1\n",
                    "promises 3000000000000000000 entries");
    reading_refused(ctx, mtx, "%%MatrixMarket matrix array pattern general\n1 1\n1\n",
                    "entries must be real or integer");
    reading_refused(ctx, mtx, "%%MatrixMarket matrix array real symmetric\n1 2\n1\n2\n",
                    "a symmetric matrix is square");
}

static void empty_files_and_missing_ones_are_told(dkm_ctx *ctx)
{
    static const dkm_format *const formats[] = {&dkm_format_svmlight, &dkm_format_lines,
                                                &dkm_format_fasta, &dkm_format_sets,
                                                &dkm_format_mtx};
    for (int k = 0; k < 5; k++) {
        reading r;
        reading_refused(ctx, formats[k], "", "empty");
        CHECK(reading_begin(&r, ctx, formats[k], "/nonexistent/file", DKM_INPUTS, DKM_TYPE_COUNT) ==
              DKM_ERR_IO);
        CHECK(strstr(dkm_ctx_message(ctx), "/nonexistent/file") != NULL);
        reading_end(&r);
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
        reading r = reading_of(ctx, wrong[k].format, wrong[k].text, DKM_INPUTS, wrong[k].type);
        CHECK(r.status == DKM_ERR_ARG);
        CHECK(strstr(dkm_ctx_message(ctx), dkm_type_name(wrong[k].type)) != NULL);
        reading_end(&r);
    }
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
    CHECK_OK(ctx, reading_begin(&r, ctx, &dkm_format_lines, path, DKM_INPUTS, DKM_TYPE_COUNT));
    for (dkm_idx i = 0; i < r.objs.n; i++) {
        snprintf(want, sizeof want, "%-2d 1:%08d", (int)((r.first + i) % 10), (int)(r.first + i));
        same &= memcmp(r.objs.bytes + r.objs.start[i], want, WIDTH - 1) == 0;
    }
    CHECK(same && r.file.m == ROWS);
    reading_end(&r);
    CHECK_OK(ctx, reading_begin(&r, ctx, &dkm_format_svmlight, path, DKM_INPUTS, DKM_TYPE_COUNT));
    for (dkm_idx i = 0; i < r.objs.n; i++)
        same &= r.objs.val[i] == (double)(r.first + i);
    CHECK(same && r.file.m == ROWS && r.file.d == 1);
    reading_end(&r);
    free(text);
    scratch_remove(ctx, path);
}

static char brutal_path[SCRATCH_LENGTH];
static const dkm_format *brutal_format;
static dkm_role brutal_role;

static dkm_status attempt(dkm_ctx *ctx)
{
    reading r;
    dkm_status status =
        reading_begin(&r, ctx, brutal_format, brutal_path, brutal_role, DKM_TYPE_COUNT);

    reading_end(&r);
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
    CASE(graphs_have_one_form),
    CASE(fasta_records_are_joined),
    CASE(matrix_market_files_are_graphs),
    CASE(bad_graphs_are_told),
    CASE(arrays_of_matrix_market_are_rows),
    CASE(empty_files_and_missing_ones_are_told),
    CASE(a_type_that_does_not_fit_is_refused),
    CASE(long_files_keep_their_order),
    CASE(every_allocation_may_fail),
};

CHECK_MAIN(cases)
