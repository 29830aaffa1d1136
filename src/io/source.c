#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "core/mpi_calls.h"
#include "core/svm_base.h"
#include "io/column_list.h"
#include "io/path.h"
#include "io/source_impl.h"
#include "io/stream/spool.h"
#include "io/table/table.h"

#define ENDINGS_LENGTH  256
#define BINARY_PER_NODE 1 /* ranks of a node that read; bytes are moved faster than they come */
#define TEXT_PER_NODE   4 /* text takes time to parse */
#define ALL_FROM_ONE    0 /* rank 0 reads for all */
#define SHORT_FILE      ((off_t)4 << 20)
#define FEW_RANKS       8 /* that may all open a short file */

/* Rank 0 says whether a file of exactly this name exists, so that all take the name alike. */
static int exists_for_all(dkm_ctx *ctx, const char *name)
{
    int there = access(name, F_OK) == 0;

    MPI_Bcast(&there, 1, MPI_INT, 0, dkm_ctx_comm(ctx));
    return there;
}

static dkm_local find_type(dkm_ctx *ctx, const char *name, dkm_type *type)
{
    *type = name ? dkm_type_from_name(name) : DKM_TYPE_COUNT;
    if (name && *type == DKM_TYPE_COUNT)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "no type '%s': it can be dense, sparse, labels, label-sets, strings, sets, "
                        "gram, distance, graph or graphs",
                        name);
    return DKM_LOCAL_OK;
}

/* Tables that other programs write, and no library reads here. */
static int is_arrow(const char *path)
{
    static const char *const endings[] = {".parquet", ".feather", ".arrow"};
    size_t length = strlen(path);

    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (length > strlen(endings[k]) &&
            strcmp(path + length - strlen(endings[k]), endings[k]) == 0)
            return 1;
    return 0;
}

static dkm_local find_format(dkm_source *source)
{
    const char *path = source->where.path, *slash = strrchr(path, '/');
    int is_pipe = dkm_spool_path(path) != path;
    char endings[ENDINGS_LENGTH];

    if (is_pipe && !strchr(slash ? slash : path, '.'))
        path = dkm_spool_ending(path);
    source->format = dkm_format_for(path, source->file.type);
    if (source->format == &dkm_format_hdf5 && is_pipe)
        return dkm_fail(source->ctx, DKM_ERR_UNSUPPORTED,
                        "%s: HDF5 is not read from a pipe: write it to a file first",
                        source->where.path);
    if (source->format)
        return DKM_LOCAL_OK;
    if (is_arrow(path))
        return dkm_fail(source->ctx, DKM_ERR_ARG,
                        "%s: Parquet and Arrow files are not read: convert it, for instance by "
                        "pandas.read_parquet(...).to_csv(..., index=False)",
                        source->where.path);
    return dkm_fail(source->ctx, DKM_ERR_ARG,
                    "%s: the ending does not say what it is: known are %s; or give a type",
                    source->where.path, dkm_format_endings(endings, sizeof endings));
}

static dkm_local source_prepare(dkm_source *source, const char *type)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_file *file = &source->file;

    DKM_STEP(find_type(source->ctx, type, &file->type));
    if (dkm_ctx_rank(source->ctx) == 0)
        DKM_STEP(dkm_path_readable(source->ctx, source->where.path, NULL));
    DKM_STEP(find_format(source));
    file->path = source->where.path;
    file->dataset = source->where.dataset;
out:
    return local;
}

/* A gzipped file can only be read from its beginning; a short one is read sooner by one rank than it is
 * opened on many nodes. */
