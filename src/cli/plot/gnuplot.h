/** @file gnuplot.h  Pictures, drawn by gnuplot on rank 0.
 *
 *  gnuplot is started without a shell. It reads its commands and the data from one unnamed file and
 *  writes the picture to another; names of the user's files do not reach it, and other texts of the
 *  user only as gnuplot_text() writes them.
 */
#ifndef DKMAP_CLI_PLOT_GNUPLOT_H
#define DKMAP_CLI_PLOT_GNUPLOT_H

#include <stdio.h>

#include "cli/core/run.h"

#define ROW_PLOT(text)                                                                             \
    {                                                                                              \
        .name = "plot", .kind = OPT_TEXT, .metavar = "FILE.svg|png", .help = text                  \
    }

/** What to draw. */
typedef struct drawing {
    int (*draw)(FILE *script, const void *what); /**< writes gnuplot commands, with the data; 0, or
                                                    -1 when there is no memory for that */
    const void *what;
    int width, height; /**< in pixels of a screen */
} drawing;

/** Check, before anything is computed, that --plot can be drawn: the ending of its name, that it
 *  can be written, that gnuplot is there. Collective; without --plot nothing is done.
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_IO, also where gnuplot is missing */
DKM_NODISCARD dkm_status gnuplot_check(run *r);

/** Check that gnuplot can draw SVG. Collective. */
DKM_NODISCARD dkm_status gnuplot_check_installed(run *r);

/** Draw to the file of --plot, and report it. Collective; @p picture is read on rank 0 alone. */
DKM_NODISCARD dkm_status gnuplot_write(run *r, const drawing *picture);

/** Draw into a page of HTML. Local.
 *  @param[in] id  of the picture, unlike those of all others of the page */
DKM_NODISCARD dkm_local gnuplot_embed(run *r, const drawing *picture, int id, FILE *page);

/** Write @p text in quotes, in which gnuplot substitutes nothing. Control characters become blanks;
 *  what is longer than @p length bytes is cut. */
void gnuplot_text(FILE *script, const char *text, size_t length);

/** The k-th of eight colours that also those tell apart who do not see red or green. */
const char *gnuplot_colour(int k);

#endif
