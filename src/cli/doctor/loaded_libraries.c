#define _GNU_SOURCE /* for dl_iterate_phdr() */
#include "cli/doctor/loaded_libraries.h"

#include <ctype.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int is_mpi_library(const char *name)
{
    return strncmp(name, "libmpi.so", 9) == 0 || strncmp(name, "libmpich.so", 11) == 0;
}

/* The dynamic section of an object in memory; NULL where it has none. */
static const ElfW(Dyn) * dynamic_section(const struct dl_phdr_info *info)
{
    for (int k = 0; k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_DYNAMIC)
            return (const void *)(info->dlpi_addr + info->dlpi_phdr[k].p_vaddr);
    return NULL;
}

/* The MPI library among those an object names as needed. */
static void find_mpi(const struct dl_phdr_info *info, char mpi[LIBRARY_NAME])
{
    const ElfW(Dyn) *section = dynamic_section(info);
    const char *texts = NULL;

    mpi[0] = '\0';
    for (const ElfW(Dyn) *d = section; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB) /* relocated by the linker, but in objects of the kernel */
            texts = (const char *)(d->d_un.d_ptr < info->dlpi_addr ? d->d_un.d_ptr + info->dlpi_addr
                                                                   : d->d_un.d_ptr);
    for (const ElfW(Dyn) *d = section; texts && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && is_mpi_library(texts + d->d_un.d_val))
            snprintf(mpi, LIBRARY_NAME, "%s", texts + d->d_un.d_val);
}

static int add_library(struct dl_phdr_info *info, size_t size, void *user)
{
    loaded_libraries *all = user;
    loaded_library *grown;
    const char *slash = strrchr(info->dlpi_name, '/');
    char real[PATH_MAX];

    (void)size;
    if (!info->dlpi_name[0] || !slash) /* the program itself, or one of the kernel */
        return 0;
    grown = realloc(all->list, ((size_t)all->count + 1) * sizeof *grown);
    if (!grown)
        return 1;
    all->list = grown;
    grown += all->count++;
    snprintf(grown->name, sizeof grown->name, "%s", slash + 1);
    snprintf(grown->path, sizeof grown->path, "%.*s", LIBRARY_PATH - 1,
             realpath(info->dlpi_name, real) ? real : info->dlpi_name);
    find_mpi(info, grown->mpi);
    return 0;
}

int loaded_libraries_list(loaded_libraries *all)
{
    *all = (loaded_libraries){0};
    return dl_iterate_phdr(add_library, all) == 0;
}

void loaded_libraries_free(loaded_libraries *all)
{
    free(all->list);
    *all = (loaded_libraries){0};
}

const loaded_library *loaded_libraries_find(const loaded_libraries *all, const char *names)
{
    for (const char *name = names; *name; name += strcspn(name, "|") + (strchr(name, '|') != NULL))
        for (int k = 0; k < all->count; k++)
            if (strncmp(all->list[k].name, name, strcspn(name, "|")) == 0)
                return &all->list[k];
    return NULL;
}

void library_version(const loaded_library *library, char *out, size_t size)
{
    const char *name = strrchr(library->path, '/'), *at;
    size_t length;

    name = name ? name + 1 : library->path;
    at = strstr(name, "-r"); /* OpenBLAS: libopenblasp-r0.3.21.so */
    at = at ? at + 2 : strstr(name, ".so.");
    if (at && *at == '.')
        at += 4;
    length = at ? strspn(at, "0123456789.") : 0;
    while (length > 0 && at[length - 1] == '.')
        length--;
    snprintf(out, size, "%.*s", (int)length, length ? at : "");
}
