/** @file bitmap_font.h  Letters of 5 x 8 pixels, for the labels of pictures. All local. */
#ifndef DKMAP_IO_MONTAGE_BITMAP_FONT_H
#define DKMAP_IO_MONTAGE_BITMAP_FONT_H

#include <dkmap/types.h>

/** Pixels of a letter; the next one begins a pixel further. */
enum { DKM_LETTER_WIDTH = 5, DKM_LETTER_HEIGHT = 8 };

/** Whether pixel (i, j) of a letter is set; large letters look like small ones, and letters that
 *  are not known like blanks. */
int dkm_bitmap_font_pixel(char letter, dkm_idx i, dkm_idx j);

#endif
