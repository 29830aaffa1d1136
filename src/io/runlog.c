/* A record is a JSON object that grows on rank 0 alone; the other ranks hold only what the
 * collectives need. A field that could not be stored is counted, and reported when the record is
 * appended. The line goes out in one write() on a descriptor opened with O_APPEND, so that the
 * lines of jobs which share a file do not mix. */
#include <dkmap/runlog.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "core/simd.h"
#include "io/archive/timestamp.h"
#include "io/path.h"

#define PHASE_CAPACITY 64
#define NAME_LENGTH    64
#define DUMP_FLAGS     (JSON_COMPACT | JSON_REAL_PRECISION(15))
#define PRINT_FLAGS    (JSON_COMPACT | JSON_REAL_PRECISION(17)) /* reads back as the same number */

struct dkm_runlog {
    dkm_ctx *ctx;
    json_t *root;  /* NULL on ranks other than 0 */
    json_t *notes; /* the names of remarks */
    double begun;
    int lost; /* fields that could not be stored */
};

/* Bytes that are not UTF-8 cannot stand in JSON: they become question marks. */
static json_t *text_value(dkm_ctx *ctx, const char *text)
{
    json_t *value = json_string(text);
    char *plain = NULL;

    if (value || dkm_strdup(ctx, text, &plain).code != DKM_OK)
        return value;
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(plain);
    DKM_FREE(plain);
    return value;
}

/* JSON has no NaN and no infinity. */
static json_t *real_value(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* The object called @p name inside @p parent, made when there is none. */
static json_t *object_in(json_t *parent, const char *name)
{
    json_t *child = json_object_get(parent, name);

    if (json_is_object(child))
        return child;
    return json_object_set_new(parent, name, json_object()) == 0 ? json_object_get(parent, name)
                                                                 : NULL;
}

static int is_index(const char *step)
{
    return *step >= '0' && *step <= '9' && step[strspn(step, "0123456789")] == '.';
}

/* The list called @p name inside @p parent, made when there is none. */
static json_t *list_in(json_t *parent, const char *name)
{
    json_t *child = json_object_get(parent, name);

    if (json_is_array(child))
        return child;
    return json_object_set_new(parent, name, json_array()) == 0 ? json_object_get(parent, name)
                                                                : NULL;
}

/* The object at a place of a list, which is at most one past its end. */
static json_t *entry_in(json_t *list, const char *step)
{
    size_t index = strtoul(step, NULL, 10);

    if (index == json_array_size(list) && json_array_append_new(list, json_object()) != 0)
        return NULL;
    return json_array_get(list, index);
}

/* Put @p value, which is taken over, at a dotted name under @p at. */
static void runlog_put(dkm_runlog *record, json_t *at, const char *name, json_t *value)
{
    const char *dot;

    while (at && (dot = strchr(name, '.'))) {
        char step[NAME_LENGTH];
        snprintf(step, sizeof step, "%.*s", (int)(dot - name), name);
        at = json_is_array(at)   ? entry_in(at, step)
             : is_index(dot + 1) ? list_in(at, step)
                                 : object_in(at, step);
        name = dot + 1;
    }
    if (!at)
        json_decref(value);
    if (!at || json_object_set_new(at, name, value) != 0)
        record->lost++;
}

void dkm_runlog_text(dkm_runlog *record, const char *name, const char *value)
{
    if (record->root)
        runlog_put(record, record->root, name, text_value(record->ctx, value));
}

void dkm_runlog_real(dkm_runlog *record, const char *name, double value)
{
    if (record->root)
        runlog_put(record, record->root, name, real_value(value));
}

void dkm_runlog_int(dkm_runlog *record, const char *name, int64_t value)
{
    if (record->root)
        runlog_put(record, record->root, name, json_integer(value));
}

void dkm_runlog_reals(dkm_runlog *record, const char *name, dkm_idx count, const double *values)
{
    json_t *list = record->root ? json_array() : NULL;

    if (!record->root)
        return;
    for (dkm_idx k = 0; k < count; k++)
        if (json_array_append_new(list, real_value(values[k])) != 0)
            record->lost++;
    runlog_put(record, record->root, name, list);
}

/* Put @p value, which is taken over, where no field has the name; behind other remarks of it. */
static void runlog_note(dkm_runlog *record, const char *name, json_t *value)
{
    const char *dot = strchr(name, '.'), *last = dot ? dot + 1 : name;
    char group[NAME_LENGTH];
    json_t *at = record->root, *there, *list;

    snprintf(group, sizeof group, "%.*s", dot ? (int)(dot - name) : 0, name);
    if (dot)
        at = object_in(at, group);
    there = json_object_get(at, last);
    if (there && !json_object_get(record->notes, name)) {
        json_decref(value);
        return;
    }
    if (there && !json_is_array(there)) {
        list = json_array();
        json_array_append(list, there);
        json_object_set_new(at, last, list);
        there = list;
    }
    if (there ? json_array_append_new(there, value) != 0
              : json_object_set_new(at, last, value) != 0 ||
                    json_object_set_new(record->notes, name, json_true()) != 0)
        record->lost++;
}

void dkm_runlog_note(dkm_runlog *record, const char *name, const char *text)
{
    if (record->root)
        runlog_note(record, name, text_value(record->ctx, text));
}

void dkm_runlog_note_real(dkm_runlog *record, const char *name, double value)
{
    int integer = value == floor(value) && fabs(value) < 1e15;

    if (record->root)
        runlog_note(record, name, integer ? json_integer((json_int_t)value) : real_value(value));
}

static int count_nodes(dkm_ctx *ctx)
{
    MPI_Comm node;
    int place = 0, first, nodes = 1;

    dkm_mpi_split_node(ctx, &node);
    if (node != MPI_COMM_NULL) {
        MPI_Comm_rank(node, &place);
        MPI_Comm_free(&node);
    }
    first = place == 0;
    MPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, dkm_ctx_comm(ctx));
    return nodes;
}

