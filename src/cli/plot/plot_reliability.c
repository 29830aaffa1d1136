/* Reliability diagrams: DeGroot and Fienberg, The comparison and evaluation of forecasters, 1983. */
#include "cli/plot/plot_reliability.h"

#include <math.h>

#include <dkmap/score.h>

static void add_up(const dkm_data *data, reliability *out)
{
    MPI_Comm comm = dkm_ctx_comm(dkm_data_ctx(data));

    MPI_Allreduce(MPI_IN_PLACE, out->count, RELIABILITY_LEVELS, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, out->promise, RELIABILITY_LEVELS, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, out->true_count, RELIABILITY_LEVELS, MPI_DOUBLE, MPI_SUM, comm);
    out->rows = (double)dkm_data_rows(data);
}

/* The column that stands for a class; -1 where none does. */
static dkm_idx column_of(double label, dkm_idx count, const dkm_idx *labels, dkm_idx columns)
{
    dkm_idx classes = columns > 1 ? columns : 2;

    if (count > 0 && labels[0] >= 0 && labels[count - 1] < classes)
        return (dkm_idx)label;
    for (dkm_idx k = 0; count == classes && k < count; k++)
        if ((double)labels[k] == label)
            return k;
    return -1;
}

static dkm_local check_row(run *r, const double *p, dkm_idx d, dkm_idx row)
{
    double sum = 0, least = 0, most = 1;

    for (dkm_idx j = 0; j < d; j++) {
        sum += p[j];
        least = p[j] < least ? p[j] : least;
        most = p[j] > most ? p[j] : most;
    }
    if (least >= -1e-9 && most <= 1 + 1e-9 && (d == 1 || fabs(sum - 1) < 1e-3))
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_ARG,
                    "--plot: row %lld of the predictions holds no probabilities, which would be "
                    "from 0 to 1 and sum to 1: predict --proba writes such",
                    (long long)row);
}

/* Of one or two columns, the probability of the greater class and whether it is true; of more, that
 * of the likeliest class. */
static void add_row(reliability *out, const double *p, dkm_idx d, dkm_idx truth)
{
    dkm_idx likeliest = 0;
    double promise;
    int bin, true_count;

    for (dkm_idx j = 1; j < d; j++)
        likeliest = p[j] > p[likeliest] ? j : likeliest;
    promise = d == 1 ? p[0] : d == 2 ? p[1] : p[likeliest];
    true_count = truth == (d <= 2 ? 1 : likeliest);
    bin = (int)(promise * RELIABILITY_BINS);
    bin = bin < RELIABILITY_BINS ? bin : RELIABILITY_BINS - 1;
    out->count[bin]++;
    out->promise[bin] += promise;
    out->true_count[bin] += true_count;
}

static dkm_local add_rows(run *r, const dkm_data *truth, const dkm_data *pred, dkm_idx count,
                          const dkm_idx *labels, reliability *out)
{
    dkm_idx d = dkm_data_cols(pred);
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < dkm_data_local_rows(pred); i++) {
        const double *p = dkm_data_values_const(pred) + i * d;
        double label = dkm_data_values_const(truth)[i];
        dkm_idx column = column_of(label, count, labels, d);
        DKM_STEP(check_row(r, p, d, dkm_data_local_first(pred) + i));
        if (column < 0)
            DKM_STEP(dkm_fail(r->ctx, DKM_ERR_ARG,
                              "--plot: %lld classes, and probabilities of %lld: which column "
                              "belongs to class %g?",
                              (long long)count, (long long)d, label));
        add_row(out, p, d, column);
    }
out:
    return local;
}

dkm_status reliability_of_classes(run *r, const dkm_data *truth, const dkm_data *pred,
                                  reliability *out)
{
    dkm_status status = DKM_OK;
    dkm_idx count = 0, *labels = NULL;

    *out = (reliability){.two_classes = dkm_data_cols(pred) <= 2};
    DKM_REQUIRE(r->ctx, dkm_data_cols(truth) == 1 && dkm_data_rows(truth) == dkm_data_rows(pred),
                DKM_ERR_UNSUPPORTED,
                "--plot draws probabilities of classes, one class a row, not of label sets");
    DKM_TRY(dkm_score_distinct_labels(truth, &count, &labels));
    DKM_REQUIRE(r->ctx, count > 0, DKM_ERR_UNSUPPORTED,
                "--plot draws probabilities of classes, and the truth is none");
    DKM_AGREE(r->ctx, add_rows(r, truth, pred, count, labels, out));
    add_up(truth, out);
out:
    dkm_score_labels_free(&labels);
    return status;
}

