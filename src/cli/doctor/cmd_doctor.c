#include <stdarg.h>
#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/doctor/doctor.h"
#include "cli/profile/calibration.h"
#include "cli/profile/comm_counter.h"

void doctor_good(doctor *d, const char *what, const char *text)
{
    report_text(d->r, what, text);
}

void doctor_bad(doctor *d, const char *what, const char *format, ...)
{
    char text[FINDING];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (d->failed++ == 0) /* the message that the command ends with */
        snprintf(d->first, sizeof d->first, "%s: %.*s", what, FINDING - 60, text);
    else
        dkm_log(d->r->ctx, DKM_WARN, "%s: %s", what, text);
}

void doctor_doubt(doctor *d, const char *what, const char *format, ...)
{
    char text[FINDING];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    dkm_log(d->r->ctx, DKM_WARN, "%s: %s", what, text);
}

/* What is not there and could be. */
static void tell_missing(doctor *d)
{
    static const struct {
        const char *libraries, *name, *without;
    } optional[] = {
        {"libelpa", "ELPA", "full eigensolves use ScaLAPACK, which is slower (libelpa-dev)"},
        {"libparasail", "parasail", "there is no kernel smith-waterman (libparasail-dev)"},
        {"libyaml-0", "libyaml", "--config reads TOML alone (libyaml-dev)"}};
    calibration c;
    int calibrated = calibration_find(dkm_ctx_size(d->r->ctx), &c);

    for (size_t k = 0; k < sizeof optional / sizeof *optional; k++)
        if (!loaded_libraries_find(&d->libraries, optional[k].libraries)) {
            char text[FINDING];
            snprintf(text, sizeof text, "%s: %s", optional[k].name, optional[k].without);
            run_show(d->r, "missing", text);
        }
    MPI_Bcast(&calibrated, 1, MPI_INT, 0, dkm_ctx_comm(d->r->ctx));
    if (!calibrated)
        run_show(d->r, "missing",
                 "a calibration: plans have no times (mpirun -np N dkmap bench --calibrate)");
}

static dkm_local list_libraries(doctor *d)
{
    if (loaded_libraries_list(&d->libraries))
        return DKM_LOCAL_OK;
    return dkm_fail(d->r->ctx, DKM_ERR_MEMORY, "no memory for the list of libraries");
}

static dkm_local doctor_verdict(doctor *d)
{
    if (d->failed == 0)
        return DKM_LOCAL_OK;
    return dkm_error_user(d->r->ctx, DKM_ERR_MPI, "%d check%s failed, first %s", d->failed,
                          d->failed > 1 ? "s" : "", d->first);
}

static dkm_status run_doctor(run *r)
{
    dkm_status status = DKM_OK;
    doctor d = {.r = r};

    DKM_AGREE(r->ctx, list_libraries(&d));
    DKM_TRY(doctor_check_libraries(&d));
    DKM_TRY(doctor_check_nodes(&d));
    DKM_TRY(doctor_check_work(&d));
    tell_missing(&d);
    if (d.failed == 0)
        report_text(r, "verdict", "all fits together");
    DKM_AGREE(r->ctx, doctor_verdict(&d));
out:
    loaded_libraries_free(&d.libraries);
    return status;
}

const command command_doctor = {
    .name = "doctor",
    .summary = "look whether MPI, BLAS, ScaLAPACK and HDF5 fit together, and how fast they are",
    .about =
        "Run it as jobs will run: with their launcher, on their nodes and with their number of "
        "ranks. What does not fit is reported with the remedy, and the exit status is 1.",
    .example = "mpirun -np 4 dkmap doctor",
    .tables = {report_options},
    .run = run_doctor,
};
