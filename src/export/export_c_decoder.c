/* Objects from coordinates, as C: y = mean + z U of the linear kernel; the nearest of candidates; or
 * the fixed-point iteration for rbf of preimage_fixed_point.c (Mika and others 1999), step by step
 * what descent_step.c does for one point. */
#include "export/export_c.h"

static void put_linear(const dkm_export_plan *plan, const char *prefix, dkm_export_file *file)
{
    dkm_export_text(file,
                    "void %s_decode(const double *z, double *y)\n{\n"
                    "    for (int j = 0; j < %lld; j++) {\n"
                    "        double sum = 0;\n\n"
                    "        for (int k = 0; k < %lld; k++)\n"
                    "            sum += z[k] * decoder_map[k][j];\n"
                    "        y[j] = sum + decoder_mean[j];\n"
                    "    }\n}\n\n",
                    prefix, (long long)plan->decoder.cols, (long long)plan->outputs);
}

/* The first of the candidates nearest to z, after those that come before it in order. */
static void put_nearest(const dkm_export_plan *plan, dkm_export_file *file)
{
    dkm_export_text(file,
                    "/* ||phi(c) - Psi||^2 of candidate c, less what all have in common */\n"
                    "static double apart(const double *z, int c)\n{\n"
                    "    double sum = 0;\n\n"
                    "    for (int k = 0; k < %lld; k++)\n"
                    "        sum += z[k] * candidates[c][k];\n"
                    "    return candidate_norms[c][0] - 2 * sum;\n}\n\n",
                    (long long)plan->outputs);
    dkm_export_text(file,
                    "/* the `most` nearest candidates; ties go to the first */\n"
                    "static void nearest(const double *z, int most, int *index)\n{\n"
                    "    double distance[8];\n\n"
                    "    for (int k = 0; k < most; k++) {\n"
                    "        distance[k] = HUGE_VAL;\n"
                    "        index[k] = 0;\n"
                    "    }\n"
                    "    for (int c = 0; c < %lld; c++) {\n"
                    "        double d = apart(z, c);\n"
                    "        int at = most;\n\n"
                    "        for (; at > 0 && d < distance[at - 1]; at--)\n"
                    "            if (at < most) {\n"
                    "                distance[at] = distance[at - 1];\n"
                    "                index[at] = index[at - 1];\n"
                    "            }\n"
                    "        if (at < most) {\n"
                    "            distance[at] = d;\n"
                    "            index[at] = c;\n"
                    "        }\n"
                    "    }\n}\n\n",
                    (long long)dkm_data_rows(plan->decoder.objects));
}

static void put_candidates(const dkm_export_plan *plan, const char *prefix, dkm_export_file *file)
{
    dkm_export_text(file,
                    "void %s_decode(const double *z, double *y)\n{\n"
                    "    int best;\n\n"
                    "    nearest(z, 1, &best);\n"
                    "    for (int j = 0; j < %lld; j++)\n"
                    "        y[j] = objects[best][j];\n}\n\n",
                    prefix, (long long)plan->decoder.cols);
}

/* <Psi, phi(t)> and the point that a step leads to. */
static void put_pull(const dkm_export_plan *plan, dkm_export_file *file)
{
    dkm_export_text(file,
                    "/* <Psi, phi(t)>, and where the fixed-point step leads from t */\n"
                    "static double pull(const double *a, const double *t, double *to)\n{\n"
                    "    double inner = 0;\n\n"
                    "    for (int j = 0; j < %lld; j++)\n"
                    "        to[j] = 0;\n"
                    "    for (int i = 0; i < %lld; i++) {\n"
                    "        double s = 0, weight;\n\n"
                    "        for (int j = 0; j < %lld; j++)\n"
                    "            s += (t[j] - objects[i][j]) * (t[j] - objects[i][j]);\n"
                    "        weight = a[i] * exp(-%.17g * s);\n"
                    "        inner += weight;\n"
                    "        for (int j = 0; j < %lld; j++)\n"
                    "            to[j] += weight * objects[i][j];\n"
                    "    }\n"
                    "    for (int j = 0; j < %lld; j++)\n"
                    "        to[j] /= inner;\n"
                    "    return inner;\n}\n\n",
                    (long long)plan->decoder.cols, (long long)dkm_data_rows(plan->decoder.objects),
                    (long long)plan->decoder.cols, plan->decoder.rate,
                    (long long)plan->decoder.cols, (long long)plan->decoder.cols);
}

