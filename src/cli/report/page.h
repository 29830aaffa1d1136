/** @file page.h  One page of HTML with everything in it: no other file, no script. */
#ifndef DKMAP_CLI_REPORT_PAGE_H
#define DKMAP_CLI_REPORT_PAGE_H

#include <stdio.h>

#include "cli/plot/gnuplot.h"

/** A page that rank 0 writes in memory. */
typedef struct page {
    run *r;
    FILE *out; /**< NULL on other ranks */
    char *bytes;
    size_t count;
    int figures; /**< so far */
} page;

/** Begin. Collective; page_close() frees what it holds, also after a failure.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status page_open(page *p, run *r, const char *title);
void page_close(page *p);

/** End the page and write it to a file. Collective. */
DKM_NODISCARD dkm_status page_write(page *p, const char *path);

/** Text with what HTML takes for its own made harmless. Local, as all below. */
void page_text(page *p, const char *text);
void page_heading(page *p, int level, const char *text);

/** A table of names and values: rows between begin and end. */
void page_facts_begin(page *p);
void page_fact(page *p, const char *name, const char *text);
void page_facts_end(page *p);

/** A row of @p count cells, of a table between page_table_begin() and page_table_end(). */
void page_table_begin(page *p, int count, const char *const *head);
void page_cells(page *p, int count, const char *const *cell);
void page_table_end(page *p);

/** Figures side by side, where there is room. */
void page_figures_begin(page *p);
DKM_NODISCARD dkm_local page_figure(page *p, const drawing *picture, const char *caption);
void page_figures_end(page *p);

/** Bytes and seconds for a person. */
void page_bytes(double bytes, char *out, size_t size);
void page_seconds(double seconds, char *out, size_t size);

#endif
