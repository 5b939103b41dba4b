/* Driver functions by name. */

/* The newest form of a function is the one with the highest version suffix; two got theirs with CUDA 13 only. */
static void *newest(const char *name, int version) {
    static const char *const suffixes[] = {"_v4", "_v3", "_v2", ""};
    int plain_only = version < 13000 && (strcmp(name, "cuCtxSynchronize") == 0 || strcmp(name, "cuCtxGetDevice") == 0);
    void *here = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = NULL;
    for (size_t i = plain_only ? 3 : 0; i < 4 && found == NULL && here != NULL; i++) {
        char full[256];
        snprintf(full, sizeof full, "%s%s", name, suffixes[i]);
        found = dlsym(here, full);
    }
    if (here != NULL) dlclose(here);
    return found;
}

API cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *found) {
    (void)flags;
    if (name == NULL || function == NULL) return KREPRO_INVALID_VALUE;
    *function = strncmp(name, "cu", 2) == 0 ? newest(name, version) : NULL;
    if (found != NULL) *found = *function == NULL; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND is 1 */
    return *function == NULL ? KREPRO_NOT_FOUND : KREPRO_SUCCESS;
}

API cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

API cuGetExportTable(const void **table, const void *id) {
    (void)id;
    *table = NULL;
    return krepro_refuse("cuGetExportTable", "a statically linked CUDA runtime asks for the driver's private tables; "
                                             "link the program with -cudart shared");
}
