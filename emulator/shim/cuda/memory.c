/* Device memory, page-locked memory, pointer attributes. */

API cuMemAlloc_v2(uint64_t *address, size_t size) {
    return size == 0 ? KREPRO_INVALID_VALUE : driver(krepro_allocate(size, address));
}

API cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    (void)element;
    *pitch = (width + 511) & ~(size_t)511;
    return cuMemAlloc_v2(address, *pitch * height);
}

API cuMemAllocAsync(uint64_t *address, size_t size, void *stream) {
    (void)stream;
    return cuMemAlloc_v2(address, size);
}

API cuMemFree_v2(uint64_t address) {
    return driver(krepro_free(address));
}

API cuMemFreeAsync(uint64_t address, void *stream) {
    (void)stream;
    return cuMemFree_v2(address);
}

API cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    return driver(krepro_host_allocate(size, flags, memory));
}

API cuMemAllocHost_v2(void **memory, size_t size) {
    return cuMemHostAlloc(memory, size, 0);
}

API cuMemFreeHost(void *memory) {
    return driver(krepro_host_free(memory));
}

API cuMemHostGetFlags(unsigned *flags, void *memory) {
    return driver(krepro_host_flags(memory, flags));
}

API cuMemHostRegister_v2(void *memory, size_t size, unsigned flags) {
    (void)memory, (void)size, (void)flags;
    return accept();
}

API cuMemHostUnregister(void *memory) {
    (void)memory;
    return accept();
}

API cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
    return driver(krepro_copy(region(to), region(host(from)), size, 1, KREPRO_HOST_TO_DEVICE));
}

API cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
    (void)stream;
    return cuMemcpyHtoD_v2(to, from, size);
}

API cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
    return driver(krepro_copy(region(host(to)), region(from), size, 1, KREPRO_DEVICE_TO_HOST));
}

API cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) {
    (void)stream;
    return cuMemcpyDtoH_v2(to, from, size);
}

API cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t size) {
    return driver(krepro_copy(region(to), region(from), size, 1, KREPRO_DEVICE_TO_DEVICE));
}

API cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
    (void)stream;
    return cuMemcpyDtoD_v2(to, from, size);
}

API cuMemcpy(uint64_t to, uint64_t from, size_t size) {
    return driver(krepro_copy(region(to), region(from), size, 1, KREPRO_BY_ADDRESS));
}

API cuMemcpyAsync(uint64_t to, uint64_t from, size_t size, void *stream) {
    (void)stream;
    return cuMemcpy(to, from, size);
}

struct copy_2d_end {
    size_t x, y;
    unsigned type; /* 1 host, 2 device, 3 array, 4 unified */
    void *host_address;
    uint64_t device_address;
    void *array;
    size_t pitch;
};

struct copy_2d {
    struct copy_2d_end from, to;
    size_t width, height;
};

static struct krepro_region end_of(const struct copy_2d_end *end) {
    uint64_t start = end->type == 1 ? host(end->host_address) : end->device_address;
    return (struct krepro_region){start + end->y * end->pitch + end->x, end->pitch};
}

API cuMemcpy2D_v2(const struct copy_2d *copy) {
    if (copy->from.type == 3 || copy->to.type == 3)
        return krepro_refuse("cuMemcpy2D", "CUDA arrays do not exist on the CPU backend");
    int kind = KREPRO_BY_ADDRESS;
    if (copy->from.type != 4 && copy->to.type != 4) kind = (copy->from.type == 2 ? 2 : 0) + (copy->to.type == 2 ? 1 : 0);
    return driver(krepro_copy(end_of(&copy->to), end_of(&copy->from), copy->width, copy->height, kind));
}

API cuMemcpy2DUnaligned_v2(const struct copy_2d *copy) {
    return cuMemcpy2D_v2(copy);
}

API cuMemcpy2DAsync_v2(const struct copy_2d *copy, void *stream) {
    (void)stream;
    return cuMemcpy2D_v2(copy);
}

API cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count) {
    return driver(krepro_fill(region(to), value, 1, count, 1));
}

API cuMemsetD16_v2(uint64_t to, unsigned short value, size_t count) {
    return driver(krepro_fill(region(to), value, 2, count, 1));
}

API cuMemsetD32_v2(uint64_t to, unsigned value, size_t count) {
    return driver(krepro_fill(region(to), value, 4, count, 1));
}

API cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *stream) {
    (void)stream;
    return cuMemsetD8_v2(to, value, count);
}

API cuMemsetD16Async(uint64_t to, unsigned short value, size_t count, void *stream) {
    (void)stream;
    return cuMemsetD16_v2(to, value, count);
}

API cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream) {
    (void)stream;
    return cuMemsetD32_v2(to, value, count);
}

API cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address) {
    uint64_t start, bytes;
    if (!krepro_is_device(address, &start, &bytes)) return KREPRO_NOT_FOUND;
    if (base != NULL) *base = start;
    if (size != NULL) *size = bytes;
    return KREPRO_SUCCESS;
}

/* CUpointer_attribute. */
enum {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE,
    POINTER_DEVICE,
    POINTER_HOST,
    POINTER_IS_MANAGED = 8,
    POINTER_ORDINAL,
    POINTER_RANGE_START = 11,
    POINTER_RANGE_SIZE,
};

API cuPointerGetAttribute(void *out, int attribute, uint64_t address) {
    uint64_t base = 0, size = 0;
    unsigned flags;
    int on_device = krepro_is_device(address, &base, &size);
    if (!on_device && krepro_host_flags((void *)(uintptr_t)address, &flags) != KREPRO_SUCCESS)
        return KREPRO_INVALID_VALUE;
    switch (attribute) {
    case POINTER_CONTEXT: *(void **)out = context; return KREPRO_SUCCESS;
    case POINTER_MEMORY_TYPE: *(unsigned *)out = on_device ? 2 : 1; return KREPRO_SUCCESS;
    case POINTER_DEVICE: *(uint64_t *)out = address; return on_device ? KREPRO_SUCCESS : KREPRO_INVALID_VALUE;
    case POINTER_HOST: *(uint64_t *)out = address; return on_device ? KREPRO_INVALID_VALUE : KREPRO_SUCCESS;
    case POINTER_IS_MANAGED: *(unsigned *)out = 0; return KREPRO_SUCCESS;
    case POINTER_ORDINAL: *(int *)out = 0; return KREPRO_SUCCESS;
    case POINTER_RANGE_START: *(uint64_t *)out = base; return on_device ? KREPRO_SUCCESS : KREPRO_INVALID_VALUE;
    case POINTER_RANGE_SIZE: *(uint64_t *)out = size; return on_device ? KREPRO_SUCCESS : KREPRO_INVALID_VALUE;
    default: return krepro_refuse("cuPointerGetAttribute", "this attribute is not there on the CPU backend");
    }
}

API cuPointerGetAttributes(unsigned count, const int *attributes, void **out, uint64_t address) {
    int status = KREPRO_SUCCESS;
    for (unsigned i = 0; i < count && status == KREPRO_SUCCESS; i++)
        status = cuPointerGetAttribute(out[i], attributes[i], address);
    return status;
}