static dkm_local start_record(dkm_ctx *ctx, dkm_runlog **record)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(ctx, 1, record));
    (*record)->ctx = ctx;
    (*record)->begun = MPI_Wtime();
    if (dkm_ctx_rank(ctx) == 0) {
        (*record)->root = json_object();
        (*record)->notes = json_object();
        if (!(*record)->root || !(*record)->notes)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_MEMORY, "cannot allocate a run record"));
    }
out:
    return local;
}

static void put_basics(dkm_runlog *r, const char *command, int nodes)
{
    char stamp[DKM_TIMESTAMP_LENGTH], host[MPI_MAX_PROCESSOR_NAME];
    int length = 0;

    dkm_timestamp_now(stamp);
    if (MPI_Get_processor_name(host, &length) != MPI_SUCCESS)
        host[0] = '\0';
    dkm_runlog_text(r, "program", "dkmap");
    dkm_runlog_text(r, "version", DKMAP_VERSION);
    dkm_runlog_text(r, "date", stamp);
    dkm_runlog_text(r, "command", command);
    dkm_runlog_text(r, "host", host);
    dkm_runlog_int(r, "nodes", nodes);
    dkm_runlog_int(r, "ranks", dkm_ctx_size(r->ctx));
    dkm_runlog_int(r, "threads", dkm_ctx_threads(r->ctx));
    dkm_runlog_text(r, "simd", dkm_simd_name(dkm_simd_current()));
}

dkm_status dkm_runlog_create(dkm_ctx *ctx, const char *command, dkm_runlog **record)
{
    dkm_status status = DKM_OK;
    dkm_runlog *r = NULL;

    *record = NULL;
    DKM_AGREE(ctx, start_record(ctx, &r));
    put_basics(r, command, count_nodes(ctx));
    *record = r;
    r = NULL;
out:
    dkm_runlog_destroy(&r);
    return status;
}

static void put_spread(dkm_runlog *r, json_t *at, const char *name, const double spread[3])
{
    static const char *const ends[] = {"min", "mean", "max"};
    json_t *box = at ? object_in(at, name) : NULL;

    for (int k = 0; k < 3; k++)
        runlog_put(r, box, ends[k], real_value(spread[k]));
}

/* What was communicated in a phase, where it was counted: least, mean and most of a rank. */
static void put_comm(dkm_runlog *r, json_t *phase_box, const dkm_phase_summary *s)
{
    const dkm_comm_counts *min = &s->comm_min, *mean = &s->comm_mean, *max = &s->comm_max;
    json_t *box = phase_box ? object_in(phase_box, "mpi") : NULL;

    runlog_put(r, phase_box, "communication", json_real(mean->seconds));
    if (!box)
        return;
    put_spread(r, box, "seconds", (double[]){min->seconds, mean->seconds, max->seconds});
    put_spread(r, box, "bytes", (double[]){min->bytes, mean->bytes, max->bytes});
    runlog_put(r, box, "outermost_bytes", json_real(s->outermost_bytes));
    put_spread(r, box, "messages", (double[]){min->messages, mean->messages, max->messages});
    put_spread(r, box, "collectives",
               (double[]){min->collectives, mean->collectives, max->collectives});
}

static void put_phase(dkm_runlog *r, const dkm_phase_summary *s)
{
    json_t *phases = object_in(r->root, "phases");
    json_t *box = phases ? object_in(phases, s->name) : NULL;

    runlog_put(r, box, "calls", json_integer(s->calls));
    put_spread(r, box, "seconds", (double[]){s->min, s->mean, s->max});
    if (dkm_ctx_comm_reader(r->ctx))
        put_comm(r, box, s);
    if (s->flops > 0) {
        runlog_put(r, box, "flops", json_real(s->flops));
        runlog_put(r, box, "flop_rate", real_value(s->flops / s->max));
    }
}

