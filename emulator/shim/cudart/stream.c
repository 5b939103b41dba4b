/* Streams and events. */

API cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    return remember(krepro_stream_create(flags, priority, stream));
}

API cudaStreamCreateWithFlags(void **stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

API cudaStreamCreate(void **stream) {
    return cudaStreamCreateWithPriority(stream, 0, 0);
}

API cudaStreamDestroy(void *stream) {
    return remember(krepro_stream_destroy(stream));
}

API cudaStreamSynchronize(void *stream) {
    int status = krepro_stream_properties(stream, NULL, NULL, NULL);
    return remember(status == KREPRO_SUCCESS ? krepro_synchronize() : status);
}

API cudaStreamQuery(void *stream) {
    return cudaStreamSynchronize(stream);
}

API cudaStreamGetFlags(void *stream, unsigned *flags) {
    return remember(krepro_stream_properties(stream, flags, NULL, NULL));
}

API cudaStreamGetPriority(void *stream, int *priority) {
    return remember(krepro_stream_properties(stream, NULL, priority, NULL));
}

API cudaStreamGetId(void *stream, unsigned long long *id) {
    return remember(krepro_stream_properties(stream, NULL, NULL, id));
}

API cudaStreamGetDevice(void *stream, int *device) {
    *device = 0;
    return remember(krepro_stream_properties(stream, NULL, NULL, NULL));
}

API cudaStreamIsCapturing(void *stream, int *status) {
    *status = 0;
    return remember(krepro_stream_properties(stream, NULL, NULL, NULL));
}

API cudaStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    int status = krepro_stream_properties(stream, NULL, NULL, NULL);
    return remember(status == KREPRO_SUCCESS ? krepro_event_synchronize(event) : status);
}

API cudaStreamSetAttribute(void *stream, int attribute, const void *value) {
    (void)attribute, (void)value;
    return remember(krepro_stream_properties(stream, NULL, NULL, NULL));
}

API cudaStreamAttachMemAsync(void *stream, void *memory, size_t size, unsigned flags) {
    (void)memory, (void)size, (void)flags;
    return remember(krepro_stream_properties(stream, NULL, NULL, NULL));
}

API cudaEventCreateWithFlags(void **event, unsigned flags) {
    return remember(krepro_event_create(flags, event));
}

API cudaEventCreate(void **event) {
    return cudaEventCreateWithFlags(event, 0);
}

API cudaEventDestroy(void *event) {
    return remember(krepro_event_destroy(event));
}

API cudaEventRecord(void *event, void *stream) {
    return remember(krepro_event_record(event, stream));
}

API cudaEventRecordWithFlags(void *event, void *stream, unsigned flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}

API cudaEventSynchronize(void *event) {
    return remember(krepro_event_synchronize(event));
}

API cudaEventQuery(void *event) {
    return cudaEventSynchronize(event);
}

API cudaEventElapsedTime(float *milliseconds, void *start, void *end) {
    return remember(krepro_event_elapsed(start, end, milliseconds));
}
