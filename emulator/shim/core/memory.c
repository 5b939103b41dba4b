/* Device memory through messages; page-locked host memory as plain host memory. */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int krepro_allocate(size_t size, uint64_t *address) {
    struct krepro_call call = {.operation = KREPRO_ALLOCATE, .argument_count = 1, .arguments = {size}};
    int status = krepro_call(&call);
    if (status == KREPRO_SUCCESS) *address = call.results[0];
    return status;
}

int krepro_free(uint64_t address) {
    if (address == 0) return KREPRO_SUCCESS;
    struct krepro_call call = {.operation = KREPRO_FREE, .argument_count = 1, .arguments = {address}};
    return krepro_call(&call);
}

int krepro_is_device(uint64_t address, uint64_t *base, uint64_t *size) {
    struct krepro_call call = {.operation = KREPRO_ADDRESS, .argument_count = 1, .arguments = {address}};
    if (krepro_call(&call) != KREPRO_SUCCESS || call.results[0] == 0) return 0;
    if (base != NULL) *base = call.results[1];
    if (size != NULL) *size = call.results[2];
    return 1;
}

static int to_device(struct krepro_region to, struct krepro_region from, size_t width, size_t height) {
    const char *rows = (const char *)(uintptr_t)from.address;
    char *packed = NULL;
    if (height > 1 && from.pitch != width) {
        if ((packed = malloc(width * height)) == NULL) return KREPRO_OUT_OF_MEMORY;
        for (size_t row = 0; row < height; row++) memcpy(packed + row * width, rows + row * from.pitch, width);
    }
    struct krepro_call call = {
        .operation = KREPRO_WRITE,
        .argument_count = 4,
        .arguments = {to.address, to.pitch, width, height},
        .in = packed == NULL ? rows : packed,
        .in_size = width * height,
    };
    int status = krepro_call(&call);
    free(packed);
    return status;
}

static int to_host(struct krepro_region to, struct krepro_region from, size_t width, size_t height) {
    char *rows = (char *)(uintptr_t)to.address;
    char *packed = NULL;
    if (height > 1 && to.pitch != width && (packed = malloc(width * height)) == NULL) return KREPRO_OUT_OF_MEMORY;
    struct krepro_call call = {
        .operation = KREPRO_READ,
        .argument_count = 4,
        .arguments = {from.address, from.pitch, width, height},
        .out = packed == NULL ? rows : packed,
        .out_size = width * height,
    };
    int status = krepro_call(&call);
    for (size_t row = 0; packed != NULL && status == KREPRO_SUCCESS && row < height; row++)
        memcpy(rows + row * to.pitch, packed + row * width, width);
    free(packed);
    return status;
}

static int host_to_host(struct krepro_region to, struct krepro_region from, size_t width, size_t height) {
    for (size_t row = 0; row < height; row++)
        memmove((char *)(uintptr_t)to.address + row * to.pitch, (char *)(uintptr_t)from.address + row * from.pitch, width);
    return krepro_synchronize();
}

static int on_device(struct krepro_region to, struct krepro_region from, size_t width, size_t height) {
    struct krepro_call call = {
        .operation = KREPRO_COPY,
        .argument_count = 6,
        .arguments = {to.address, to.pitch, from.address, from.pitch, width, height},
    };
    return krepro_call(&call);
}

int krepro_copy(struct krepro_region to, struct krepro_region from, size_t width, size_t height, int kind) {
    if (width == 0 || height == 0) return krepro_synchronize();
    if (to.address == 0 || from.address == 0) return KREPRO_INVALID_VALUE;
    if (height > 1 && (to.pitch < width || from.pitch < width)) return KREPRO_INVALID_PITCH;
    if (kind == KREPRO_BY_ADDRESS) {
        int to_is_device = krepro_is_device(to.address, NULL, NULL);
        int from_is_device = krepro_is_device(from.address, NULL, NULL);
        kind = to_is_device ? (from_is_device ? KREPRO_DEVICE_TO_DEVICE : KREPRO_HOST_TO_DEVICE)
                            : (from_is_device ? KREPRO_DEVICE_TO_HOST : KREPRO_HOST_TO_HOST);
    }
    switch (kind) {
    case KREPRO_HOST_TO_HOST: return host_to_host(to, from, width, height);
    case KREPRO_HOST_TO_DEVICE: return to_device(to, from, width, height);
    case KREPRO_DEVICE_TO_HOST: return to_host(to, from, width, height);
    case KREPRO_DEVICE_TO_DEVICE: return on_device(to, from, width, height);
    default: return KREPRO_INVALID_DIRECTION;
    }
}

int krepro_fill(struct krepro_region to, uint64_t value, size_t element, size_t columns, size_t rows) {
    if (columns == 0 || rows == 0) return krepro_synchronize();
    struct krepro_call call = {
        .operation = KREPRO_FILL,
        .argument_count = 6,
        .arguments = {to.address, to.pitch, value, element, columns, rows},
    };
    return krepro_call(&call);
}

static struct host_block {
    void *memory;
    size_t size;
    unsigned flags;
    struct host_block *next;
} *blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

int krepro_host_allocate(size_t size, unsigned flags, void **memory) {
    struct host_block *block = malloc(sizeof *block);
    void *bytes = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
    if (block == NULL || bytes == NULL) return KREPRO_OUT_OF_MEMORY;
    pthread_mutex_lock(&blocks_lock);
    *block = (struct host_block){bytes, size, flags, blocks};
    blocks = block;
    pthread_mutex_unlock(&blocks_lock);
    *memory = bytes;
    return KREPRO_SUCCESS;
}

int krepro_host_free(void *memory) {
    if (memory == NULL) return KREPRO_SUCCESS;
    pthread_mutex_lock(&blocks_lock);
    struct host_block **link = &blocks;
    while (*link != NULL && (*link)->memory != memory) link = &(*link)->next;
    struct host_block *block = *link;
    if (block != NULL) *link = block->next;
    pthread_mutex_unlock(&blocks_lock);
    if (block == NULL) return KREPRO_INVALID_VALUE;
    free(block->memory);
    free(block);
    return KREPRO_SUCCESS;
}

int krepro_host_flags(const void *memory, unsigned *flags) {
    int status = KREPRO_INVALID_VALUE;
    pthread_mutex_lock(&blocks_lock);
    for (struct host_block *block = blocks; block != NULL; block = block->next) {
        const char *start = block->memory, *at = memory;
        if (at < start || at >= start + (block->size == 0 ? 1 : block->size)) continue;
        *flags = block->flags;
        status = KREPRO_SUCCESS;
    }
    pthread_mutex_unlock(&blocks_lock);
    return status;
}
