/* The one simulated device, its limits and settings. */

API cudaGetDeviceCount(int *count) {
    *count = 1;
    return accept();
}

API cudaGetDevice(int *device) {
    *device = 0;
    return KREPRO_SUCCESS;
}

API cudaSetDevice(int device) {
    return remember(device == 0 ? krepro_sticky_error() : KREPRO_INVALID_DEVICE);
}

API cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    return cudaSetDevice(device);
}

API cudaChooseDevice(int *device, const void *wanted) {
    (void)wanted;
    *device = 0;
    return KREPRO_SUCCESS;
}

static unsigned device_flags;

API cudaSetDeviceFlags(unsigned flags) {
    device_flags = flags;
    return accept();
}

API cudaGetDeviceFlags(unsigned *flags) {
    *flags = device_flags;
    return KREPRO_SUCCESS;
}

API cudaDeviceGetAttribute(int *value, int attribute, int device) {
    if (device != 0) return remember(KREPRO_INVALID_DEVICE);
    struct krepro_call call = {
        .operation = KREPRO_DEVICE_ATTRIBUTE,
        .argument_count = 1,
        .arguments = {(uint64_t)attribute},
    };
    int status = krepro_call(&call);
    if (status == KREPRO_SUCCESS) *value = (int)call.results[0];
    return remember(status);
}

API cudaDeviceGetPCIBusId(char *id, int size, int device) {
    static const char text[] = "0000:00:00.0";
    if (device != 0) return remember(KREPRO_INVALID_DEVICE);
    if (size < (int)sizeof text) return remember(KREPRO_INVALID_VALUE);
    memcpy(id, text, sizeof text);
    return KREPRO_SUCCESS;
}

API cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    (void)device, (void)peer;
    *can = 0;
    return KREPRO_SUCCESS;
}

API cudaDeviceSynchronize(void) {
    return remember(krepro_synchronize());
}

API cudaDeviceReset(void) {
    struct krepro_call call = {.operation = KREPRO_RESET};
    return remember(krepro_call(&call));
}

/* cudaLimit: stack, printf buffer, heap, sync depth, pending launches, L2 fetch granularity, persisting L2. */
static size_t limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

API cudaDeviceGetLimit(size_t *value, unsigned limit) {
    if (limit >= sizeof limits / sizeof limits[0]) return remember(215); /* cudaErrorUnsupportedLimit */
    *value = limits[limit];
    return KREPRO_SUCCESS;
}

API cudaDeviceSetLimit(unsigned limit, size_t value) {
    if (limit >= sizeof limits / sizeof limits[0]) return remember(215);
    limits[limit] = value;
    return accept();
}

API cudaDeviceSetCacheConfig(int config) {
    (void)config;
    return accept();
}

API cudaDeviceGetCacheConfig(int *config) {
    *config = 0;
    return KREPRO_SUCCESS;
}

API cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least != NULL) *least = 0;
    if (greatest != NULL) *greatest = -5;
    return KREPRO_SUCCESS;
}

API cudaCtxResetPersistingL2Cache(void) {
    return accept();
}

API cudaDriverGetVersion(int *version) {
    *version = KREPRO_DRIVER_VERSION;
    return KREPRO_SUCCESS;
}

API cudaRuntimeGetVersion(int *version) {
    *version = KREPRO_CUDA_VERSION;
    return KREPRO_SUCCESS;
}

API cudaProfilerStart(void) {
    return accept();
}

API cudaProfilerStop(void) {
    return accept();
}

/* The default memory pool is a name only: every allocation comes from the same memory. */
static char default_pool;

API cudaDeviceGetDefaultMemPool(void **pool, int device) {
    *pool = &default_pool;
    return remember(device == 0 ? KREPRO_SUCCESS : KREPRO_INVALID_DEVICE);
}

API cudaDeviceGetMemPool(void **pool, int device) {
    return cudaDeviceGetDefaultMemPool(pool, device);
}

API cudaMemPoolSetAttribute(void *pool, int attribute, void *value) {
    (void)pool, (void)attribute, (void)value;
    return accept();
}

API cudaMemPoolTrimTo(void *pool, size_t keep) {
    (void)pool, (void)keep;
    return accept();
}
