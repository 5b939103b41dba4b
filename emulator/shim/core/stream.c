/* Streams and events. All work is done when its call returns, so a stream only carries its properties and an event only
 * the time at which it was recorded. */
#include "core.h"

#include <stdlib.h>
#include <time.h>

enum { STREAM_MARK = 0x6b725374, EVENT_MARK = 0x6b724576, DISABLE_TIMING = 2 };

struct stream {
    unsigned mark, flags;
    int priority;
    unsigned long long id;
};

struct event {
    unsigned mark, flags;
    int recorded;
    double at; /* seconds */
};

/* NULL, cudaStreamLegacy and cudaStreamPerThread are streams that nobody creates. */
static struct stream *checked_stream(void *handle) {
    static struct stream ready_made = {.mark = STREAM_MARK};
    if ((uintptr_t)handle <= 2) return &ready_made;
    struct stream *stream = handle;
    return stream->mark == STREAM_MARK ? stream : NULL;
}

static struct event *checked_event(void *handle) {
    struct event *event = handle;
    return event != NULL && event->mark == EVENT_MARK ? event : NULL;
}

int krepro_synchronize(void) {
    struct krepro_call call = {.operation = KREPRO_SYNCHRONIZE};
    return krepro_call(&call);
}

int krepro_stream_create(unsigned flags, int priority, void **stream) {
    static unsigned long long last;
    struct stream *new = malloc(sizeof *new);
    if (new == NULL) return KREPRO_OUT_OF_MEMORY;
    *new = (struct stream){STREAM_MARK, flags, priority, __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED)};
    *stream = new;
    return krepro_synchronize();
}

int krepro_stream_destroy(void *handle) {
    struct stream *stream = checked_stream(handle);
    if (stream == NULL || stream->id == 0) return KREPRO_INVALID_HANDLE;
    stream->mark = 0;
    free(stream);
    return KREPRO_SUCCESS;
}

int krepro_stream_properties(void *handle, unsigned *flags, int *priority, unsigned long long *id) {
    struct stream *stream = checked_stream(handle);
    if (stream == NULL) return KREPRO_INVALID_HANDLE;
    if (flags != NULL) *flags = stream->flags;
    if (priority != NULL) *priority = stream->priority;
    if (id != NULL) *id = stream->id;
    return KREPRO_SUCCESS;
}

int krepro_event_create(unsigned flags, void **event) {
    struct event *new = malloc(sizeof *new);
    if (new == NULL) return KREPRO_OUT_OF_MEMORY;
    *new = (struct event){.mark = EVENT_MARK, .flags = flags};
    *event = new;
    return KREPRO_SUCCESS;
}

int krepro_event_destroy(void *handle) {
    struct event *event = checked_event(handle);
    if (event == NULL) return KREPRO_INVALID_HANDLE;
    event->mark = 0;
    free(event);
    return KREPRO_SUCCESS;
}

int krepro_event_record(void *handle, void *stream) {
    struct event *event = checked_event(handle);
    if (event == NULL || checked_stream(stream) == NULL) return KREPRO_INVALID_HANDLE;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->recorded = 1;
    event->at = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return KREPRO_SUCCESS;
}

int krepro_event_elapsed(void *start, void *end, float *milliseconds) {
    struct event *first = checked_event(start), *last = checked_event(end);
    if (milliseconds == NULL) return KREPRO_INVALID_VALUE;
    if (first == NULL || last == NULL || !first->recorded || !last->recorded) return KREPRO_INVALID_HANDLE;
    if ((first->flags | last->flags) & DISABLE_TIMING) return KREPRO_INVALID_HANDLE;
    *milliseconds = (float)(1e3 * (last->at - first->at));
    return krepro_synchronize();
}

int krepro_event_synchronize(void *handle) {
    return checked_event(handle) == NULL ? KREPRO_INVALID_HANDLE : krepro_synchronize();
}
