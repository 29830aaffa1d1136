/* svmlight: `label index:value index:value ... # comment` a line. Read as inputs a file is its rows
 * of features; read as outputs it is its first field, a number or a set of labels with commas
 * between; in a file without any features a blank line is the empty set. Opening scans the file once, each rank a slab of it, for the largest index, whether the
 * index 0 occurs, and what the labels are. What indices count from is one for all files of a
 * context (dkm_ctx_set_svm_base). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/svm_base.h"
#include "data/builder.h"
#include "io/formats/dense.h"
#include "io/formats/svmrow.h"
#include "io/path.h"
#include "io/text/scan.h"
#include "io/text/textfile.h"

typedef struct state {
    dkm_textfile file;
    dkm_svm_facts facts;
    int labels;   /* the label field is read, not the features */
    dkm_idx base; /* that indices count from */
} state;

/* Some records to be visited in order. */
typedef struct walk {
    dkm_file *file;
    dkm_idx first, step, count;
    void *user;
    dkm_local (*visit)(void *user, const dkm_text *text, dkm_idx i, dkm_svm_row r);
} walk;

static dkm_local walk_rows(const walk *w)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_textfile *t = &((state *)w->file->state)->file;
    dkm_idx length;
    char *line;

    for (dkm_idx i = 0; i < w->count; i++) {
        DKM_STEP(dkm_textfile_seek(t, w->file, w->first + i * w->step));
        DKM_STEP(dkm_text_next(&t->text, &line, &length));
        if (memchr(line, '\0', (size_t)length))
            DKM_STEP(dkm_fail_line(&t->text, "a zero byte: %s", "this is not a text file"));
        DKM_STEP(w->visit(w->user, &t->text, i, dkm_svm_split(line)));
    }
out:
    if (local.code != DKM_OK)
        dkm_textfile_lose(t);
    return local;
}

static dkm_local scan_row(void *user, const dkm_text *text, dkm_idx i, dkm_svm_row r)
{
    state *s = user;

    (void)i;
    return s->labels ? dkm_svm_scan_labels(text, r, &s->facts)
                     : dkm_svm_scan_features(text, r.features, &s->facts);
}

/* Collective. */
static dkm_status find_facts(dkm_file *file)
{
    dkm_status status = DKM_OK;
    state *s = file->state;
    int rank = dkm_ctx_rank(file->ctx), size = dkm_ctx_size(file->ctx);
    walk w = {.file = file, .step = 1, .user = s, .visit = scan_row};

    s->facts = DKM_SVM_NO_FACTS;
    w.first = dkm_slab_first(s->file.records.count, rank, size);
    w.count = dkm_slab_count(s->file.records.count, rank, size);
    DKM_AGREE(file->ctx, walk_rows(&w));
    MPI_Allreduce(MPI_IN_PLACE, &s->facts, (int)(sizeof s->facts / sizeof(dkm_idx)), MPI_INT64_T,
                  MPI_MIN, dkm_ctx_comm(file->ctx));
out:
    return status;
}

/* Numbers written out one by one may be few beside the zeros between them, but not ever so few. */
static dkm_local svmlight_check_dense(const dkm_file *file)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx bytes = 0;

    DKM_STEP(dkm_path_readable(file->ctx, file->path, &bytes));
    DKM_STEP(dkm_dense_plausible(file, file->m, file->d, bytes));
out:
    return local;
}

/* The base set or decided before, else what this file shows. */
static dkm_local settle_base(dkm_file *file, const dkm_svm_facts *f)
{
    state *s = file->state;
    int outputs = file->role == DKM_OUTPUTS, base = dkm_svm_base_of(file->ctx, outputs);

    if (base == 1 && f->least == 0)
        return dkm_fail(file->ctx, DKM_ERR_FORMAT,
                        "%s: has the index 0, and indices count from 1 here or in the file read "
                        "before: if all count from 0, train with --svm-base 0",
                        file->path);
    s->base = base != DKM_SVM_BASE_AUTO ? base : f->least == 0 ? 0 : 1;
    if (base == DKM_SVM_BASE_AUTO && f->least != DKM_SVM_NOWHERE)
        dkm_svm_base_decide(file->ctx, outputs, (int)s->base);
    return DKM_LOCAL_OK;
}

