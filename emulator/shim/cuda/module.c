/* Modules and libraries (both are a module's id) and kernels. */

static void *handle(uint64_t module) {
    return (void *)(uintptr_t)module;
}

API cuModuleLoadDataEx(void **module, const void *image, unsigned count, void *options, void **values) {
    (void)count, (void)options, (void)values;
    uint64_t id = 0;
    int status = krepro_load_image(image, &id);
    *module = handle(id);
    return driver(status);
}

API cuModuleLoadData(void **module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

API cuModuleLoadFatBinary(void **module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

API cuModuleLoad(void **module, const char *path) {
    uint64_t id = 0;
    int status = krepro_load_file(path, &id);
    *module = handle(id);
    return driver(status);
}

API cuModuleUnload(void *module) {
    return driver(krepro_unload(host(module)));
}

API cuModuleGetFunction(struct krepro_kernel **function, void *module, const char *name) {
    return driver(krepro_kernel_by_name(host(module), name, function));
}

API cuModuleGetGlobal_v2(uint64_t *address, size_t *size, void *module, const char *name) {
    if (name == NULL) return KREPRO_INVALID_VALUE;
    struct krepro_call call = {
        .operation = KREPRO_GLOBAL,
        .argument_count = 1,
        .arguments = {host(module)},
        .in = name,
        .in_size = strlen(name),
    };
    int status = krepro_call(&call);
    if (status == KREPRO_SUCCESS && address != NULL) *address = call.results[0];
    if (status == KREPRO_SUCCESS && size != NULL) *size = call.results[1];
    return driver(status);
}

API cuModuleGetLoadingMode(int *mode) {
    *mode = 2; /* CU_MODULE_LAZY_LOADING */
    return KREPRO_SUCCESS;
}

API cuLibraryLoadData(void **library, const void *image, void *jit_options, void **jit_values, unsigned jit_count,
                      void *options, void **values, unsigned count) {
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return cuModuleLoadData(library, image);
}

API cuLibraryLoadFromFile(void **library, const char *path, void *jit_options, void **jit_values, unsigned jit_count,
                          void *options, void **values, unsigned count) {
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return cuModuleLoad(library, path);
}

API cuLibraryUnload(void *library) {
    return cuModuleUnload(library);
}

API cuLibraryGetKernel(struct krepro_kernel **kernel, void *library, const char *name) {
    return cuModuleGetFunction(kernel, library, name);
}

API cuLibraryGetModule(void **module, void *library) {
    *module = library;
    return KREPRO_SUCCESS;
}

API cuLibraryGetGlobal(uint64_t *address, size_t *size, void *library, const char *name) {
    return cuModuleGetGlobal_v2(address, size, library, name);
}

API cuLibraryGetKernelCount(unsigned *count, void *library) {
    struct krepro_call call = {.operation = KREPRO_KERNEL_COUNT, .argument_count = 1, .arguments = {host(library)}};
    int status = krepro_call(&call);
    *count = (unsigned)call.results[0];
    return driver(status);
}

API cuModuleGetFunctionCount(unsigned *count, void *module) {
    return cuLibraryGetKernelCount(count, module);
}

API cuLibraryEnumerateKernels(struct krepro_kernel **kernels, unsigned count, void *library) {
    for (unsigned i = 0; i < count; i++) {
        char name[8192] = "";
        struct krepro_call call = {
            .operation = KREPRO_KERNEL_NAME,
            .argument_count = 2,
            .arguments = {host(library), i},
            .out = name,
            .out_size = sizeof name - 1,
        };
        int status = krepro_call(&call);
        if (status == KREPRO_SUCCESS) status = krepro_kernel_by_name(host(library), name, &kernels[i]);
        if (status != KREPRO_SUCCESS) return driver(status);
    }
    return KREPRO_SUCCESS;
}

API cuModuleEnumerateFunctions(struct krepro_kernel **functions, unsigned count, void *module) {
    return cuLibraryEnumerateKernels(functions, count, module);
}

API cuKernelGetFunction(struct krepro_kernel **function, struct krepro_kernel *kernel) {
    *function = kernel;
    return kernel == NULL ? KREPRO_INVALID_HANDLE : KREPRO_SUCCESS;
}

API cuKernelGetLibrary(void **library, struct krepro_kernel *kernel) {
    if (kernel == NULL) return KREPRO_INVALID_HANDLE;
    *library = handle(kernel->module);
    return KREPRO_SUCCESS;
}

API cuFuncGetModule(void **module, struct krepro_kernel *function) {
    return cuKernelGetLibrary(module, function);
}

API cuFuncLoad(struct krepro_kernel *function) {
    return function == NULL ? KREPRO_INVALID_HANDLE : accept();
}

API cuFuncIsLoaded(int *state, struct krepro_kernel *function) {
    *state = 1;
    return function == NULL ? KREPRO_INVALID_HANDLE : KREPRO_SUCCESS;
}

API cuFuncGetName(const char **name, struct krepro_kernel *function) {
    if (function == NULL) return KREPRO_INVALID_HANDLE;
    *name = function->name;
    return KREPRO_SUCCESS;
}

API cuKernelGetName(const char **name, struct krepro_kernel *kernel) {
    return cuFuncGetName(name, kernel);
}

API cuFuncGetParamInfo(struct krepro_kernel *function, size_t index, size_t *offset, size_t *size) {
    if (function == NULL) return KREPRO_INVALID_HANDLE;
    if (index >= function->parameter_count) return KREPRO_INVALID_VALUE;
    *offset = function->parameters[index].offset;
    if (size != NULL) *size = function->parameters[index].size;
    return KREPRO_SUCCESS;
}

API cuKernelGetParamInfo(struct krepro_kernel *kernel, size_t index, size_t *offset, size_t *size) {
    return cuFuncGetParamInfo(kernel, index, offset, size);
}

API cuFuncGetAttribute(int *value, int attribute, struct krepro_kernel *function) {
    if (function == NULL) return KREPRO_INVALID_HANDLE;
    struct krepro_call call = {
        .operation = KREPRO_FUNCTION_ATTRIBUTE,
        .argument_count = 2,
        .arguments = {function->id, (uint64_t)attribute},
    };
    int status = krepro_call(&call);
    if (status == KREPRO_SUCCESS) *value = (int)call.results[0];
    return driver(status);
}

API cuKernelGetAttribute(int *value, int attribute, struct krepro_kernel *kernel, int device) {
    return device == 0 ? cuFuncGetAttribute(value, attribute, kernel) : KREPRO_INVALID_DEVICE;
}

API cuFuncSetAttribute(struct krepro_kernel *function, int attribute, int value) {
    if (function == NULL) return KREPRO_INVALID_HANDLE;
    struct krepro_call call = {
        .operation = KREPRO_SET_FUNCTION_ATTRIBUTE,
        .argument_count = 3,
        .arguments = {function->id, (uint64_t)attribute, (uint64_t)(int64_t)value},
    };
    return driver(krepro_call(&call));
}

API cuKernelSetAttribute(int attribute, int value, struct krepro_kernel *kernel, int device) {
    return device == 0 ? cuFuncSetAttribute(kernel, attribute, value) : KREPRO_INVALID_DEVICE;
}

API cuFuncSetCacheConfig(struct krepro_kernel *function, int config) {
    (void)config;
    return function == NULL ? KREPRO_INVALID_HANDLE : accept();
}

API cuKernelSetCacheConfig(struct krepro_kernel *kernel, int config, int device) {
    (void)device;
    return cuFuncSetCacheConfig(kernel, config);
}