/* One start: 1 when it led somewhere. */
static void put_walk(const dkm_export_plan *plan, dkm_export_file *file)
{
    long long d = (long long)plan->decoder.cols;

    dkm_export_text(file,
                    "/* iterate from y; 1 when there is no way from there */\n"
                    "static int walk(const double *a, double *y, int *iterations)\n{\n"
                    "    double to[%lld], trial[%lld], next[%lld], step = 1, value = 0, length;\n"
                    "    int fresh = 1;\n\n"
                    "    for (int j = 0; j < %lld; j++)\n"
                    "        trial[j] = y[j];\n"
                    "    for (; *iterations > 0; (*iterations)--) {\n"
                    "        double inner = pull(a, trial, next), here = 1 - 2 * inner;\n\n",
                    d, d, d, d);
    dkm_export_text(file,
                    "        if (fresh || here <= value + 1e-14 * (1 + 2 * fabs(inner))) {\n"
                    "            for (int j = 0; j < %lld; j++)\n"
                    "                y[j] = trial[j];\n"
                    "            if (!(inner > 1e-10))\n"
                    "                return 1;\n"
                    "            for (int j = 0; j < %lld; j++)\n"
                    "                to[j] = next[j] - y[j];\n"
                    "            value = here;\n"
                    "            step = 1;\n"
                    "            fresh = 0;\n"
                    "        } else {\n"
                    "            step *= 0.5;\n"
                    "        }\n"
                    "        length = 0;\n"
                    "        for (int j = 0; j < %lld; j++) {\n"
                    "            trial[j] = y[j] + step * to[j];\n"
                    "            length += to[j] * to[j];\n"
                    "        }\n"
                    "        if (!(step * sqrt(length) > %.17g))\n"
                    "            return 0;\n"
                    "    }\n"
                    "    return 0;\n}\n\n",
                    d, d, d, 1e-8 * plan->decoder.size);
}

static void put_fixed_point(const dkm_export_plan *plan, const char *prefix, dkm_export_file *file)
{
    long long d = (long long)plan->decoder.cols,
              m = (long long)dkm_data_rows(plan->decoder.objects);
    int starts = m < 5 ? (int)m : 5;

    put_pull(plan, file);
    put_walk(plan, file);
    dkm_export_text(file,
                    "void %s_decode(const double *z, double *y)\n{\n"
                    "    double a[%lld];\n"
                    "    int start[%d], iterations = 2000, lost = 1;\n\n"
                    "    for (int i = 0; i < %lld; i++) {\n"
                    "        a[i] = centers[i][0];\n"
                    "        for (int k = 0; k < %lld; k++)\n"
                    "            a[i] += weights[i][k] * z[k];\n"
                    "    }\n"
                    "    nearest(z, %d, start);\n",
                    prefix, m, starts, m, (long long)plan->outputs, starts);
    dkm_export_text(file,
                    "    for (int k = 0; lost && k <= %d; k++) {\n"
                    "        for (int j = 0; j < %lld; j++)\n"
                    "            y[j] = objects[start[k %% %d]][j];\n"
                    "        lost = k < %d && walk(a, y, &iterations);\n"
                    "    }\n}\n\n",
                    starts, d, starts, starts);
}

dkm_status dkm_export_c_decoder(const dkm_export_plan *plan, const char *prefix,
                                dkm_export_file *file)
{
    dkm_status status = DKM_OK;
    const dkm_export_decoder *d = &plan->decoder;

    if (d->method == DKM_PREIMAGE_LINEAR) {
        DKM_TRY(dkm_export_c_rows(file, "decoder_map", d->map));
        dkm_export_c_array(file, "decoder_mean", d->cols, d->mean);
        put_linear(plan, prefix, file);
        goto out;
    }
    if (d->method == DKM_PREIMAGE_FIXED_POINT && d->objects == plan->X) {
        dkm_export_text(file, "#define objects inputs\n\n");
    } else {
        DKM_TRY(dkm_export_c_rows(file, "objects", d->objects));
    }
    DKM_TRY(dkm_export_c_rows(file, "candidates", d->Z));
    DKM_TRY(dkm_export_c_rows(file, "candidate_norms", d->norms));
    put_nearest(plan, file);
    if (d->method == DKM_PREIMAGE_FIXED_POINT) {
        DKM_TRY(dkm_export_c_rows(file, "weights", d->weights));
        DKM_TRY(dkm_export_c_rows(file, "centers", d->center));
        put_fixed_point(plan, prefix, file);
    } else {
        put_candidates(plan, prefix, file);
    }
out:
    return status;
}
