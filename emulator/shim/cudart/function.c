/* Attributes of kernels, and libraries loaded at run time. */

struct function_attributes {
    size_t shared_bytes, constant_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout, cluster_must_be_set;
    int cluster[3], non_portable_cluster, reserved[16];
};

static int function_attribute(const struct krepro_kernel *kernel, int attribute, int *value) {
    struct krepro_call call = {
        .operation = KREPRO_FUNCTION_ATTRIBUTE,
        .argument_count = 2,
        .arguments = {kernel->id, (uint64_t)attribute},
    };
    int status = krepro_call(&call);
    *value = (int)call.results[0];
    return status;
}

API cudaFuncGetAttributes(struct function_attributes *out, const void *function) {
    struct krepro_kernel *kernel;
    int status = kernel_of(function, &kernel);
    if (status != KREPRO_SUCCESS) return remember(status);
    int value[15];
    for (int i = 0; i < 15 && status == KREPRO_SUCCESS; i++) status = function_attribute(kernel, i, &value[i]);
    *out = (struct function_attributes){
        .shared_bytes = (size_t)value[1],
        .constant_bytes = (size_t)value[2],
        .local_bytes = (size_t)value[3],
        .max_threads = value[0],
        .registers = value[4],
        .ptx_version = value[5],
        .binary_version = value[6],
        .cache_mode = value[7],
        .max_dynamic_shared = value[8],
        .carveout = value[9],
        .cluster_must_be_set = value[10],
        .cluster = {value[11], value[12], value[13]},
        .non_portable_cluster = value[14],
    };
    return remember(status);
}

static int set_attribute(const struct krepro_kernel *kernel, int attribute, int value) {
    struct krepro_call call = {
        .operation = KREPRO_SET_FUNCTION_ATTRIBUTE,
        .argument_count = 3,
        .arguments = {kernel->id, (uint64_t)attribute, (uint64_t)(int64_t)value},
    };
    return krepro_call(&call);
}

API cudaFuncSetAttribute(const void *function, int attribute, int value) {
    struct krepro_kernel *kernel;
    int status = kernel_of(function, &kernel);
    return remember(status == KREPRO_SUCCESS ? set_attribute(kernel, attribute, value) : status);
}

API cudaKernelSetAttributeForDevice(const struct krepro_kernel *kernel, int attribute, int value, int device) {
    if (kernel == NULL) return remember(KREPRO_INVALID_HANDLE);
    return remember(device == 0 ? set_attribute(kernel, attribute, value) : KREPRO_INVALID_DEVICE);
}

API cudaFuncSetCacheConfig(const void *function, int config) {
    (void)config;
    struct krepro_kernel *kernel;
    return remember(kernel_of(function, &kernel));
}

API cudaFuncGetName(const char **name, const void *function) {
    struct krepro_kernel *kernel;
    int status = kernel_of(function, &kernel);
    if (status == KREPRO_SUCCESS) *name = kernel->name;
    return remember(status);
}

API cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size) {
    struct krepro_kernel *kernel;
    int status = kernel_of(function, &kernel);
    if (status != KREPRO_SUCCESS) return remember(status);
    if (index >= kernel->parameter_count) return remember(KREPRO_INVALID_VALUE);
    *offset = kernel->parameters[index].offset;
    if (size != NULL) *size = kernel->parameters[index].size;
    return KREPRO_SUCCESS;
}

API cudaGetKernel(struct krepro_kernel **kernel, const void *function) {
    return remember(kernel_of(function, kernel));
}

API cudaGetFuncBySymbol(struct krepro_kernel **kernel, const void *function) {
    return remember(kernel_of(function, kernel));
}

/* ---- libraries: a cudaLibrary_t is a module's id ---- */

API cudaLibraryLoadData(void **library, const void *image, const void *jit_options, void **jit_values,
                        unsigned jit_count, const void *options, void **values, unsigned count) {
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    uint64_t module = 0;
    int status = krepro_load_image(image, &module);
    *library = (void *)(uintptr_t)module;
    return remember(status);
}

API cudaLibraryLoadFromFile(void **library, const char *path, const void *jit_options, void **jit_values,
                            unsigned jit_count, const void *options, void **values, unsigned count) {
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    uint64_t module = 0;
    int status = krepro_load_file(path, &module);
    *library = (void *)(uintptr_t)module;
    return remember(status);
}

API cudaLibraryUnload(void *library) {
    return remember(krepro_unload((uint64_t)(uintptr_t)library));
}

API cudaLibraryGetKernel(struct krepro_kernel **kernel, void *library, const char *name) {
    return remember(krepro_kernel_by_name((uint64_t)(uintptr_t)library, name, kernel));
}

API cudaLibraryGetKernelCount(unsigned *count, void *library) {
    struct krepro_call call = {
        .operation = KREPRO_KERNEL_COUNT,
        .argument_count = 1,
        .arguments = {(uint64_t)(uintptr_t)library},
    };
    int status = krepro_call(&call);
    *count = (unsigned)call.results[0];
    return remember(status);
}

API cudaLibraryEnumerateKernels(struct krepro_kernel **kernels, unsigned count, void *library) {
    for (unsigned i = 0; i < count; i++) {
        char name[8192] = "";
        struct krepro_call call = {
            .operation = KREPRO_KERNEL_NAME,
            .argument_count = 2,
            .arguments = {(uint64_t)(uintptr_t)library, i},
            .out = name,
            .out_size = sizeof name - 1,
        };
        int status = krepro_call(&call);
        if (status == KREPRO_SUCCESS)
            status = krepro_kernel_by_name((uint64_t)(uintptr_t)library, name, &kernels[i]);
        if (status != KREPRO_SUCCESS) return remember(status);
    }
    return KREPRO_SUCCESS;
}

API cudaLibraryGetGlobal(void **address, size_t *size, void *library, const char *name) {
    struct krepro_call call = {
        .operation = KREPRO_GLOBAL,
        .argument_count = 1,
        .arguments = {(uint64_t)(uintptr_t)library},
        .in = name,
        .in_size = strlen(name),
    };
    int status = krepro_call(&call);
    if (status == KREPRO_SUCCESS && address != NULL) *address = (void *)(uintptr_t)call.results[0];
    if (status == KREPRO_SUCCESS && size != NULL) *size = call.results[1];
    return remember(status);
}
