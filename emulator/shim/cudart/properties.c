/* The device's properties, whose structure and name changed between CUDA 12 and 13. */

#if KREPRO_CUDA_VERSION >= 13000
#define PROPERTIES cudaGetDeviceProperties
enum { PROPERTIES_SIZE = 1008 };
#else
#define PROPERTIES cudaGetDeviceProperties_v2
enum { PROPERTIES_SIZE = 1032 };
#endif

API PROPERTIES(void *properties, int device) {
    if (properties == NULL) return remember(KREPRO_INVALID_VALUE);
    if (device != 0) return remember(KREPRO_INVALID_DEVICE);
    struct krepro_call call = {
        .operation = KREPRO_DEVICE_PROPERTIES,
        .argument_count = 1,
        .arguments = {KREPRO_CUDA_VERSION / 1000},
        .out = properties,
        .out_size = PROPERTIES_SIZE,
    };
    return remember(krepro_call(&call));
}