/* min, mean and max over the ranks. Collective. */
static void put_bytes(dkm_runlog *r, const char *name, int64_t bytes)
{
    MPI_Comm comm = dkm_ctx_comm(r->ctx);
    double mine = (double)bytes, spread[3];

    MPI_Allreduce(&mine, &spread[0], 1, MPI_DOUBLE, MPI_MIN, comm);
    MPI_Allreduce(&mine, &spread[1], 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(&mine, &spread[2], 1, MPI_DOUBLE, MPI_MAX, comm);
    spread[1] /= dkm_ctx_size(r->ctx);
    if (r->root)
        put_spread(r, r->root, name, spread);
}

/* Collective. */
static void put_measures(dkm_runlog *r)
{
    dkm_phase_summary phases[PHASE_CAPACITY];
    int count = dkm_phase_summaries(r->ctx, PHASE_CAPACITY, phases);

    for (int k = 0; r->root && k < count; k++)
        put_phase(r, &phases[k]);
    put_bytes(r, "peak_resident_bytes", dkm_peak_resident());
    put_bytes(r, "peak_private_bytes", dkm_peak_private());
    put_bytes(r, "peak_proportional_bytes", dkm_peak_proportional());
    put_bytes(r, "peak_allocated_bytes", dkm_ctx_peak_bytes(r->ctx));
    if (r->root && !json_object_get(r->root, "seconds"))
        dkm_runlog_real(r, "seconds", MPI_Wtime() - r->begun);
}

/* Whether a line cut short by a full disk or a crash stands at the end of the file. */
static int ends_torn(int fd)
{
    off_t end = lseek(fd, 0, SEEK_END);
    char last = '\n';

    return end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n';
}

static dkm_local append_line(dkm_ctx *ctx, const char *path, const char *line, size_t length)
{
    int fd = dkm_path_open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    ssize_t put_out;
    int error = errno;

    if (fd < 0)
        return dkm_fail(ctx, DKM_ERR_IO, "%s: cannot append the run record: %s", path,
                        strerror(error));
    if (!ends_torn(fd)) {
        line++;
        length--;
    }
    put_out = write(fd, line, length);
    error = put_out < 0 ? errno : ENOSPC;
    if (close(fd) != 0 && put_out == (ssize_t)length) {
        error = errno;
        put_out = -1;
    }
    if (put_out != (ssize_t)length)
        return dkm_fail(ctx, DKM_ERR_IO, "%s: cannot append the run record: %s", path,
                        strerror(error));
    return DKM_LOCAL_OK;
}

/* The record as a line with a newline at both ends. */
static dkm_local dump_record(dkm_runlog *r, size_t flags, char **line, size_t *length)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t bytes;

    if (r->lost > 0)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "%d fields of the run record could not be stored",
                        r->lost);
    bytes = json_dumpb(r->root, NULL, 0, flags);
    DKM_STEP(dkm_alloc(r->ctx, (dkm_idx)bytes + 2, line));
    (*line)[0] = '\n';
    if (bytes == 0 || json_dumpb(r->root, *line + 1, bytes, flags) != bytes)
        DKM_STEP(dkm_fail(r->ctx, DKM_ERR_INTERNAL, "the run record cannot be written as JSON"));
    (*line)[bytes + 1] = '\n';
    *length = bytes + 2;
out:
    return local;
}

/* The first newline is for a file that ends torn. */
static dkm_local write_record(dkm_runlog *r, const char *path)
{
    dkm_local local = DKM_LOCAL_OK;
    char *line = NULL;
    size_t length;

    if (!r->root)
        return local;
    DKM_STEP(dump_record(r, DUMP_FLAGS, &line, &length));
    DKM_STEP(append_line(r->ctx, path, line, length));
out:
    DKM_FREE(line);
    return local;
}

static dkm_local copy_record(dkm_runlog *r, char **line)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t length;

    if (!r->root)
        return local;
    DKM_STEP(dump_record(r, PRINT_FLAGS, line, &length));
    memmove(*line, *line + 1, length - 2);
    (*line)[length - 2] = '\0';
out:
    return local;
}

dkm_status dkm_runlog_line(dkm_runlog *record, char **line)
{
    *line = NULL;
    put_measures(record);
    return dkm_agree(record->ctx, copy_record(record, line));
}

void dkm_runlog_line_free(char **line)
{
    DKM_FREE(*line);
}

dkm_status dkm_runlog_append(dkm_runlog *record, const char *path)
{
    put_measures(record);
    return dkm_agree(record->ctx, write_record(record, path));
}

void dkm_runlog_destroy(dkm_runlog **record)
{
    if (!*record)
        return;
    json_decref((*record)->root);
    json_decref((*record)->notes);
    DKM_FREE(*record);
}
