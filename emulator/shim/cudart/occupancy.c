/* How many blocks fit on a multiprocessor. */

API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int block_size,
                                                           size_t dynamic_shared, unsigned flags) {
    (void)flags;
    struct krepro_kernel *kernel;
    int status = kernel_of(function, &kernel);
    if (status != KREPRO_SUCCESS) return remember(status);
    struct krepro_call call = {
        .operation = KREPRO_OCCUPANCY,
        .argument_count = 3,
        .arguments = {kernel->id, (uint64_t)(int64_t)block_size, dynamic_shared},
    };
    status = krepro_call(&call);
    if (status == KREPRO_SUCCESS) *blocks = (int)call.results[0];
    return remember(status);
}

API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_size,
                                                  size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}

static int clusters(const void *function, const struct config *config, uint64_t *most_blocks, uint64_t *active) {
    struct krepro_kernel *kernel;
    int status = config == NULL ? KREPRO_INVALID_VALUE : kernel_of(function, &kernel);
    if (status != KREPRO_SUCCESS) return status;
    uint64_t size = 1;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        dim3 cluster = config->attributes[i].value.cluster;
        if (config->attributes[i].id == ATTRIBUTE_CLUSTER) size = (uint64_t)cluster.x * cluster.y * cluster.z;
    }
    struct krepro_call call = {
        .operation = KREPRO_CLUSTER_OCCUPANCY,
        .argument_count = 4,
        .arguments = {kernel->id, (uint64_t)config->block.x * config->block.y * config->block.z,
                      config->dynamic_shared, size},
    };
    status = krepro_call(&call);
    *most_blocks = call.results[0];
    *active = call.results[1];
    return status;
}

API cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const struct config *config) {
    uint64_t most, active;
    int status = clusters(function, config, &most, &active);
    if (status == KREPRO_SUCCESS) *size = (int)most;
    return remember(status);
}

API cudaOccupancyMaxActiveClusters(int *count, const void *function, const struct config *config) {
    uint64_t most, active;
    int status = clusters(function, config, &most, &active);
    if (status == KREPRO_SUCCESS) *count = (int)active;
    return remember(status);
}
