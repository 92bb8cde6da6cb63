/* info_code.c: the size of the emitted code: compile it in a temporary folder and read the object
 * files. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "folder.h"
#include "info.h"
#include "text.h"

/* ---- what an object keeps in an image --------------------------------------------------------------------- */

static unsigned char data_of_host(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first ? ELFDATA2LSB : ELFDATA2MSB;
}

/* True if `size` bytes at `offset` are inside a file of `whole` bytes. */
static bool inside(uint64_t offset, uint64_t size, size_t whole) { return offset <= whole && size <= whole - offset; }

/* Add the size of instructions, constants and initial values to *sum, without unwind tables, which
 * are not needed. False if the file is not a 64-bit ELF object in this machine's byte order. */
static bool add_object(const unsigned char *data, size_t size, size_t *sum)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, s;
    if (size < sizeof head) return false;
    memcpy(&head, data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != data_of_host()) return false;
    if (head.e_shstrndx >= head.e_shnum) return false;
    if (!inside(head.e_shoff, (uint64_t)head.e_shnum * sizeof s, size)) return false;
    memcpy(&names, data + head.e_shoff + head.e_shstrndx * sizeof s, sizeof names);
    if (!inside(names.sh_offset, names.sh_size, size) || !names.sh_size || data[names.sh_offset + names.sh_size - 1]) return false;
    for (int i = 0; i < head.e_shnum; i++) {
        memcpy(&s, data + head.e_shoff + (size_t)i * sizeof s, sizeof s);
        const char *name = s.sh_name < names.sh_size ? (const char *)data + names.sh_offset + s.sh_name : "";
        if ((s.sh_flags & SHF_ALLOC) && s.sh_type == SHT_PROGBITS && strcmp(name, ".eh_frame") != 0) *sum += s.sh_size;
    }
    return true;
}

/* Add the sizes of all objects in a folder to *sum; false after an error. */
static bool add_objects(Arena *a, Diag *d, const char *folder, size_t *sum)
{
    bool good = true;
    DIR *dir = opendir(folder);
    if (!dir) diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot read %s: %s", folder, strerror(errno));
    for (struct dirent *f; good && dir && (f = readdir(dir)) != NULL;) {
        FileMap map;
        if (!text_ends(f->d_name, ".o")) continue;
        if (!(good = file_map(d, (Loc){ 0 }, file_join(a, folder, f->d_name), &map))) continue;
        good = add_object(map.data, map.size, sum);
        file_unmap(&map);
        if (!good)
            diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "cannot measure %s: it is not a 64-bit ELF object in this machine's byte order",
                       f->d_name);
    }
    if (dir) closedir(dir);
    return dir && good;
}

/* ---- the folder ------------------------------------------------------------------------------------------- */

InfoCode *info_code(Arena *a, Diag *d, const Plan *p, const char *cc, EmitForm form)
{
    const char *name = p->graph->model->name;
    cleanup_hold();
    const char *folder = folder_temporary(a, d);
    if (!folder) {
        cleanup_release();
        return NULL;
    }
    InfoCode *c = arena_alloc(a, sizeof *c);
    *c = (InfoCode){ .compiler = cc ? cc : "cc", .isa = form.isa ? form.isa : "native" };
    form.weights = WEIGHTS_FILE;
    const MakeOrder order = { folder, arena_format(a, "lib%s.a", name), arena_format(a, "%s.c", name), cc, form, false, false,
                              graph_has_custom(p->graph) };
    const FolderText text = folder_text(a, p, form);
    bool ok = folder_write_text(a, d, p, &text, folder) && folder_make(a, d, &order) &&
              add_objects(a, d, folder, &c->model_bytes) && add_objects(a, d, file_join(a, folder, "runtime"), &c->runtime_bytes);
    folder_remove(a, folder);
    cleanup_release();
    return ok ? c : NULL;
}
