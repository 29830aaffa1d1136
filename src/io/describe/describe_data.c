#include "io/describe/describe.h"

#include <math.h>

#include "data/objects.h"

#define CELLS_READ  50000000  /* of a larger file only what opening it finds is reported */
#define BATCH_CELLS (1 << 20) /* numbers, or objects of varying length, a rank reads at once */

/* Least, greatest and sum of some numbers. */
typedef struct spread {
    double min, max, sum, count;
} spread;

typedef struct summary {
    spread numbers; /* values, or the entries of lists */
    spread lengths; /* of lists or strings */
} summary;

static void describe_data_add(spread *s, double value)
{
    s->min = value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
    s->sum += value;
    s->count += 1;
}

static void add_objects(summary *s, const dkm_objs *objs)
{
    dkm_idx items = objs->start ? objs->start[objs->n] : 0;

    for (dkm_idx k = 0; objs->values && k < objs->n * objs->d; k++)
        describe_data_add(&s->numbers, objs->values[k]);
    for (dkm_idx k = 0; objs->val && k < items; k++)
        describe_data_add(&s->numbers, objs->val[k]);
    for (dkm_idx i = 0; objs->start && i < objs->n; i++)
        describe_data_add(&s->lengths, (double)(objs->start[i + 1] - objs->start[i]));
}

static void describe_data_merge(spread *s, MPI_Comm comm)
{
    MPI_Allreduce(MPI_IN_PLACE, &s->min, 1, MPI_DOUBLE, MPI_MIN, comm);
    MPI_Allreduce(MPI_IN_PLACE, &s->max, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, &s->sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &s->count, 1, MPI_DOUBLE, MPI_SUM, comm);
}

static dkm_idx cells_a_row(const dkm_source *source)
{
    int dense = dkm_type_storage_form(dkm_source_type(source)) == DKM_STORED_VALUES;

    return dense && dkm_source_cols(source) > 0 ? dkm_source_cols(source) : 1;
}

/* Collective. */
static dkm_status describe_data_summarise(dkm_ctx *ctx, dkm_source *source, summary *s)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_source_rows(source), batch = BATCH_CELLS / cells_a_row(source) + 1;
    dkm_data *data = NULL;

    *s = (summary){{INFINITY, -INFINITY, 0, 0}, {INFINITY, -INFINITY, 0, 0}};
    batch *= dkm_ctx_size(ctx);
    for (dkm_idx first = 0; first < m; first += batch) {
        DKM_TRY(dkm_source_read(source, first, first + batch < m ? batch : m - first, &data));
        add_objects(s, &data->mine);
        dkm_data_destroy(&data);
    }
    describe_data_merge(&s->numbers, dkm_ctx_comm(ctx));
    describe_data_merge(&s->lengths, dkm_ctx_comm(ctx));
out:
    return status;
}

static void tell_spread(const dkm_describe_writer *t, const char *what, const spread *s)
{
    if (s->count > 0)
        dkm_describe_line(t, "  %-8s from %.6g to %.6g, mean %.6g", what, s->min, s->max,
                          s->sum / s->count);
}

static void tell_shape(const dkm_describe_writer *t, const dkm_source *source)
{
    dkm_type type = dkm_source_type(source);
    long long m = (long long)dkm_source_rows(source), d = (long long)dkm_source_cols(source);

    dkm_describe_line(t, "  format   %s", dkm_source_describe(source));
    if (dkm_type_storage_form(type) == DKM_STORED_BYTES)
        dkm_describe_line(t, "  holds    %s, %lld of them", dkm_type_name(type), m);
    else
        dkm_describe_line(t, "  holds    %s, %lld x %lld", dkm_type_name(type), m, d);
}

/* Collective. */
static dkm_status describe_source(const dkm_describe_writer *t, dkm_source *source)
{
    dkm_status status = DKM_OK;
    summary s;

    tell_shape(t, source);
    if (dkm_source_rows(source) > CELLS_READ / cells_a_row(source)) {
        dkm_describe_line(t, "  values   too many to read for a summary");
        goto out;
    }
    DKM_TRY(describe_data_summarise(t->ctx, source, &s));
    tell_spread(t, "values", &s.numbers);
    tell_spread(t, "lengths", &s.lengths);
out:
    return status;
}

dkm_status dkm_describe_data(const dkm_describe_writer *writer, const char *where, const char *type)
{
    dkm_status status = DKM_OK;
    dkm_source *inputs = NULL, *outputs = NULL;

    DKM_TRY(dkm_source_open(writer->ctx, where, DKM_INPUTS, type, &inputs));
    dkm_describe_line(writer, "%s: a data file", where);
    DKM_TRY(describe_source(writer, inputs));
    DKM_TRY(dkm_source_open(writer->ctx, where, DKM_OUTPUTS, type, &outputs));
    if (dkm_source_type(outputs) != dkm_source_type(inputs)) {
        dkm_describe_line(writer, "as outputs:");
        DKM_TRY(describe_source(writer, outputs));
    }
out:
    dkm_source_close(&outputs);
    dkm_source_close(&inputs);
    return status;
}