static int is_read_by_one(int fd, int ranks)
{
    unsigned char magic[2] = {0, 0};
    struct stat about;

    if (read(fd, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
        return 1;
    return ranks > FEW_RANKS && fstat(fd, &about) == 0 && about.st_size <= SHORT_FILE;
}

/* Ranks of a node that read a file, by what rank 0 sees of it. */
static int readers_per_node(dkm_source *source)
{
    const char *path = source->file.path;
    int one = 0, is_first = dkm_ctx_rank(source->ctx) == 0,
        fd = is_first ? dkm_path_open(path, O_RDONLY | O_CLOEXEC, 0) : -1;

    if (fd >= 0) {
        one = is_read_by_one(fd, dkm_ctx_size(source->ctx));
        close(fd);
    }
    source->file.ctx = source->ctx;
    if (is_first && !one && source->format->is_forward)
        one = source->format->is_forward(&source->file);
    MPI_Bcast(&one, 1, MPI_INT, 0, dkm_ctx_comm(source->ctx));
    if (one)
        return ALL_FROM_ONE;
    return source->format->is_text ? TEXT_PER_NODE : BINARY_PER_NODE;
}

/* What rank 0, a reader, broadcasts about a file. */
enum { ROWS, COLUMNS, TYPE, SVM_BASE, HAS_NAMES, NAME_BYTES, HAS_TEXT, FACTS };

static dkm_idx count_name_bytes(const dkm_file *file)
{
    dkm_idx bytes = 0;

    for (dkm_idx c = 0; file->names && c < file->d; c++)
        bytes += (dkm_idx)strlen(file->names[c]) + 1;
    return bytes;
}

static dkm_local alloc_columns(dkm_source *source, const dkm_idx *facts)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_file *file = &source->file;
    int reads = source->readers.readers != NULL;

    if (facts[HAS_NAMES])
        DKM_STEP(dkm_calloc(source->ctx, facts[NAME_BYTES], &source->name_text));
    if (facts[HAS_NAMES] && !reads)
        DKM_STEP(dkm_calloc(source->ctx, facts[COLUMNS], &file->names));
    if (facts[HAS_TEXT] && !reads)
        DKM_STEP(dkm_calloc(source->ctx, facts[COLUMNS], &file->is_text));
out:
    return local;
}

/* Names of columns, and which of them are text, for those who do not read. */
static dkm_status share_columns(dkm_source *source, const dkm_idx *facts)
{
    dkm_status status = DKM_OK;
    dkm_file *file = &source->file;
    MPI_Comm comm = dkm_ctx_comm(source->ctx);
    char *at;

    DKM_AGREE(source->ctx, alloc_columns(source, facts));
    at = source->name_text;
    for (dkm_idx c = 0; dkm_ctx_rank(source->ctx) == 0 && file->names && c < file->d; c++) {
        size_t bytes = strlen(file->names[c]) + 1;
        memcpy(at, file->names[c], bytes);
        at += bytes;
    }
    if (facts[HAS_NAMES])
        dkm_mpi_bcast(source->name_text, facts[NAME_BYTES], MPI_CHAR, 0, comm);
    if (facts[HAS_TEXT])
        dkm_mpi_bcast(file->is_text, facts[COLUMNS], MPI_CHAR, 0, comm);
    at = source->name_text;
    for (dkm_idx c = 0; !source->readers.readers && facts[HAS_NAMES] && c < file->d; c++) {
        file->names[c] = at;
        at += strlen(at) + 1;
    }
out:
    return status;
}

static dkm_status share_description(dkm_source *source)
{
    dkm_file *file = &source->file;
    int outputs = file->role == DKM_OUTPUTS;
    dkm_idx facts[FACTS] = {file->m,
                            file->d,
                            (dkm_idx)file->type,
                            0,
                            file->names != NULL,
                            count_name_bytes(file),
                            file->is_text != NULL};

    if (source->readers.group == MPI_COMM_NULL) /* all have read it */
        return DKM_OK;
    if (source->readers.readers)
        facts[SVM_BASE] = dkm_svm_base_of(source->readers.readers, outputs);
    MPI_Bcast(facts, FACTS, MPI_INT64_T, 0, dkm_ctx_comm(source->ctx));
    MPI_Bcast(file->about, (int)sizeof file->about, MPI_CHAR, 0, dkm_ctx_comm(source->ctx));
    file->m = facts[ROWS];
    file->d = facts[COLUMNS];
    file->type = (dkm_type)facts[TYPE];
    dkm_svm_base_decide(source->ctx, outputs, (int)facts[SVM_BASE]);
    return share_columns(source, facts);
}

/* Readers open the file, in a context of their own. Objects that they read are the source's. */
static dkm_status source_open_file(dkm_source *source)
{
    dkm_status status = DKM_OK;
    dkm_file *file = &source->file;

    DKM_TRY(dkm_readers_open(&source->readers, source->ctx, readers_per_node(source), DKM_READERS));
    file->ctx = source->readers.readers;
    if (source->readers.readers)
        status = source->format->open(file);
    file->ctx = source->ctx;
    DKM_TRY(dkm_readers_agree(&source->readers, status));
    DKM_TRY(share_description(source));
out:
    return status;
}

static int has_columns(dkm_type type)
{
    return dkm_type_storage_form(type) == DKM_STORED_VALUES || type == DKM_SPARSE ||
           type == DKM_LABEL_SETS;
}

static dkm_local pick_columns(dkm_source *source)
{
    const dkm_file *file = &source->file;
    dkm_local local = DKM_LOCAL_OK;

    if (source->where.columns)
        return dkm_column_list(file, source->where.name, source->where.columns, &source->picks,
                               &source->pick);
    source->picks = source->d;
    DKM_STEP(dkm_alloc(source->ctx, source->d, &source->pick));
    for (dkm_idx c = 0; c < source->d; c++)
        source->pick[c] = source->cols.first + c;
out:
    return local;
}

/* From what is picked: the range to read, what to pass over in it, and whether to put it in order. */
static dkm_local settle_picks(dkm_source *source)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx first = source->file.d, last = 0;

    DKM_FREE(source->skip);
    DKM_STEP(dkm_alloc(source->ctx, source->file.d, &source->skip));
    memset(source->skip, 1, (size_t)source->file.d);
    source->reorders = 0;
    for (dkm_idx c = 0; c < source->picks; c++) {
        dkm_idx at = source->pick[c];
        first = at < first ? at : first;
        last = at + 1 > last ? at + 1 : last;
        source->reorders |= c > 0 && at != source->pick[c - 1] + 1;
        source->skip[at] = 0;
    }
    source->cols = (dkm_slice){.first = source->picks ? first : 0, .last = last, .step = 1};
    source->d = source->picks;
    source->file.skip = source->reorders ? source->skip : NULL;
out:
    return local;
}