static dkm_local settle_features(dkm_file *file, const dkm_svm_facts *f)
{
    const state *s = file->state;

    if (file->type == DKM_TYPE_COUNT)
        file->type = DKM_SPARSE;
    if (file->type != DKM_SPARSE && file->type != DKM_DENSE)
        return dkm_fail(file->ctx, DKM_ERR_ARG,
                        "%s: the features of an svmlight file are sparse or dense, not %s",
                        file->path, dkm_type_name(file->type));
    file->d = f->least == DKM_SVM_NOWHERE ? 0 : 1 - f->minus_most - s->base;
    snprintf(file->about, sizeof file->about, "svmlight features, indices from %d", (int)s->base);
    return file->type == DKM_DENSE ? svmlight_check_dense(file) : DKM_LOCAL_OK;
}

/* The first line with labels of which the wanted type is not made. */
static dkm_idx unfit_line(dkm_type type, const dkm_svm_facts *f)
{
    if (type == DKM_LABEL_SETS)
        return f->unfit_line;
    if (type == DKM_DENSE)
        return f->set_line;
    return f->set_line < f->fraction_line ? f->set_line : f->fraction_line;
}

static dkm_local settle_labels(dkm_file *file, const dkm_svm_facts *f)
{
    dkm_idx line;

    if (file->type == DKM_TYPE_COUNT)
        file->type = f->set_line != DKM_SVM_NOWHERE        ? DKM_LABEL_SETS
                     : f->fraction_line != DKM_SVM_NOWHERE ? DKM_DENSE
                                                           : DKM_LABELS;
    if (file->type != DKM_LABEL_SETS && file->type != DKM_DENSE && file->type != DKM_LABELS)
        return dkm_fail(file->ctx, DKM_ERR_ARG,
                        "%s: the labels of an svmlight file are labels, label-sets or dense, not "
                        "%s",
                        file->path, dkm_type_name(file->type));
    line = unfit_line(file->type, f);
    if (line != DKM_SVM_NOWHERE)
        return dkm_fail(file->ctx, DKM_ERR_FORMAT,
                        "%s:%lld: the label field does not fit the type %s (%s)", file->path,
                        (long long)line, dkm_type_name(file->type),
                        file->type == DKM_LABEL_SETS ? "integers from 0 with commas between"
                        : file->type == DKM_DENSE    ? "one number"
                                                     : "one integer");
    file->d = file->type == DKM_LABEL_SETS ? 1 - f->minus_top : 1;
    snprintf(file->about, sizeof file->about, "svmlight label field");
    return DKM_LOCAL_OK;
}

/* Label sets without features: a blank line is then the empty set. Collective. */
static dkm_status count_blank_lines(dkm_file *file)
{
    dkm_status status = DKM_OK;
    state *s = file->state;

    if (file->type != DKM_LABEL_SETS || s->facts.feature_line != DKM_SVM_NOWHERE)
        return DKM_OK;
    dkm_textfile_clear(&s->file);
    DKM_TRY(dkm_textfile_index(&s->file, file, DKM_RECORDS_UNCOMMENTED));
    file->m = s->file.records.count;
out:
    return status;
}

static dkm_local svmlight_make_state(dkm_file *file)
{
    state *s = NULL;
    dkm_local local = dkm_calloc(file->ctx, 1, &s);

    file->state = s;
    return local;
}

static dkm_status open_svmlight(dkm_file *file)
{
    dkm_status status = DKM_OK;
    state *s;

    DKM_AGREE(file->ctx, svmlight_make_state(file));
    s = file->state;
    s->labels = file->type == DKM_LABELS || file->type == DKM_LABEL_SETS ||
                (file->role == DKM_OUTPUTS && file->type != DKM_SPARSE);
    DKM_TRY(dkm_textfile_index(&s->file, file, DKM_RECORDS_FILLED));
    file->m = s->file.records.count;
    DKM_REQUIRE(file->ctx, file->m > 0, DKM_ERR_FORMAT, "%s: no examples in it", file->path);
    DKM_TRY(find_facts(file));
    if (!s->labels)
        DKM_AGREE(file->ctx, settle_base(file, &s->facts));
    DKM_AGREE(file->ctx,
              s->labels ? settle_labels(file, &s->facts) : settle_features(file, &s->facts));
    DKM_TRY(count_blank_lines(file));
out:
    return status;
}

