/* Tensor maps: krepro checks and encodes, in its own 128-byte form. */

API cuTensorMapEncodeTiled(void *map, int element, uint32_t rank, void *address, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
                           int interleave, int swizzle, int l2_promotion, int fill) {
    if (map == NULL || host(map) % 64 != 0) {
        char why[96];
        snprintf(why, sizeof why, "the CUtensorMap object at %p is not aligned to 64 bytes", map);
        krepro_refuse("cuTensorMapEncodeTiled", why);
        return KREPRO_INVALID_VALUE;
    }
    if (rank < 1 || rank > 5 || dims == NULL || box == NULL || element_strides == NULL || (rank > 1 && strides == NULL))
        return KREPRO_INVALID_VALUE;
    uint64_t arrays[19]; /* 5 extents, 4 strides, 5 of the box, 5 element strides */
    for (uint32_t d = 0; d < 5; d++) {
        arrays[d] = d < rank ? dims[d] : 1;
        if (d < 4) arrays[5 + d] = d + 1 < rank ? strides[d] : 0;
        arrays[9 + d] = d < rank ? box[d] : 1;
        arrays[14 + d] = d < rank ? element_strides[d] : 1;
    }
    struct krepro_call call = {
        .operation = KREPRO_ENCODE_TENSOR_MAP,
        .argument_count = 7,
        .arguments = {(uint64_t)element, rank, host(address), (uint64_t)interleave, (uint64_t)swizzle,
                      (uint64_t)l2_promotion, (uint64_t)fill},
        .in = arrays,
        .in_size = sizeof arrays,
        .out = map,
        .out_size = 128,
    };
    return driver(krepro_call(&call));
}

API cuTensorMapReplaceAddress(void *map, void *address) {
    if (map == NULL) return KREPRO_INVALID_VALUE;
    char old[128];
    memcpy(old, map, sizeof old);
    struct krepro_call call = {
        .operation = KREPRO_REPLACE_TENSOR_MAP_ADDRESS,
        .argument_count = 1,
        .arguments = {host(address)},
        .in = old,
        .in_size = sizeof old,
        .out = map,
        .out_size = 128,
    };
    return driver(krepro_call(&call));
}