/* y is inside the central interval of probability q where erf(|y - mean| / (sqrt(2) sd)) <= q. */
void reliability_of_normals(const dkm_data *truth, const dkm_data *pred, reliability *out)
{
    dkm_idx d = dkm_data_cols(truth);

    *out = (reliability){0};
    for (dkm_idx k = 0; k < dkm_data_local_rows(truth) * d; k++) {
        const double *row = dkm_data_values_const(pred) + k / d * 2 * d;
        double away = fabs(dkm_data_values_const(truth)[k] - row[k % d]);
        double needed = erf(away / (sqrt(2) * row[d + k % d]));
        for (int b = 0; b < RELIABILITY_LEVELS; b++)
            out->count[b] += needed <= (b + 0.5) / RELIABILITY_LEVELS;
    }
    add_up(truth, out);
    for (int b = 0; b < RELIABILITY_LEVELS; b++) {
        out->promise[b] = (b + 0.5) / RELIABILITY_LEVELS;
        out->true_count[b] = out->count[b] / (out->rows * (double)d);
    }
}

void reliability_draw_intervals(FILE *script, const reliability *curve)
{
    fputs("$inside << EOD\n0 0\n", script);
    for (int b = 0; b < RELIABILITY_LEVELS; b++)
        fprintf(script, "%.6g %.6g\n", curve->promise[b], curve->true_count[b]);
    fprintf(script,
            "1 1\nEOD\nset xlabel 'probability of the interval'\nset ylabel 'share of the truth "
            "inside'\nset title 'Intervals'\nset xrange [0:1]\nset yrange [0:1]\n"
            "plot [0:1] x with lines lw 1.2 lc rgb '#888888', $inside using 1:2 with linespoints "
            "pt 7 ps 0.6 lw 1.8 lc rgb '%s'\n",
            gnuplot_colour(1));
}

/* Standard errors are Agresti and Coull's, which are not 0 where all or none came true. */
static double put_bins(FILE *script, const reliability *curve)
{
    double error = 0;

    fputs("$bins << EOD\n", script);
    for (int b = 0; b < RELIABILITY_BINS; b++) {
        double n = curve->count[b], p = (curve->true_count[b] + 2) / (n + 4);
        if (n > 0)
            fprintf(script, "%.6g %.6g %.6g\n", curve->promise[b] / n, curve->true_count[b] / n,
                    sqrt(p * (1 - p) / (n + 4)));
        error += fabs(curve->promise[b] - curve->true_count[b]) / curve->rows;
    }
    fputs("EOD\n$counts << EOD\n", script);
    for (int b = 0; b < RELIABILITY_BINS; b++)
        fprintf(script, "%.6g %.17g\n", (b + 0.5) / RELIABILITY_BINS, curve->count[b]);
    fputs("EOD\n", script);
    return error;
}

/* Between marks of the histogram: the greatest of 1, 2 and 5 times a power of ten that is not above
 * the fullest bin. */
static double round_step(const reliability *curve)
{
    double most = 1, step = 1;

    for (int b = 0; b < RELIABILITY_BINS; b++)
        most = curve->count[b] > most ? curve->count[b] : most;
    while (10 * step <= most)
        step *= 10;
    return 5 * step <= most ? 5 * step : 2 * step <= most ? 2 * step : step;
}

static int draw_reliability(FILE *script, const void *what)
{
    const reliability *curve = what;
    double error = put_bins(script, curve);

    fprintf(script,
            "set multiplot\nset lmargin 10\nset rmargin 3\nset xrange [0:1]\n"
            "set title 'expected calibration error %.4f'\n"
            "set bmargin at screen 0.32\nset tmargin at screen 0.92\nset yrange [0:1]\n"
            "set format x ''\nset ylabel 'share that came true'\n"
            "plot x with lines lw 1.2 lc rgb '#888888', $bins using 1:2:3 with yerrorlines pt 7 "
            "ps 0.9 lw 1.8 lc rgb '%s'\n"
            "unset title\nset bmargin at screen 0.13\nset tmargin at screen 0.27\n"
            "set yrange [0:*]\nset ytics 0,%.3g\nset format x '%%g'\nset ylabel 'rows'\n"
            "set xlabel 'predicted probability of the %s class'\nset boxwidth 0.09\n"
            "plot $counts using 1:2 with boxes fs solid 0.6 noborder lc rgb '%s'\n"
            "unset multiplot\n",
            error, gnuplot_colour(0), round_step(curve),
            curve->two_classes ? "greater" : "likeliest", gnuplot_colour(0));
    return 0;
}

drawing reliability_drawing(const reliability *curve)
{
    return (drawing){.draw = draw_reliability, .what = curve, .width = 640, .height = 640};
}