dkm_local dkm_source_list_columns(dkm_source *source)
{
    dkm_local local = DKM_LOCAL_OK;

    if (source->pick)
        return local;
    DKM_STEP(pick_columns(source));
    DKM_STEP(settle_picks(source));
out:
    return local;
}

/* One column of text alone is strings. */
static int is_one_text(const dkm_source *source)
{
    const dkm_file *file = &source->file;

    return source->picks == 1 && file->is_text && file->is_text[source->pick[0]] &&
           (file->type == DKM_LABELS || (file->type == DKM_DENSE && file->role == DKM_OUTPUTS));
}

static dkm_local use_table(dkm_source *source)
{
    const dkm_table *table = dkm_ctx_lent(source->ctx, DKM_LENT_TABLE);
    dkm_local local = DKM_LOCAL_OK;

    if (!table || source->file.role != DKM_INPUTS || source->file.type != DKM_DENSE)
        return local;
    DKM_STEP(dkm_table_match(table, &source->file, source->where.name, source->where.cuts_cols,
                             &source->picks, &source->pick));
    DKM_STEP(settle_picks(source));
    DKM_STEP(dkm_calloc(source->ctx, source->file.d, &source->categories));
    for (dkm_idx c = 0; c < table->count; c++)
        source->categories[source->pick[c]] = table->column[c].categories;
    source->file.categories = source->categories;
    source->file.missing_ok = table->settings.missing != DKM_MISSING_FAIL;
    source->table = table;
    source->d = dkm_table_cols(table);
out:
    return local;
}

/* Whether columns are described one by one. Those of plain arrays are not: their number is what a header
 * says, and lists of them take memory before a value was read. */
static int looks_at_columns(const dkm_source *source)
{
    return source->where.columns || source->file.is_text ||
           (source->file.role == DKM_INPUTS && dkm_ctx_lent(source->ctx, DKM_LENT_TABLE));
}

