/* Launches of every kind end in krepro_launch. */

struct attribute {
    int id;
    int padding;
    union {
        dim3 cluster;
        int flag;
        char bytes[64];
    } value;
};

struct config {
    dim3 grid, block;
    size_t dynamic_shared;
    void *stream;
    const struct attribute *attributes;
    unsigned attribute_count;
};

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

static struct krepro_launch launch_of(dim3 grid, dim3 block, size_t dynamic_shared, uint32_t flags) {
    return (struct krepro_launch){
        .grid = {grid.x, grid.y, grid.z},
        .block = {block.x, block.y, block.z},
        .dynamic_shared = dynamic_shared,
        .flags = flags,
    };
}

API __cudaLaunchKernel(struct krepro_kernel *kernel, dim3 grid, dim3 block, void **arguments, size_t dynamic_shared,
                       void *stream) {
    (void)stream;
    struct krepro_launch launch = launch_of(grid, block, dynamic_shared, 0);
    return remember(krepro_launch(kernel, &launch, arguments));
}

/* A host function's address, or a handle from __cudaGetKernel or cudaLibraryGetKernel: CUDA takes both here. */
static int kernel_of(const void *function, struct krepro_kernel **kernel) {
    return krepro_kernel_by_host_function(function, kernel);
}

API cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t dynamic_shared,
                     void *stream) {
    struct krepro_kernel *kernel;
    int status = kernel_of(function, &kernel);
    return status == KREPRO_SUCCESS ? __cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared, stream)
                                    : remember(status);
}

API cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t dynamic_shared,
                                void *stream) {
    (void)stream;
    struct krepro_kernel *kernel;
    int status = kernel_of(function, &kernel);
    if (status != KREPRO_SUCCESS) return remember(status);
    struct krepro_launch launch = launch_of(grid, block, dynamic_shared, KREPRO_LAUNCH_COOPERATIVE);
    return remember(krepro_launch(kernel, &launch, arguments));
}

API cudaLaunchKernelExC(const struct config *config, const void *function, void **arguments) {
    struct krepro_kernel *kernel;
    if (config == NULL) return remember(KREPRO_INVALID_VALUE);
    int status = kernel_of(function, &kernel);
    if (status != KREPRO_SUCCESS) return remember(status);
    struct krepro_launch launch = launch_of(config->grid, config->block, config->dynamic_shared, 0);
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const struct attribute *attribute = &config->attributes[i];
        if (attribute->id == ATTRIBUTE_CLUSTER) {
            launch.cluster[0] = attribute->value.cluster.x;
            launch.cluster[1] = attribute->value.cluster.y;
            launch.cluster[2] = attribute->value.cluster.z;
        } else if (attribute->id == ATTRIBUTE_COOPERATIVE && attribute->value.flag) {
            launch.flags |= KREPRO_LAUNCH_COOPERATIVE;
        } /* the others are hints, or order launches that never overlap here */
    }
    return remember(krepro_launch(kernel, &launch, arguments));
}

API cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    int status = krepro_stream_properties(stream, NULL, NULL, NULL);
    if (status == KREPRO_SUCCESS) function(data);
    return remember(status);
}

API cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *data, unsigned flags) {
    (void)flags;
    int status = krepro_stream_properties(stream, NULL, NULL, NULL);
    if (status == KREPRO_SUCCESS) callback(stream, krepro_synchronize(), data);
    return remember(status);
}
