/* Streams and events. */

API cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    return driver(krepro_stream_create(flags, priority, stream));
}

API cuStreamCreate(void **stream, unsigned flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}

API cuStreamDestroy_v2(void *stream) {
    return driver(krepro_stream_destroy(stream));
}

API cuStreamSynchronize(void *stream) {
    int status = krepro_stream_properties(stream, NULL, NULL, NULL);
    return driver(status == KREPRO_SUCCESS ? krepro_synchronize() : status);
}

API cuStreamQuery(void *stream) {
    return cuStreamSynchronize(stream);
}

API cuStreamGetFlags(void *stream, unsigned *flags) {
    return driver(krepro_stream_properties(stream, flags, NULL, NULL));
}

API cuStreamGetPriority(void *stream, int *priority) {
    return driver(krepro_stream_properties(stream, NULL, priority, NULL));
}

API cuStreamGetId(void *stream, unsigned long long *id) {
    return driver(krepro_stream_properties(stream, NULL, NULL, id));
}

API cuStreamGetCtx(void *stream, void **out) {
    *out = context;
    return driver(krepro_stream_properties(stream, NULL, NULL, NULL));
}

API cuStreamIsCapturing(void *stream, int *status) {
    *status = 0;
    return driver(krepro_stream_properties(stream, NULL, NULL, NULL));
}

API cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    int status = krepro_stream_properties(stream, NULL, NULL, NULL);
    return driver(status == KREPRO_SUCCESS ? krepro_event_synchronize(event) : status);
}

API cuEventCreate(void **event, unsigned flags) {
    return driver(krepro_event_create(flags, event));
}

API cuEventDestroy_v2(void *event) {
    return driver(krepro_event_destroy(event));
}

API cuEventRecord(void *event, void *stream) {
    return driver(krepro_event_record(event, stream));
}

API cuEventRecordWithFlags(void *event, void *stream, unsigned flags) {
    (void)flags;
    return cuEventRecord(event, stream);
}

API cuEventSynchronize(void *event) {
    return driver(krepro_event_synchronize(event));
}

API cuEventQuery(void *event) {
    return cuEventSynchronize(event);
}

API cuEventElapsedTime_v2(float *milliseconds, void *start, void *end) {
    return driver(krepro_event_elapsed(start, end, milliseconds));
}

API cuEventElapsedTime(float *milliseconds, void *start, void *end) {
    return cuEventElapsedTime_v2(milliseconds, start, end);
}
