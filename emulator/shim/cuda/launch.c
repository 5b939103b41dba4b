/* Launches and occupancy. */

struct attribute {
    int id;
    int padding;
    union {
        struct {
            unsigned x, y, z;
        } cluster;
        int flag;
        char bytes[64];
    } value;
};

struct config {
    unsigned grid[3], block[3], dynamic_shared;
    void *stream;
    const struct attribute *attributes;
    unsigned attribute_count;
};

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

static int launch_any(struct krepro_kernel *function, const struct krepro_launch *launch, void **parameters,
                      void **extra) {
    if (function == NULL) return KREPRO_INVALID_HANDLE;
    if (extra == NULL) return driver(krepro_launch(function, launch, parameters));
    if (parameters != NULL) return KREPRO_INVALID_VALUE;
    /* CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE, in any order, up to CU_LAUNCH_PARAM_END. */
    const void *packed = NULL;
    size_t size = 0;
    for (; *extra != NULL; extra += 2) {
        if (host(extra[0]) == 1) packed = extra[1];
        if (host(extra[0]) == 2) size = *(size_t *)extra[1];
    }
    if (packed == NULL && size > 0) return KREPRO_INVALID_VALUE;
    return driver(krepro_launch_packed(function, launch, packed, size));
}

API cuLaunchKernel(struct krepro_kernel *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned dynamic_shared, void *stream, void **parameters,
                   void **extra) {
    (void)stream;
    struct krepro_launch launch = {
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_shared = dynamic_shared,
    };
    return launch_any(function, &launch, parameters, extra);
}

API cuLaunchCooperativeKernel(struct krepro_kernel *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_shared,
                              void *stream, void **parameters) {
    (void)stream;
    struct krepro_launch launch = {
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_shared = dynamic_shared,
        .flags = KREPRO_LAUNCH_COOPERATIVE,
    };
    return launch_any(function, &launch, parameters, NULL);
}

API cuLaunchKernelEx(const struct config *config, struct krepro_kernel *function, void **parameters, void **extra) {
    if (config == NULL) return KREPRO_INVALID_VALUE;
    struct krepro_launch launch = {
        .grid = {config->grid[0], config->grid[1], config->grid[2]},
        .block = {config->block[0], config->block[1], config->block[2]},
        .dynamic_shared = config->dynamic_shared,
    };
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
    return launch_any(function, &launch, parameters, extra);
}

API cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    int status = krepro_stream_properties(stream, NULL, NULL, NULL);
    if (status == KREPRO_SUCCESS) function(data);
    return driver(status);
}

API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, struct krepro_kernel *function, int block_size,
                                                         size_t dynamic_shared, unsigned flags) {
    (void)flags;
    if (function == NULL) return KREPRO_INVALID_HANDLE;
    struct krepro_call call = {
        .operation = KREPRO_OCCUPANCY,
        .argument_count = 3,
        .arguments = {function->id, (uint64_t)(int64_t)block_size, dynamic_shared},
    };
    int status = krepro_call(&call);
    if (status == KREPRO_SUCCESS) *blocks = (int)call.results[0];
    return driver(status);
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct krepro_kernel *function, int block_size,
                                                size_t dynamic_shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}

static int clusters(struct krepro_kernel *function, const struct config *config, uint64_t *most, uint64_t *active) {
    if (function == NULL || config == NULL) return KREPRO_INVALID_HANDLE;
    uint64_t size = 1;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const struct attribute *a = &config->attributes[i];
        if (a->id == ATTRIBUTE_CLUSTER) size = (uint64_t)a->value.cluster.x * a->value.cluster.y * a->value.cluster.z;
    }
    struct krepro_call call = {
        .operation = KREPRO_CLUSTER_OCCUPANCY,
        .argument_count = 4,
        .arguments = {function->id, (uint64_t)config->block[0] * config->block[1] * config->block[2],
                      config->dynamic_shared, size},
    };
    int status = krepro_call(&call);
    *most = call.results[0];
    *active = call.results[1];
    return driver(status);
}

API cuOccupancyMaxPotentialClusterSize(int *size, struct krepro_kernel *function, const struct config *config) {
    uint64_t most, active;
    int status = clusters(function, config, &most, &active);
    if (status == KREPRO_SUCCESS) *size = (int)most;
    return status;
}

API cuOccupancyMaxActiveClusters(int *count, struct krepro_kernel *function, const struct config *config) {
    uint64_t most, active;
    int status = clusters(function, config, &most, &active);
    if (status == KREPRO_SUCCESS) *count = (int)active;
    return status;
}
