/* Memory: allocation, copies, fills, symbols. An asynchronous call is done when it returns. */

API cudaMalloc(void **memory, size_t size) {
    uint64_t address = 0;
    int status = memory == NULL ? KREPRO_INVALID_VALUE : krepro_allocate(size, &address);
    if (status == KREPRO_SUCCESS) *memory = (void *)(uintptr_t)address;
    return remember(status);
}

API cudaMallocAsync(void **memory, size_t size, void *stream) {
    (void)stream;
    return cudaMalloc(memory, size);
}

API cudaMallocFromPoolAsync(void **memory, size_t size, void *pool, void *stream) {
    (void)pool, (void)stream;
    return cudaMalloc(memory, size);
}

API cudaMallocPitch(void **memory, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + 511) & ~(size_t)511;
    return cudaMalloc(memory, *pitch * height);
}

API cudaFree(void *memory) {
    return remember(krepro_free((uint64_t)(uintptr_t)memory));
}

API cudaFreeAsync(void *memory, void *stream) {
    (void)stream;
    return cudaFree(memory);
}

API cudaHostAlloc(void **memory, size_t size, unsigned flags) {
    return remember(krepro_host_allocate(size, flags, memory));
}

API cudaMallocHost(void **memory, size_t size) {
    return cudaHostAlloc(memory, size, 0);
}

API cudaFreeHost(void *memory) {
    return remember(krepro_host_free(memory));
}

API cudaHostGetFlags(unsigned *flags, void *memory) {
    return remember(krepro_host_flags(memory, flags));
}

API cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    (void)device, (void)host, (void)flags;
    return remember(krepro_refuse("cudaHostGetDevicePointer", "kernels cannot reach host memory on the CPU backend; "
                                                              "copy with cudaMemcpy instead"));
}

API cudaHostRegister(void *memory, size_t size, unsigned flags) {
    (void)memory, (void)size, (void)flags;
    return accept();
}

API cudaHostUnregister(void *memory) {
    (void)memory;
    return accept();
}

API cudaMallocManaged(void **memory, size_t size, unsigned flags) {
    (void)memory, (void)size, (void)flags;
    return remember(krepro_refuse("cudaMallocManaged", "the host cannot reach device memory on the CPU backend; "
                                                       "use cudaMalloc and cudaMemcpy instead"));
}

API cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    struct krepro_call call = {.operation = KREPRO_MEMORY_INFO};
    int status = krepro_call(&call);
    *free_bytes = call.results[0];
    *total = call.results[1];
    return remember(status);
}

API cudaMemcpy(void *to, const void *from, size_t size, int kind) {
    return remember(krepro_copy(linear(to), linear(from), size, 1, kind));
}

API cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream) {
    (void)stream;
    return cudaMemcpy(to, from, size, kind);
}

API cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
    if (to_device != 0 || from_device != 0) return remember(KREPRO_INVALID_DEVICE);
    return cudaMemcpy(to, from, size, KREPRO_DEVICE_TO_DEVICE);
}

API cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                 int kind) {
    return remember(krepro_copy(pitched(to, to_pitch), pitched(from, from_pitch), width, height, kind));
}

API cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      int kind, void *stream) {
    (void)stream;
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

API cudaMemset(void *to, int value, size_t size) {
    return remember(krepro_fill(linear(to), (unsigned char)value, 1, size, 1));
}

API cudaMemsetAsync(void *to, int value, size_t size, void *stream) {
    (void)stream;
    return cudaMemset(to, value, size);
}

API cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return remember(krepro_fill(pitched(to, pitch), (unsigned char)value, 1, width, height));
}

API cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream) {
    (void)stream;
    return cudaMemset2D(to, pitch, value, width, height);
}

API cudaMemPrefetchAsync(const void *memory, size_t size, int64_t location, unsigned flags, void *stream) {
    (void)memory, (void)size, (void)location, (void)flags, (void)stream;
    return accept();
}

API cudaMemAdvise(const void *memory, size_t size, int advice, int64_t location) {
    (void)memory, (void)size, (void)advice, (void)location;
    return accept();
}

/* ---- symbols: the address of the host's shadow variable names one on the device ---- */

static int symbol(const void *host_variable, uint64_t *address, uint64_t *size) {
    struct krepro_call call = {
        .operation = KREPRO_SYMBOL,
        .argument_count = 1,
        .arguments = {(uint64_t)(uintptr_t)host_variable},
    };
    int status = krepro_call(&call);
    *address = call.results[0];
    *size = call.results[1];
    return status;
}

API cudaGetSymbolAddress(void **memory, const void *host_variable) {
    uint64_t address, size;
    int status = symbol(host_variable, &address, &size);
    if (status == KREPRO_SUCCESS) *memory = (void *)(uintptr_t)address;
    return remember(status);
}

API cudaGetSymbolSize(size_t *bytes, const void *host_variable) {
    uint64_t address, size;
    int status = symbol(host_variable, &address, &size);
    if (status == KREPRO_SUCCESS) *bytes = size;
    return remember(status);
}

static int within(uint64_t whole, size_t size, size_t offset) {
    return offset <= whole && size <= whole - offset;
}

API cudaMemcpyToSymbol(const void *host_variable, const void *from, size_t size, size_t offset, int kind) {
    uint64_t address, whole;
    int status = symbol(host_variable, &address, &whole);
    if (status != KREPRO_SUCCESS) return remember(status);
    if (!within(whole, size, offset)) return remember(KREPRO_INVALID_VALUE);
    struct krepro_region to = {address + offset, 0};
    return remember(krepro_copy(to, linear(from), size, 1, kind));
}

API cudaMemcpyToSymbolAsync(const void *host_variable, const void *from, size_t size, size_t offset, int kind,
                            void *stream) {
    (void)stream;
    return cudaMemcpyToSymbol(host_variable, from, size, offset, kind);
}

API cudaMemcpyFromSymbol(void *to, const void *host_variable, size_t size, size_t offset, int kind) {
    uint64_t address, whole;
    int status = symbol(host_variable, &address, &whole);
    if (status != KREPRO_SUCCESS) return remember(status);
    if (!within(whole, size, offset)) return remember(KREPRO_INVALID_VALUE);
    struct krepro_region from = {address + offset, 0};
    return remember(krepro_copy(linear(to), from, size, 1, kind));
}

API cudaMemcpyFromSymbolAsync(void *to, const void *host_variable, size_t size, size_t offset, int kind,
                              void *stream) {
    (void)stream;
    return cudaMemcpyFromSymbol(to, host_variable, size, offset, kind);
}

/* ---- what a pointer is ---- */

struct pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
#if KREPRO_CUDA_VERSION >= 13000
    long reserved[8];
#endif
};

API cudaPointerGetAttributes(struct pointer_attributes *out, const void *pointer) {
    *out = (struct pointer_attributes){.type = MEMORY_UNREGISTERED, .device = -2};
    unsigned flags;
    if (krepro_is_device((uint64_t)(uintptr_t)pointer, NULL, NULL))
        *out = (struct pointer_attributes){.type = MEMORY_DEVICE, .device_pointer = (void *)pointer};
    else if (krepro_host_flags(pointer, &flags) == KREPRO_SUCCESS)
        *out = (struct pointer_attributes){.type = MEMORY_HOST, .host_pointer = (void *)pointer};
    return accept();
}
