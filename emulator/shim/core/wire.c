/* The connection: a Unix socket whose path is in the environment, opened at the first call.
 *
 * Request: u32 operation, u32 argument count, u64 size of the bytes, arguments (u64 each), bytes.
 * Answer: i32 status, i32 sticky error, u32 result count, u32 zero, u64 size of the text, u64 size of the bytes, results
 * (u64 each), text (the kernels' printf, for standard output), bytes. */
#define _GNU_SOURCE
#include "core.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

struct request_header {
    uint32_t operation, argument_count;
    uint64_t size;
};

struct answer_header {
    int32_t status, sticky;
    uint32_t result_count, zero;
    uint64_t text_size, size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int connection = -1;
static pid_t owner;
static int sticky;

static void die(const char *what) {
    fflush(stdout);
    fprintf(stderr, "krepro: CPU backend: %s\n", what);
    _exit(125);
}

/* `count` is at most 3; the vectors are consumed. */
static int send_all(struct iovec *part, int count) {
    while (count > 0) {
        ssize_t sent = writev(connection, part, count);
        if (sent < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        while (count > 0 && (size_t)sent >= part->iov_len) {
            sent -= (ssize_t)part->iov_len;
            part++, count--;
        }
        if (count > 0) {
            part->iov_base = (char *)part->iov_base + sent;
            part->iov_len -= (size_t)sent;
        }
    }
    return 0;
}

static int receive_all(void *to, uint64_t size) {
    char *at = to;
    while (size > 0) {
        ssize_t received = read(connection, at, size);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) return received == 0 ? ECONNRESET : errno;
        at += received;
        size -= (uint64_t)received;
    }
    return 0;
}

/* Reads `size` bytes in pieces and hands each to `use` (or drops it). */
static int receive_rest(uint64_t size, FILE *use) {
    char piece[4096];
    while (size > 0) {
        uint64_t now = size < sizeof piece ? size : sizeof piece;
        int error = receive_all(piece, now);
        if (error != 0) return error;
        if (use != NULL) fwrite(piece, 1, now, use);
        size -= now;
    }
    return 0;
}

static int exchange(struct krepro_call *call) {
    struct request_header request = {call->operation, call->argument_count, call->in_size};
    struct iovec parts[3] = {
        {&request, sizeof request},
        {call->arguments, call->argument_count * sizeof call->arguments[0]},
        {(void *)call->in, call->in_size},
    };
    int error = send_all(parts, 3);
    if (error == EFAULT) die("the program passed host memory that is not readable");
    struct answer_header answer;
    if (error == 0) error = receive_all(&answer, sizeof answer);
    for (uint32_t i = 0; error == 0 && i < answer.result_count; i++) {
        uint64_t result;
        error = receive_all(&result, sizeof result);
        if (i < sizeof call->results / sizeof call->results[0]) call->results[i] = result;
    }
    if (error == 0) error = receive_rest(answer.text_size, stdout);
    if (error == 0) {
        uint64_t fits = answer.size < call->out_size ? answer.size : call->out_size;
        error = receive_all(call->out, fits);
        if (error == EFAULT) die("the program passed host memory that is not writable");
        if (error == 0) error = receive_rest(answer.size - fits, NULL);
        call->out_received = answer.size;
    }
    if (error != 0) die("the connection to krepro is gone");
    sticky = answer.sticky;
    return answer.status;
}

static int open_connection(void) {
    const char *path = getenv(KREPRO_SOCKET_VARIABLE);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path == NULL || strlen(path) >= sizeof address.sun_path) {
        fprintf(stderr, "krepro: CPU backend: this CUDA library only works in a program that krepro started\n");
        return KREPRO_INITIALIZATION;
    }
    strcpy(address.sun_path, path);
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
        die("krepro does not answer");
    owner = getpid();
    struct krepro_call hello = {
        .operation = KREPRO_HELLO,
        .argument_count = 1,
        .arguments = {(uint64_t)owner},
        .in = KREPRO_SHIM_IDENTITY,
        .in_size = strlen(KREPRO_SHIM_IDENTITY),
    };
    return exchange(&hello);
}

int krepro_call(struct krepro_call *call) {
    pthread_mutex_lock(&lock);
    int status = KREPRO_SUCCESS;
    if (connection < 0)
        status = open_connection();
    else if (owner != getpid())
        status = KREPRO_INITIALIZATION; /* as CUDA says after a fork */
    if (status == KREPRO_SUCCESS) status = exchange(call);
    pthread_mutex_unlock(&lock);
    return status;
}

int krepro_sticky_error(void) {
    return sticky;
}

int krepro_missing(const char *function) {
    fflush(stdout);
    fprintf(stderr, "krepro: CPU backend: the program called %s, which the CPU backend does not have\n", function);
    struct krepro_call call = {.operation = KREPRO_MISSING, .in = function, .in_size = strlen(function)};
    krepro_call(&call);
    return KREPRO_NOT_SUPPORTED;
}

int krepro_refuse(const char *function, const char *why) {
    char text[512];
    snprintf(text, sizeof text, "%s: %s", function, why);
    fflush(stdout);
    fprintf(stderr, "krepro: CPU backend: %s\n", text);
    struct krepro_call call = {.operation = KREPRO_REFUSED, .in = text, .in_size = strlen(text)};
    krepro_call(&call);
    return KREPRO_NOT_SUPPORTED;
}

const char *krepro_string(uint32_t operation, uint64_t argument) {
    static struct known {
        uint64_t operation, argument;
        struct known *next;
        char text[];
    } *all;
    static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&all_lock);
    struct known *found = all;
    while (found != NULL && (found->operation != operation || found->argument != argument)) found = found->next;
    if (found == NULL) {
        char text[1024] = "";
        struct krepro_call call = {
            .operation = operation,
            .argument_count = 1,
            .arguments = {argument},
            .out = text,
            .out_size = sizeof text - 1,
        };
        if (krepro_call(&call) == KREPRO_SUCCESS && (found = malloc(sizeof *found + sizeof text)) != NULL) {
            *found = (struct known){operation, argument, all};
            strcpy(found->text, text);
            all = found;
        }
    }
    pthread_mutex_unlock(&all_lock);
    return found == NULL ? NULL : found->text;
}
