/* Errors. */

API cudaPeekAtLastError(void) {
    return last_error;
}

API cudaGetLastError(void) {
    int status = last_error;
    last_error = krepro_sticky_error(); /* what broke the device stays */
    return status;
}

KREPRO_EXPORT const char *cudaGetErrorName(int error) {
    const char *name = krepro_string(KREPRO_ERROR_NAME, (uint64_t)(uint32_t)error);
    return name == NULL || *name == 0 ? "unrecognized error code" : name;
}

KREPRO_EXPORT const char *cudaGetErrorString(int error) {
    const char *text = krepro_string(KREPRO_ERROR_TEXT, (uint64_t)(uint32_t)error);
    return text == NULL || *text == 0 ? "unrecognized error code" : text;
}