static dkm_local settle_cols(dkm_source *source)
{
    const dkm_file *file = &source->file;
    dkm_local local = DKM_LOCAL_OK;

    source->cols = (dkm_slice){.last = file->d, .step = 1};
    source->d = file->d;
    if (source->where.columns && dkm_type_storage_form(file->type) != DKM_STORED_VALUES)
        DKM_STEP(dkm_fail(source->ctx, DKM_ERR_ARG,
                          "%s: columns by name or list are for tables; of %s write first:last",
                          source->where.name, dkm_type_name(file->type)));
    if (source->where.cuts_cols && !source->where.columns) {
        if (!has_columns(file->type)) {
            local = dkm_fail(source->ctx, DKM_ERR_ARG, "%s: %s have no columns to choose from",
                             source->where.name, dkm_type_name(file->type));
            goto out;
        }
        DKM_STEP(dkm_locator_resolve(source->ctx, &source->where, &source->where.cols, file->d,
                                     "columns", &source->cols));
        source->d = source->cols.last - source->cols.first;
    }
    if (dkm_type_storage_form(file->type) == DKM_STORED_VALUES && looks_at_columns(source)) {
        DKM_STEP(dkm_source_list_columns(source));
        if (is_one_text(source)) {
            source->file.type = DKM_STRINGS;
            source->d = 0;
            goto out;
        }
        DKM_STEP(use_table(source));
    }
    if (file->type == DKM_LABELS && source->d != 1)
        local = dkm_fail(source->ctx, DKM_ERR_ARG,
                         "%s has %lld columns where labels have one: choose it with a slice such "
                         "as [:, 0:1]",
                         source->where.name, (long long)source->d);
out:
    return local;
}

static dkm_local source_settle(dkm_source *source)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_slice *rows = &source->rows;

    DKM_STEP(dkm_locator_resolve(source->ctx, &source->where, &source->where.rows, source->file.m,
                                 "rows", rows));
    source->m = rows->last > rows->first ? (rows->last - rows->first - 1) / rows->step + 1 : 0;
    DKM_STEP(settle_cols(source));
out:
    return local;
}

dkm_status dkm_source_open(dkm_ctx *ctx, const char *where, dkm_role role, const char *type,
                           dkm_source **source)
{
    dkm_status status = DKM_OK;
    dkm_source *made = NULL;
    int literal = !dkm_path_is_standard(where) && exists_for_all(ctx, where);

    *source = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &made));
    made->ctx = ctx;
    made->file.role = role;
    made->readers.group = MPI_COMM_NULL;
    DKM_AGREE(ctx, dkm_locator_parse(ctx, where, literal, &made->where));
    DKM_TRY(dkm_spool(ctx, made->where.path));
    DKM_AGREE(ctx, source_prepare(made, type));
    DKM_TRY(source_open_file(made));
    DKM_AGREE(ctx, source_settle(made));
    *source = made;
    made = NULL;
out:
    dkm_source_close(&made);
    return status;
}

void dkm_source_accept_missing(dkm_source *source)
{
    source->file.missing_ok = 1;
}

dkm_type dkm_source_type(const dkm_source *source)
{
    return source->file.type;
}

dkm_idx dkm_source_rows(const dkm_source *source)
{
    return source->m;
}

dkm_idx dkm_source_cols(const dkm_source *source)
{
    return source->d;
}

const char *dkm_source_describe(const dkm_source *source)
{
    return source->file.about;
}

dkm_source *dkm_source_share(dkm_source *source)
{
    source->shares++;
    return source;
}

void dkm_source_close(dkm_source **source)
{
    if (*source && (*source)->shares-- > 0)
        *source = NULL;
    if (!*source)
        return;
    if ((*source)->format)
        (*source)->format->close(&(*source)->file);
    if (!(*source)->readers.readers) { /* the format's own where it was opened */
        DKM_FREE((*source)->file.names);
        DKM_FREE((*source)->file.is_text);
    }
    dkm_readers_close(&(*source)->readers);
    DKM_FREE((*source)->name_text);
    dkm_locator_clear(&(*source)->where);
    DKM_FREE((*source)->categories);
    DKM_FREE((*source)->skip);
    DKM_FREE((*source)->pick);
    DKM_FREE(*source);
}

dkm_status dkm_data_read(dkm_ctx *ctx, const char *where, dkm_role role, const char *type,
                         dkm_data **data)
{
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;

    *data = NULL;
    DKM_TRY(dkm_source_open(ctx, where, role, type, &source));
    DKM_TRY(dkm_source_read(source, 0, source->m, data));
out:
    dkm_source_close(&source);
    return status;
}
