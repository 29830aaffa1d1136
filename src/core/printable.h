/** @file printable.h  Text from files that goes to a terminal or a log. */
#ifndef DKMAP_CORE_PRINTABLE_H
#define DKMAP_CORE_PRINTABLE_H

/** Put '?' in the place of control characters, which a terminal may take for commands, and a blank
 *  in that of tabs.
 *  @param[in] lines  whether ends of lines stay before lines that are indented by two blanks, as
 *                    those that show an expression are */
static inline void dkm_make_printable(char *text, int lines)
{
    for (char *c = text; *c; c++) {
        if (*c == '\t')
            *c = ' ';
        else if (lines && c[0] == '\n' && c[1] == ' ' && c[2] == ' ')
            continue;
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    }
}

#endif
