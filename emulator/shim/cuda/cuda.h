/* Types of the CUDA driver interface, as far as this library reads or writes them, and its statuses. */
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API KREPRO_EXPORT int

/* CUresult has the runtime's numbers, but not all of them. */
static int driver(int status) {
    switch (status) {
    case KREPRO_INVALID_CONFIGURATION:
    case KREPRO_INVALID_PITCH:
    case KREPRO_INVALID_DIRECTION: return KREPRO_INVALID_VALUE;
    case KREPRO_INVALID_SYMBOL: return KREPRO_NOT_FOUND;
    case KREPRO_INVALID_FUNCTION: return KREPRO_INVALID_HANDLE;
    default: return status;
    }
}

static struct krepro_region region(uint64_t address) {
    return (struct krepro_region){address, 0};
}

static uint64_t host(const void *address) {
    return (uint64_t)(uintptr_t)address;
}

static int accept(void) {
    return driver(krepro_sticky_error());
}
