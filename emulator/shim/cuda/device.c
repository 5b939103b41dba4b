/* Initialisation, the one simulated device and its one context. */

static char the_context;
static void *const context = &the_context;

API cuInit(unsigned flags) {
    return flags == 0 ? accept() : KREPRO_INVALID_VALUE;
}

API cuDriverGetVersion(int *version) {
    *version = KREPRO_DRIVER_VERSION;
    return KREPRO_SUCCESS;
}

API cuDeviceGet(int *device, int ordinal) {
    *device = 0;
    return ordinal == 0 ? KREPRO_SUCCESS : KREPRO_INVALID_DEVICE;
}

API cuDeviceGetCount(int *count) {
    *count = 1;
    return KREPRO_SUCCESS;
}

API cuDeviceGetAttribute(int *value, int attribute, int device) {
    if (device != 0) return KREPRO_INVALID_DEVICE;
    struct krepro_call call = {
        .operation = KREPRO_DEVICE_ATTRIBUTE,
        .argument_count = 1,
        .arguments = {(uint64_t)attribute},
    };
    int status = krepro_call(&call);
    if (status == KREPRO_SUCCESS) *value = (int)call.results[0];
    return driver(status);
}

API cuDeviceComputeCapability(int *major, int *minor, int device) {
    int status = cuDeviceGetAttribute(major, 75, device);
    return status == KREPRO_SUCCESS ? cuDeviceGetAttribute(minor, 76, device) : status;
}

API cuDeviceGetName(char *name, int size, int device) {
    if (device != 0) return KREPRO_INVALID_DEVICE;
    if (size <= 0) return KREPRO_INVALID_VALUE;
    memset(name, 0, (size_t)size);
    struct krepro_call call = {.operation = KREPRO_DEVICE_NAME, .out = name, .out_size = (uint64_t)size - 1};
    return driver(krepro_call(&call));
}

API cuDeviceGetUuid_v2(void *uuid, int device) {
    memset(uuid, 0, 16);
    return device == 0 ? KREPRO_SUCCESS : KREPRO_INVALID_DEVICE;
}

API cuDeviceGetUuid(void *uuid, int device) {
    return cuDeviceGetUuid_v2(uuid, device);
}

API cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    struct krepro_call call = {.operation = KREPRO_MEMORY_INFO};
    int status = krepro_call(&call);
    *free_bytes = call.results[0];
    *total = call.results[1];
    return driver(status);
}

API cuDeviceTotalMem_v2(size_t *bytes, int device) {
    size_t free_bytes;
    return device == 0 ? cuMemGetInfo_v2(&free_bytes, bytes) : KREPRO_INVALID_DEVICE;
}

/* ---- contexts ---- */

static __thread void *current;

API cuDevicePrimaryCtxRetain(void **out, int device) {
    *out = context;
    return device == 0 ? accept() : KREPRO_INVALID_DEVICE;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
    return device == 0 ? KREPRO_SUCCESS : KREPRO_INVALID_DEVICE;
}

API cuDevicePrimaryCtxRelease(int device) {
    return cuDevicePrimaryCtxRelease_v2(device);
}

API cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    (void)flags;
    return device == 0 ? KREPRO_SUCCESS : KREPRO_INVALID_DEVICE;
}

API cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    *flags = 0;
    *active = 1;
    return device == 0 ? KREPRO_SUCCESS : KREPRO_INVALID_DEVICE;
}

API cuDevicePrimaryCtxReset_v2(int device) {
    struct krepro_call call = {.operation = KREPRO_RESET};
    return device == 0 ? driver(krepro_call(&call)) : KREPRO_INVALID_DEVICE;
}

API cuCtxCreate_v2(void **out, unsigned flags, int device) {
    (void)flags;
    *out = current = context;
    return device == 0 ? accept() : KREPRO_INVALID_DEVICE;
}

API cuCtxCreate_v4(void **out, void *parameters, unsigned flags, int device) {
    (void)parameters;
    return cuCtxCreate_v2(out, flags, device);
}

API cuCtxDestroy_v2(void *which) {
    (void)which;
    current = NULL;
    return KREPRO_SUCCESS;
}

API cuCtxGetCurrent(void **out) {
    *out = current;
    return KREPRO_SUCCESS;
}

API cuCtxSetCurrent(void *which) {
    current = which;
    return accept();
}

API cuCtxPushCurrent_v2(void *which) {
    return cuCtxSetCurrent(which);
}

API cuCtxPopCurrent_v2(void **out) {
    if (out != NULL) *out = current;
    current = NULL;
    return KREPRO_SUCCESS;
}

API cuCtxGetDevice(int *device) {
    *device = 0;
    return KREPRO_SUCCESS;
}

API cuCtxGetDevice_v2(int *device, void *which) {
    (void)which;
    return cuCtxGetDevice(device);
}

API cuCtxGetFlags(unsigned *flags) {
    *flags = 0;
    return KREPRO_SUCCESS;
}

API cuCtxSynchronize(void) {
    return driver(krepro_synchronize());
}

API cuCtxSynchronize_v2(void *which) {
    (void)which;
    return cuCtxSynchronize();
}

API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    if (least != NULL) *least = 0;
    if (greatest != NULL) *greatest = -5;
    return KREPRO_SUCCESS;
}

API cuCtxSetCacheConfig(int config) {
    (void)config;
    return accept();
}

/* ---- errors ---- */

static int text_of(uint32_t operation, int error, const char **text) {
    *text = krepro_string(operation, (uint64_t)(uint32_t)error);
    if (*text != NULL && **text != 0) return KREPRO_SUCCESS;
    *text = NULL;
    return KREPRO_INVALID_VALUE;
}

API cuGetErrorName(int error, const char **name) {
    return text_of(KREPRO_DRIVER_ERROR_NAME, error, name);
}

API cuGetErrorString(int error, const char **text) {
    return text_of(KREPRO_ERROR_TEXT, error, text);
}
