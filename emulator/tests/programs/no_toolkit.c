/* Needs no toolkit: declares what it calls, and brings its PTX as text. Built against either runtime library. */
#include <stdio.h>
#include <string.h>

struct dim3 {
    unsigned x, y, z;
};
int cudaRuntimeGetVersion(int *);
int cudaDriverGetVersion(int *);
int PROPERTIES(void *, int);
int cudaPointerGetAttributes(void *, const void *);
int cudaLibraryLoadData(void **, const void *, void *, void **, unsigned, void *, void **, unsigned);
int cudaLibraryGetKernel(void **, void *, const char *);
int cudaLibraryGetGlobal(void **, size_t *, void *, const char *);
int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaDeviceSynchronize(void);
int cuGetErrorName(int, const char **);

static const char ptx[] = ".version 8.0\n"
                          ".target sm_90\n"
                          ".address_size 64\n"
                          ".visible .global .align 4 .b32 bias = 1000;\n"
                          ".visible .entry scale(.param .u64 out, .param .u32 factor)\n"
                          "{\n"
                          "    .reg .b32 %r<6>;\n"
                          "    .reg .b64 %rd<4>;\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "    ld.param.u32 %r1, [factor];\n"
                          "    mov.u32 %r2, %tid.x;\n"
                          "    ld.global.u32 %r3, [bias];\n"
                          "    mad.lo.s32 %r4, %r1, %r2, %r3;\n"
                          "    mul.wide.u32 %rd2, %r2, 4;\n"
                          "    add.s64 %rd3, %rd1, %rd2;\n"
                          "    st.global.u32 [%rd3], %r4;\n"
                          "    ret;\n"
                          "}\n";

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        int status = call;                                                                                             \
        if (status != 0) return printf("%s gives %d\n", #call, status), 1;                                             \
    } while (0)

int main(void) {
    int runtime, driver, values[32];
    unsigned factor = 3;
    void *library, *kernel, *out, *bias;
    size_t size;
    struct {
        char properties[1100];
    } area;
    struct {
        int type, device;
        void *on_device, *on_host;
        char behind[64 + 8];
    } pointer;
    memset(&area, 0x77, sizeof area);
    memset(&pointer, 0x77, sizeof pointer);
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    OK(PROPERTIES(area.properties, 0));
    OK(cudaLibraryLoadData(&library, ptx, 0, 0, 0, 0, 0, 0));
    OK(cudaLibraryGetKernel(&kernel, library, "scale"));
    OK(cudaLibraryGetGlobal(&bias, &size, library, "bias"));
    OK(cudaMalloc(&out, sizeof values));
    OK(cudaPointerGetAttributes(&pointer, out));
    void *arguments[] = {&out, &factor};
    OK(cudaLaunchKernel(kernel, (struct dim3){1, 1, 1}, (struct dim3){32, 1, 1}, arguments, 0, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(values, out, sizeof values, 2));
    for (int i = 0; i < 32; i++)
        if (values[i] != 1000 + 3 * i) return printf("value %d is %d\n", i, values[i]), 1;
    const char *name;
    OK(cuGetErrorName(700, &name));
    size_t written = sizeof area.properties;
    while (area.properties[written - 1] == 0x77) written--;
    printf("runtime %d, driver %d, properties of %zu bytes, %s\n", runtime, driver, written, name);
    printf("type %d, %s, bias of %zu bytes\n", pointer.type, pointer.behind[0] == 0x77 ? "24 bytes" : "88 bytes", size);
    return 0;
}
