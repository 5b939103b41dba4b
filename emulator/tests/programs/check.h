// One line a check, and the number of failed ones as the exit code.
#pragma once
#include <cstdio>

static int failed_checks = 0;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        bool holds = (condition);                                                                                      \
        if (!holds) std::printf("line %d fails: %s\n", __LINE__, #condition), failed_checks++;                         \
    } while (0)

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        int status = (int)(call);                                                                                      \
        if (status != 0) std::printf("line %d: %s gives %d\n", __LINE__, #call, status), failed_checks++;              \
    } while (0)
