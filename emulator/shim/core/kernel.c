/* Kernel handles and launches. A handle lives as long as the process, so a stale one is an error of krepro's, not ours. */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct krepro_kernel *kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct krepro_kernel *known(uint64_t host_function, uint64_t module, const char *name) {
    for (struct krepro_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        if ((uint64_t)(uintptr_t)kernel == host_function) return kernel; /* a handle, which CUDA takes as well */
        if (kernel->host_function != host_function) continue;
        if (host_function != 0 || (kernel->module == module && strcmp(kernel->name, name) == 0)) return kernel;
    }
    return NULL;
}

/* The answer: kernel id, module id, parameter count, parameter bytes; then (offset, size) of each parameter, then the name. */
static int look_up(struct krepro_call *call, uint64_t host_function, struct krepro_kernel **kernel) {
    static char layout[1 << 17]; /* a kernel takes at most 32764 bytes of parameters; nvcc's are never a byte each */
    call->out = layout;
    call->out_size = sizeof layout;
    int status = krepro_call(call);
    if (status != KREPRO_SUCCESS) return status;
    if (call->out_received > sizeof layout) return KREPRO_INVALID_IMAGE;
    size_t table = call->results[2] * sizeof(struct krepro_parameter);
    struct krepro_kernel *new = malloc(sizeof *new);
    char *copy = malloc(call->out_received + 1);
    if (new == NULL || copy == NULL) return KREPRO_OUT_OF_MEMORY;
    memcpy(copy, layout, call->out_received);
    copy[call->out_received] = 0;
    *new = (struct krepro_kernel){
        .id = call->results[0],
        .module = call->results[1],
        .host_function = host_function,
        .parameter_count = (uint32_t)call->results[2],
        .parameter_bytes = (uint32_t)call->results[3],
        .parameters = (const struct krepro_parameter *)copy,
        .name = copy + table,
        .next = kernels,
    };
    *kernel = kernels = new;
    return KREPRO_SUCCESS;
}

static int find(uint64_t host_function, uint64_t module, const char *name, struct krepro_kernel **kernel) {
    struct krepro_call call = {.operation = KREPRO_KERNEL_BY_HOST, .argument_count = 1, .arguments = {host_function}};
    if (host_function == 0) {
        call.operation = KREPRO_KERNEL_BY_NAME;
        call.arguments[0] = module;
        call.in = name;
        call.in_size = strlen(name);
    }
    pthread_mutex_lock(&lock);
    int status = KREPRO_SUCCESS;
    *kernel = known(host_function, module, name);
    if (*kernel == NULL) status = look_up(&call, host_function, kernel);
    pthread_mutex_unlock(&lock);
    return status;
}

int krepro_kernel_by_host_function(const void *function, struct krepro_kernel **kernel) {
    return function == NULL ? KREPRO_INVALID_FUNCTION : find((uint64_t)(uintptr_t)function, 0, NULL, kernel);
}

int krepro_kernel_by_name(uint64_t module, const char *name, struct krepro_kernel **kernel) {
    return name == NULL || kernel == NULL ? KREPRO_INVALID_VALUE : find(0, module, name, kernel);
}

int krepro_launch_packed(const struct krepro_kernel *kernel, const struct krepro_launch *launch, const void *arguments,
                         size_t size) {
    struct krepro_call call = {
        .operation = KREPRO_LAUNCH,
        .argument_count = 12,
        .arguments = {kernel->id, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                      launch->block[1], launch->block[2], launch->cluster[0], launch->cluster[1], launch->cluster[2],
                      launch->dynamic_shared, launch->flags},
        .in = arguments,
        .in_size = size,
    };
    return krepro_call(&call);
}

int krepro_launch(const struct krepro_kernel *kernel, const struct krepro_launch *launch, void **arguments) {
    if (kernel == NULL) return KREPRO_INVALID_FUNCTION;
    if (kernel->parameter_count > 0 && arguments == NULL) return KREPRO_INVALID_VALUE;
    char *packed = calloc(1, kernel->parameter_bytes + 1);
    if (packed == NULL) return KREPRO_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        memcpy(packed + kernel->parameters[i].offset, arguments[i], kernel->parameters[i].size);
    int status = krepro_launch_packed(kernel, launch, packed, kernel->parameter_bytes);
    free(packed);
    return status;
}
