/* What nvcc's generated host code calls before main and around <<<>>>. */

KREPRO_EXPORT void **__cudaRegisterFatBinary(const void *wrapper) {
    uint64_t *module = calloc(1, sizeof *module);
    if (module != NULL) remember(krepro_load_image(wrapper, module));
    return (void **)module;
}

KREPRO_EXPORT void __cudaRegisterFatBinaryEnd(void **module) {
    (void)module;
}

KREPRO_EXPORT void __cudaUnregisterFatBinary(void **module) {
    (void)module; /* at exit; krepro forgets everything when the connection closes */
}

KREPRO_EXPORT char __cudaInitModule(void **module) {
    (void)module;
    return 1;
}

KREPRO_EXPORT void __cudaRegisterFunction(void **module, const char *host_function, char *device_function,
                                          const char *name, int thread_limit, void *thread, void *block,
                                          dim3 *block_size, dim3 *grid_size, int *warp_size) {
    (void)device_function, (void)thread_limit, (void)thread, (void)block, (void)block_size, (void)grid_size;
    (void)warp_size;
    struct krepro_call call = {
        .operation = KREPRO_REGISTER_FUNCTION,
        .argument_count = 2,
        .arguments = {*(uint64_t *)module, (uint64_t)(uintptr_t)host_function},
        .in = name,
        .in_size = strlen(name),
    };
    remember(krepro_call(&call));
}

KREPRO_EXPORT void __cudaRegisterVar(void **module, char *host_variable, char *device_address, const char *name,
                                     int external, size_t size, int constant, int global) {
    (void)device_address, (void)external, (void)constant, (void)global;
    struct krepro_call call = {
        .operation = KREPRO_REGISTER_VARIABLE,
        .argument_count = 3,
        .arguments = {*(uint64_t *)module, (uint64_t)(uintptr_t)host_variable, size},
        .in = name,
        .in_size = strlen(name),
    };
    remember(krepro_call(&call));
}

struct configuration {
    dim3 grid, block;
    size_t dynamic_shared;
    void *stream;
};
static __thread struct configuration pushed[16];
static __thread unsigned pushed_count;

KREPRO_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared, void *stream) {
    if (pushed_count == sizeof pushed / sizeof pushed[0]) return KREPRO_INVALID_CONFIGURATION;
    pushed[pushed_count++] = (struct configuration){grid, block, dynamic_shared, stream};
    return KREPRO_SUCCESS;
}

API __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_shared, void *stream) {
    if (pushed_count == 0) return remember(52); /* cudaErrorMissingConfiguration */
    struct configuration *top = &pushed[--pushed_count];
    *grid = top->grid;
    *block = top->block;
    *dynamic_shared = top->dynamic_shared;
    *(void **)stream = top->stream;
    return KREPRO_SUCCESS;
}

API __cudaGetKernel(struct krepro_kernel **kernel, const void *function) {
    return remember(krepro_kernel_by_host_function(function, kernel));
}
