#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/data.h>
#include <dkmap/random.h>

#include "cli/bench/bench.h"
#include "cli/commands/commands.h"

enum { STREAM_LENGTHS = 104, STREAM_LETTERS = 105 };

static const double SAMPLE_CELLS = 3e7; /* of tables worked out by definition, a rank */
static const char alphabet[] = "ACGTBDEFHIJKLMNOPQRSUVWXYZ";

static dkm_idx bench_string_length_of(const bench *b, dkm_idx ig)
{
    dkm_idx longest = args_int(b->r->args, "length"), least = args_int(b->r->args, "shortest");

    if (least == 0 || least >= longest)
        return longest;
    return least + dkm_random_below(dkm_ctx_seed(b->ctx), STREAM_LENGTHS, (uint64_t)ig,
                                    longest - least + 1);
}

static char letter_of(const bench *b, dkm_idx ig, dkm_idx k)
{
    double u = dkm_random_uniform(dkm_ctx_seed(b->ctx), STREAM_LETTERS, (uint64_t)ig, (uint64_t)k);

    return alphabet[(int)(u * (double)args_int(b->r->args, "letters"))];
}

static dkm_local choose_lengths(bench *b, dkm_idx first, dkm_idx count, dkm_idx **lengths)
{
    *lengths = calloc((size_t)count + 1, sizeof **lengths);
    if (!*lengths)
        return dkm_fail(b->ctx, DKM_ERR_MEMORY, "no memory for %lld lengths", (long long)count);
    for (dkm_idx il = 0; il < count; il++)
        (*lengths)[il] = bench_string_length_of(b, first + il);
    return DKM_LOCAL_OK;
}

static dkm_status generate_strings(bench *b)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(b->ctx), size = dkm_ctx_size(b->ctx);
    dkm_idx first = dkm_slab_first(b->n, rank, size), count = dkm_slab_count(b->n, rank, size);
    dkm_idx *lengths = NULL, length;

    DKM_AGREE(b->ctx, choose_lengths(b, first, count, &lengths));
    DKM_TRY(dkm_data_create_strings(b->ctx, b->n, lengths, &b->X));
    for (dkm_idx il = 0; il < count; il++) {
        char *text = dkm_data_string(b->X, il, &length);
        for (dkm_idx k = 0; k < length; k++)
            text[k] = letter_of(b, first + il, k);
    }
out:
    free(lengths);
    return status;
}

static dkm_status open_strings(bench *b, run *r)
{
    dkm_status status = DKM_OK;
    char text[120];

    *b = (bench){.r = r, .ctx = r->ctx};
    DKM_TRY(bench_count(b, -1));
    DKM_TRY(generate_strings(b));
    if (args_text(r->args, "out"))
        DKM_TRY(dkm_data_write(b->X, args_text(r->args, "out")));
    DKM_TRY(bench_open_grid(b, b->n));
    snprintf(text, sizeof text, "normalize(ssk(r=%lld, lambda=%.17g))",
             (long long)args_int(r->args, "r"), args_real(r->args, "lambda"));
    DKM_TRY(dkm_kernel_parse(b->ctx, text, &b->kernel));
out:
    return status;
}

/* Sum over all common subsequences of r letters of lambda^(letters of s and of t that they span).
 * D_p(a, b) is the sum over those of p letters whose last are s_a and t_b, and G_p(a, b) that of
 * all D_p(a', b') up to there, times lambda for every letter between: D_1(a, b) = lambda^2 [s_a =
 * t_b],  D_p(a, b) = lambda^2 [s_a = t_b] G_(p-1)(a - 1, b - 1). A row of each G_p is stored, 1 + nt
 * numbers that begin with zero. */
static double ssk(const bench *b, const char *s, dkm_idx ns, const char *t, dkm_idx nt)
{
    dkm_idx r = args_int(b->r->args, "r");
    double lambda = args_real(b->r->args, "lambda"), gram_problem = lambda * lambda, sum = 0;
    double *rows = calloc((size_t)(r * (nt + 1)), sizeof *rows);

    for (dkm_idx k = 0; rows && k < r * ns; k++) {
        dkm_idx p = r - 1 - k % r; /* the longest first: it needs the rows before as they are */
        double *G = rows + p * (nt + 1), corner = 0;
        for (dkm_idx j = 1; j <= nt; j++) {
            double ends = p > 0 ? gram_problem * G[j - 1 - (nt + 1)] : gram_problem, above = G[j];
            ends = s[k / r] == t[j - 1] ? ends : 0;
            G[j] = ends + lambda * (above + G[j - 1]) - gram_problem * corner;
            corner = above;
            sum += p == r - 1 ? ends : 0;
        }
    }
    sum = rows ? sum : NAN;
    free(rows);
    return sum;
}

