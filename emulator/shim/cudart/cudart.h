/* Types of the CUDA runtime interface, as far as this library reads or writes them, and the last error. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#define API KREPRO_EXPORT int

typedef struct {
    unsigned x, y, z;
} dim3;

enum { MEMORY_UNREGISTERED, MEMORY_HOST, MEMORY_DEVICE };

static __thread int last_error;

/* What cudaGetLastError will say. */
static int remember(int status) {
    if (status != KREPRO_SUCCESS) last_error = status;
    return status;
}

static struct krepro_region linear(const void *address) {
    return (struct krepro_region){(uint64_t)(uintptr_t)address, 0};
}

static struct krepro_region pitched(const void *address, size_t pitch) {
    return (struct krepro_region){(uint64_t)(uintptr_t)address, pitch};
}

/* For calls that change nothing that a simulated kernel can see. */
static int accept(void) {
    return remember(krepro_sticky_error());
}
