/* What libcudart and libcuda share: one connection to krepro, which holds the device.
 *
 * Every call becomes a message; device memory, modules and kernels live in krepro, and device addresses are handles that
 * nothing here ever follows. Statuses are cudaError_t numbers. */
#ifndef KREPRO_CORE_H
#define KREPRO_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "operations.h"

#define KREPRO_EXPORT __attribute__((visibility("default")))

enum {
    KREPRO_SUCCESS = 0,
    KREPRO_INVALID_VALUE = 1,
    KREPRO_OUT_OF_MEMORY = 2,
    KREPRO_INITIALIZATION = 3,
    KREPRO_INVALID_CONFIGURATION = 9,
    KREPRO_INVALID_PITCH = 12,
    KREPRO_INVALID_SYMBOL = 13,
    KREPRO_INVALID_DIRECTION = 21,
    KREPRO_INVALID_FUNCTION = 98,
    KREPRO_INVALID_DEVICE = 101,
    KREPRO_INVALID_IMAGE = 200,
    KREPRO_INVALID_HANDLE = 400,
    KREPRO_NOT_FOUND = 500,
    KREPRO_NOT_SUPPORTED = 801,
};

/* One message and its answer. Only `operation` must be set. */
struct krepro_call {
    uint32_t operation;
    uint32_t argument_count;
    uint64_t arguments[20];
    const void *in; /* bytes that go with the message */
    uint64_t in_size;
    void *out; /* where the answer's bytes go; what does not fit is dropped */
    uint64_t out_size;
    uint64_t results[6];
    uint64_t out_received; /* bytes that the answer had */
};

/* Sends the message, waits for the answer, returns its status. */
KREPRO_EXPORT int krepro_call(struct krepro_call *call);

/* The error that the device is stuck in until it is reset, 0 if none. */
KREPRO_EXPORT int krepro_sticky_error(void);

/* Reports a function that is not there, or a use of one that is not possible, and returns KREPRO_NOT_SUPPORTED. */
KREPRO_EXPORT int krepro_missing(const char *function);
KREPRO_EXPORT int krepro_refuse(const char *function, const char *why);

/* A string of the answer that lives as long as the process: error names and texts, kernel names. */
KREPRO_EXPORT const char *krepro_string(uint32_t operation, uint64_t argument);

/* ---- modules and kernels ---- */

struct krepro_parameter {
    uint32_t offset, size; /* in bytes */
};

/* What a cudaKernel_t, CUkernel, cudaFunction_t or CUfunction points to. */
struct krepro_kernel {
    uint64_t id, module;
    uint64_t host_function; /* 0 when found by name */
    uint32_t parameter_count, parameter_bytes;
    const struct krepro_parameter *parameters;
    const char *name;
    struct krepro_kernel *next;
};

struct krepro_launch {
    uint32_t grid[3], block[3], cluster[3];
    uint64_t dynamic_shared;
    uint32_t flags; /* KREPRO_LAUNCH_… */
};

enum { KREPRO_LAUNCH_COOPERATIVE = 1 };

/* Loads a fat binary, its wrapper, PTX text or an ELF file; `*module` becomes its id. */
KREPRO_EXPORT int krepro_load_image(const void *image, uint64_t *module);
KREPRO_EXPORT int krepro_load_file(const char *path, uint64_t *module);
KREPRO_EXPORT int krepro_unload(uint64_t module);
KREPRO_EXPORT int krepro_kernel_by_host_function(const void *function, struct krepro_kernel **kernel);
KREPRO_EXPORT int krepro_kernel_by_name(uint64_t module, const char *name, struct krepro_kernel **kernel);
KREPRO_EXPORT int krepro_launch(const struct krepro_kernel *kernel, const struct krepro_launch *launch, void **arguments);
/* The same with all arguments already laid out as the kernel takes them. */
KREPRO_EXPORT int krepro_launch_packed(const struct krepro_kernel *kernel, const struct krepro_launch *launch,
                                       const void *arguments, size_t size);

/* ---- memory; a region is `height` rows of `width` bytes, `pitch` apart ---- */

enum { KREPRO_HOST_TO_HOST, KREPRO_HOST_TO_DEVICE, KREPRO_DEVICE_TO_HOST, KREPRO_DEVICE_TO_DEVICE, KREPRO_BY_ADDRESS };

struct krepro_region {
    uint64_t address;
    size_t pitch;
};

KREPRO_EXPORT int krepro_allocate(size_t size, uint64_t *address);
KREPRO_EXPORT int krepro_free(uint64_t address);
KREPRO_EXPORT int krepro_copy(struct krepro_region to, struct krepro_region from, size_t width, size_t height, int kind);
KREPRO_EXPORT int krepro_fill(struct krepro_region to, uint64_t value, size_t element, size_t columns, size_t rows);
/* Whether the address is one of the device's; its allocation's start and size. */
KREPRO_EXPORT int krepro_is_device(uint64_t address, uint64_t *base, uint64_t *size);
/* Page-locked memory is plain host memory here. */
KREPRO_EXPORT int krepro_host_allocate(size_t size, unsigned flags, void **memory);
KREPRO_EXPORT int krepro_host_free(void *memory);
KREPRO_EXPORT int krepro_host_flags(const void *memory, unsigned *flags);

/* ---- streams and events; work is done when its call returns ---- */

KREPRO_EXPORT int krepro_synchronize(void);
KREPRO_EXPORT int krepro_stream_create(unsigned flags, int priority, void **stream);
KREPRO_EXPORT int krepro_stream_destroy(void *stream);
KREPRO_EXPORT int krepro_stream_properties(void *stream, unsigned *flags, int *priority, unsigned long long *id);
KREPRO_EXPORT int krepro_event_create(unsigned flags, void **event);
KREPRO_EXPORT int krepro_event_destroy(void *event);
KREPRO_EXPORT int krepro_event_record(void *event, void *stream);
KREPRO_EXPORT int krepro_event_elapsed(void *start, void *end, float *milliseconds);
KREPRO_EXPORT int krepro_event_synchronize(void *event);

#endif