static double normalized_ssk(const bench *b, const dkm_data *A, const dkm_data *B, dkm_idx il)
{
    dkm_idx ns, nt;
    const char *s = dkm_data_string_const(A, il, &ns), *t = dkm_data_string_const(B, il, &nt);
    dkm_idx r = args_int(b->r->args, "r");

    if (ns < r || nt < r) /* without subsequences to share, a string is like its equals alone */
        return ns == nt && memcmp(s, t, (size_t)ns) == 0;
    return ssk(b, s, ns, t, nt) / sqrt(ssk(b, s, ns, s, ns) * ssk(b, t, nt, t, nt));
}

/* Pairs of one triangle, and cells of their tables: r |s| |t| each. Collective. */
static void note_rates(bench *b, bench_turn *t)
{
    double sums[2] = {0, 0}, pairs = 0.5 * (double)b->n * (double)(b->n + 1);
    dkm_idx length;

    for (dkm_idx il = 0; il < dkm_data_local_rows(b->X); il++) {
        (void)dkm_data_string_const(b->X, il, &length);
        sums[0] += (double)length;
        sums[1] += (double)length * (double)length;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(b->ctx));
    bench_note_real(t, "letters", sums[0]);
    bench_note_real(t, "pairs_rate", pairs / t->seconds);
    bench_note_real(t, "cells_rate",
                    (double)args_int(b->r->args, "r") * 0.5 * (sums[0] * sums[0] + sums[1]) /
                        t->seconds);
}

/* Entries to check, so that checking is quick for long strings too. */
static dkm_idx sample_size(const bench *b)
{
    double longest = (double)args_int(b->r->args, "length") + 1;
    double cells = 3.0 * (double)args_int(b->r->args, "r") * longest * longest;

    return cells * 1000 < SAMPLE_CELLS ? 1000 : 1 + (dkm_idx)(SAMPLE_CELLS / cells);
}

static dkm_status time_strings(bench *b, bench_turn *t)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL;
    double begun;

    dkm_prepared_destroy(&b->prepared);
    begun = bench_start(b);
    DKM_TRY(dkm_kernel_prepare(b->kernel, b->X, &b->prepared));
    DKM_TRY(dkm_gram(b->grid, b->kernel, b->prepared, b->nb, b->precision, &K));
    t->seconds = bench_stop(b, begun);
    note_rates(b, t);
    DKM_TRY(bench_sample(b, K, sample_size(b), normalized_ssk, &t->residual));
out:
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_status bench_string(run *r)
{
    dkm_status status = DKM_OK;
    bench b;

    DKM_TRY(open_strings(&b, r));
    DKM_TRY(bench_run(&b, time_strings));
out:
    bench_close(&b);
    return status;
}

static const option options[] = {
    ROW_N,
    {.name = "length",
     .kind = OPT_INT,
     .metavar = "L",
     .min = 1,
     .max = 1000000,
     .default_text = "100",
     .help = "letters of a string"},
    {.name = "shortest",
     .kind = OPT_INT,
     .metavar = "L",
     .default_text = "0",
     .help = "where given, lengths are spread evenly from this one to --length"},
    {.name = "letters",
     .kind = OPT_INT,
     .metavar = "A",
     .min = 1,
     .max = sizeof alphabet - 1,
     .default_text = "4",
     .help = "size of the alphabet"},
    {.name = "r",
     .kind = OPT_INT,
     .metavar = "R",
     .min = 1,
     .max = 1000,
     .default_text = "3",
     .help = "letters of the subsequences compared"},
    {.name = "lambda",
     .kind = OPT_REAL,
     .metavar = "L",
     .default_text = "0.5",
     .help = "decay of the kernel a letter spanned, > 0 and <= 1"},
    {.name = "out",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "write the strings to a .txt file too, for other programs to run on"},
    ROW_REPEAT,
    {0}};

const command command_bench_string = {
    .name = "bench string",
    .summary = "the kernel matrix of strings, kernel normalize(ssk)",
    .about = "Times the self-kernels and one triangle of the matrix together. pairs_rate is pairs "
             "of strings a second, cells_rate the r |s| |t| cells of their tables. The residual is "
             "the largest difference of a sample of entries from what the kernel's definition "
             "says.",
    .example = "mpirun -np 4 dkmap bench string --n 400 --length 100 --record bench.jsonl",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = bench_string,
};