/* Where the rows that are read go: into lists or into values. */
typedef struct target {
    const dkm_file *file;
    dkm_idx base, c0, c1;
    dkm_objs *objs;
    dkm_builder grower;
    dkm_idx capacity, *set; /* labels of one line */
} target;

static dkm_local read_features(void *user, const dkm_text *text, dkm_idx i, dkm_svm_row r)
{
    dkm_local local = DKM_LOCAL_OK;
    target *t = user;
    dkm_idx index, width = t->c1 - t->c0;
    double value;

    for (;;) {
        DKM_STEP(dkm_svm_feature(text, &r.features, &index, &value));
        if (index < 0)
            break;
        index -= t->base;
        if (index < t->c0 || index >= t->c1)
            continue;
        if (t->objs->values)
            t->objs->values[i * width + index - t->c0] = value;
        else
            DKM_STEP(dkm_builder_entry(&t->grower, index - t->c0, value));
    }
    if (!t->objs->values)
        dkm_builder_next(&t->grower);
out:
    return local;
}

static int ascending(const void *a, const void *b)
{
    const dkm_idx *u = a, *v = b;

    return (*u > *v) - (*u < *v);
}

static dkm_local svmlight_read_set(void *user, const dkm_text *text, dkm_idx i, dkm_svm_row r)
{
    dkm_local local = DKM_LOCAL_OK;
    target *t = user;
    dkm_idx count = 0;
    double label;
    int more;

    (void)i;
    for (;; count++) {
        DKM_STEP(dkm_svm_label(text, &r.labels, &label, &more));
        if (!more)
            break;
        if (count == t->capacity) {
            DKM_STEP(dkm_realloc(t->file->ctx, 2 * t->capacity + 16, &t->set));
            t->capacity = 2 * t->capacity + 16;
        }
        t->set[count] = (dkm_idx)label;
    }
    if (count > 1)
        qsort(t->set, (size_t)count, sizeof *t->set, ascending);
    for (dkm_idx k = 0; k < count; k++)
        if ((k == 0 || t->set[k] != t->set[k - 1]) && t->set[k] >= t->c0 && t->set[k] < t->c1)
            DKM_STEP(dkm_builder_entry(&t->grower, t->set[k] - t->c0, 1.0));
    dkm_builder_next(&t->grower);
out:
    return local;
}

static dkm_local read_label(void *user, const dkm_text *text, dkm_idx i, dkm_svm_row r)
{
    target *t = user;
    int more;
    double label = 0;
    dkm_local local = dkm_svm_label(text, &r.labels, &label, &more);

    if (t->c1 > t->c0)
        t->objs->values[i] = label;
    return local;
}

static dkm_local begin_target(target *t, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx width = t->c1 - t->c0;

    if (dkm_type_storage_form(t->file->type) == DKM_STORED_LISTS) {
        DKM_STEP(dkm_builder_begin(&t->grower, t->objs, t->file->ctx, t->file->type, count, width));
    } else {
        DKM_STEP(dkm_objs_init(t->objs, t->file->ctx, t->file->type, count, width, 0));
        memset(t->objs->values, 0, (size_t)(count * width) * sizeof *t->objs->values);
    }
out:
    return local;
}

static dkm_local read_svmlight(dkm_file *file, dkm_idx first, dkm_idx step, dkm_idx count,
                               dkm_idx c0, dkm_idx c1, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    const state *s = file->state;
    target t = {.file = file, .base = s->base, .c0 = c0, .c1 = c1};
    walk w = {.file = file, .first = first, .step = step, .count = count, .user = &t};

    t.objs = objs;
    w.visit = !s->labels                     ? read_features
              : file->type == DKM_LABEL_SETS ? svmlight_read_set
                                             : read_label;
    DKM_STEP(begin_target(&t, count));
    DKM_STEP(walk_rows(&w));
    if (!objs->values)
        DKM_STEP(dkm_builder_end(&t.grower));
out:
    DKM_FREE(t.set);
    return local;
}

static void close_svmlight(dkm_file *file)
{
    state *s = file->state;

    if (s)
        dkm_textfile_clear(&s->file);
    DKM_FREE(file->state);
}

const dkm_format dkm_format_svmlight = {
    .name = "svmlight",
    .endings = ".svm .libsvm .svm.gz .libsvm.gz",
    .open = open_svmlight,
    .read = read_svmlight,
    .close = close_svmlight,
};
