/* info_code.c: the size of the emitted code: compile it in a temporary folder and read the object
 * files. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "folder.h"
#include "info.h"
#include "isa.h"
#include "runtime_text.h"

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

/* The size of instructions, constants and initial values, without unwind tables, which are not
 * needed. 0 if the file is not a 64-bit ELF object in this machine's byte order. */
static size_t object_bytes(const unsigned char *data, size_t size)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, s;
    size_t sum = 0;
    if (size < sizeof head) return 0;
    memcpy(&head, data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != data_of_host()) return 0;
    if (head.e_shstrndx >= head.e_shnum) return 0;
    if (!inside(head.e_shoff, (uint64_t)head.e_shnum * sizeof s, size)) return 0;
    memcpy(&names, data + head.e_shoff + head.e_shstrndx * sizeof s, sizeof names);
    if (!inside(names.sh_offset, names.sh_size, size) || !names.sh_size || data[names.sh_offset + names.sh_size - 1]) return 0;
    for (int i = 0; i < head.e_shnum; i++) {
        memcpy(&s, data + head.e_shoff + (size_t)i * sizeof s, sizeof s);
        const char *name = s.sh_name < names.sh_size ? (const char *)data + names.sh_offset + s.sh_name : "";
        if ((s.sh_flags & SHF_ALLOC) && s.sh_type == SHT_PROGBITS && strcmp(name, ".eh_frame") != 0) sum += s.sh_size;
    }
    return sum;
}

/* Add the object_bytes of FOLDER/NAME to *sum; false after an error. A missing file adds
 * nothing. */
static bool add_object(Arena *a, Diag *d, const char *folder, const char *name, size_t *sum)
{
    FileMap map;
    const char *path = file_join(a, folder, name);
    if (access(path, F_OK) != 0) return true;
    if (!file_map(d, (Loc){ 0 }, path, &map)) return false;
    const size_t bytes = object_bytes(map.data, map.size);
    file_unmap(&map);
    *sum += bytes;
    if (!bytes) diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "cannot measure %s: it is not a 64-bit ELF object in this machine's byte order", name);
    return bytes > 0;
}

/* Add the sizes of the objects of the runtime sources that every folder gets, if the library has
 * them. */
static bool add_runtime(Arena *a, Diag *d, const char *folder, size_t *sum)
{
    for (const RuntimeFile *f = runtime_files; f->name; f++) {
        const size_t n = strlen(f->name);
        if (f->use != RUNTIME_ALL || n < 2 || strcmp(f->name + n - 2, ".c") != 0) continue;
        if (!add_object(a, d, folder, arena_format(a, "runtime/%.*s.o", (int)n - 2, f->name), sum)) return false;
    }
    return true;
}

/* Add the size of the model's object, or those of all its variants. */
static bool add_model(Arena *a, Diag *d, const char *folder, const char *name, EmitForm form, size_t *sum)
{
    int n;
    const char *const *isas = isa_list(a, form.isa, &n);
    if (n == 1) return add_object(a, d, folder, arena_format(a, "%s.o", name), sum);
    for (int i = 0; i < n; i++)
        if (!add_object(a, d, folder, arena_format(a, "%s_%s.o", name, isas[i]), sum)) return false;
    return add_object(a, d, folder, arena_format(a, "%s_variants.o", name), sum);
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
              add_model(a, d, folder, name, form, &c->model_bytes) && add_runtime(a, d, folder, &c->runtime_bytes);
    folder_remove(a, folder);
    cleanup_release();
    return ok ? c : NULL;
}
