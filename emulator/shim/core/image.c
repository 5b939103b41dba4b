/* Finding out how large a device image is, and sending it. */
#include "core.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRAPPER_MAGIC = 0x466243B1, CONTAINER_MAGIC = (int)0xBA55ED50 };

/* __fatBinC_Wrapper_t of fatbinary_section.h. */
struct wrapper {
    int magic, version;
    const void *data;
    const void *const *units; /* version 2: containers of the separately compiled units, NULL at the end */
};

struct container {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};

static int magic_of(const void *image) {
    int magic;
    memcpy(&magic, image, sizeof magic);
    return magic;
}

static uint64_t container_size(const void *data) {
    const struct container *container = data;
    return container->header_size + container->size;
}

static uint64_t image_size(const void *image) {
    if (magic_of(image) == CONTAINER_MAGIC) return container_size(image);
    if (memcmp(image, ELFMAG, SELFMAG) == 0) {
        const Elf64_Ehdr *elf = image;
        return elf->e_shoff + (uint64_t)elf->e_shnum * elf->e_shentsize;
    }
    return strlen(image); /* PTX text */
}

static int send_image(uint32_t operation, uint64_t module, const void *image, uint64_t size, uint64_t *id) {
    struct krepro_call call = {
        .operation = operation,
        .argument_count = 1,
        .arguments = {module},
        .in = image,
        .in_size = size,
    };
    int status = krepro_call(&call);
    if (status == KREPRO_SUCCESS && id != NULL) *id = call.results[0];
    return status;
}

int krepro_load_image(const void *image, uint64_t *module) {
    if (image == NULL) return KREPRO_INVALID_VALUE;
    if (magic_of(image) != WRAPPER_MAGIC) return send_image(KREPRO_LOAD, 0, image, image_size(image), module);
    const struct wrapper *wrapper = image;
    int status = send_image(KREPRO_LOAD, 0, wrapper->data, image_size(wrapper->data), module);
    if (wrapper->version < 2 || wrapper->units == NULL) return status;
    for (const void *const *unit = wrapper->units; status == KREPRO_SUCCESS && *unit != NULL; unit++)
        status = send_image(KREPRO_ADD_UNIT, *module, *unit, container_size(*unit), NULL);
    return status;
}

int krepro_load_file(const char *path, uint64_t *module) {
    FILE *file = path == NULL ? NULL : fopen(path, "rb");
    if (file == NULL) return 301; /* cudaErrorFileNotFound */
    char *image = NULL;
    size_t size = 0, got = 0;
    do {
        size += 1 << 20;
        char *larger = realloc(image, size);
        if (larger == NULL) break;
        image = larger;
        got += fread(image + got, 1, size - got, file);
    } while (got == size);
    fclose(file);
    int status = got == size ? KREPRO_OUT_OF_MEMORY : send_image(KREPRO_LOAD, 0, image, got, module);
    free(image);
    return status;
}

int krepro_unload(uint64_t module) {
    struct krepro_call call = {.operation = KREPRO_UNLOAD, .argument_count = 1, .arguments = {module}};
    return krepro_call(&call);
}
