/* Driver functions by name: those of our libcuda, which lies beside this library. */
#include <dlfcn.h>

API cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, unsigned long long flags,
                                     int *found) {
    (void)flags;
    static int (*get)(const char *, void **, int, uint64_t, int *);
    if (get == NULL) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        *(void **)&get = driver == NULL ? NULL : dlsym(driver, "cuGetProcAddress_v2");
        if (get == NULL) return remember(KREPRO_INITIALIZATION);
    }
    int result = 1; /* cudaDriverEntryPointSymbolNotFound */
    *function = NULL;
    get(name, function, (int)version, 0, &result);
    if (found != NULL) *found = result;
    if (found == NULL && *function == NULL) return remember(KREPRO_NOT_FOUND);
    return KREPRO_SUCCESS;
}

API cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *found) {
    return cudaGetDriverEntryPointByVersion(name, function, KREPRO_CUDA_VERSION, flags, found);
}
