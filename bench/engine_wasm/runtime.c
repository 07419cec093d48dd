/* What kernels find around them natively: numba's memory, and NumPy's generator SFC64. */
#include <stdint.h>
#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(#name)))

EXPORT(allocate) void *allocate(uint32_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }
EXPORT(release) void release(void *memory) { free(memory); }

/* An array or list that a kernel makes: the head that numba's code counts references in, then or elsewhere its numbers.
   numba has sizes as words of 64 bits, also where addresses have 32. */
typedef void destructor(void *data, uint64_t size, void *information);
struct head {
    uint64_t references;
    destructor *destructor;
    void *information, *data;
    uint64_t size;
};

static void *owned(void *memory) {
    if (!memory) __builtin_trap();
    return memory;
}
static void free_list(void *data, uint64_t size, void *items) {
    if (items) ((void (*)(void *))items)(data);
    free(data);
}
void *NRT_Allocate(uint64_t size) { return owned(malloc(size)); }
void NRT_Free(void *memory) { free(memory); }
void *NRT_MemInfo_alloc_aligned(uint64_t size, uint32_t align) {
    struct head *made = owned(malloc(sizeof *made + size + align));
    uintptr_t after = (uintptr_t)(made + 1);
    *made = (struct head){1, 0, 0, (void *)((after + align - 1) / align * align), size};
    return made;
}
void *NRT_MemInfo_alloc(uint64_t size) { return NRT_MemInfo_alloc_aligned(size, 8); }
void *NRT_MemInfo_new_varsize_dtor(uint64_t size, void *items) {
    struct head *made = owned(malloc(sizeof *made));
    *made = (struct head){1, free_list, items, owned(malloc(size)), size};
    return made;
}
void *NRT_MemInfo_varsize_realloc(void *list, uint64_t size) {
    struct head *made = list;
    made->data = owned(realloc(made->data, size));
    made->size = size;
    return made->data;
}
void NRT_MemInfo_call_dtor(void *memory) {
    struct head *made = memory;
    if (made->destructor) made->destructor(made->data, made->size, made->information);
    free(made);
}

/* What numba calls to raise an error in Python. A kernel of ours that comes here has a fault. */
#define RAISES(name, ...) \
    void *name(__VA_ARGS__) { __builtin_trap(); }
RAISES(PyImport_ImportModule, void *a)
RAISES(PyObject_GetAttrString, void *a, void *b)
RAISES(numba_unpickle, void *a, int32_t b, void *c)
RAISES(PyObject_CallFunctionObjArgs, void *a, ...)
RAISES(PyLong_AsVoidPtr, void *a)
void numba_gil_ensure(void *a) { __builtin_trap(); }
void numba_gil_release(void *a) { __builtin_trap(); }
void Py_DecRef(void *a) { __builtin_trap(); }
void *PyExc_RuntimeError;
void PyErr_SetString(void *a, void *b) { __builtin_trap(); }

/* Whether an array has another shape without being copied. All arrays of kernels are contiguous, so it has. */
int32_t numba_attempt_nocopy_reshape(int64_t nd, const int64_t *shape, const int64_t *strides, int64_t new_nd,
                                     const int64_t *new_shape, int64_t *new_strides, int64_t item, int32_t fortran) {
    for (int64_t i = new_nd - 1; i >= 0; i--) {
        new_strides[i] = item;
        item *= new_shape[i];
    }
    return 1;
}

/* SFC64 as in NumPy: three words and a counter; half a word is kept where 32 bits were drawn. */
struct sfc64 {
    uint64_t a, b, c, counter;
    int32_t has_half;
    uint32_t half;
};

uint64_t sfc64_next_uint64(uint64_t state) {
    struct sfc64 *s = (struct sfc64 *)(uintptr_t)state;
    uint64_t drawn = s->a + s->b + s->counter++;
    s->a = s->b ^ (s->b >> 11);
    s->b = s->c + (s->c << 3);
    s->c = ((s->c << 24) | (s->c >> 40)) + drawn;
    return drawn;
}
uint32_t sfc64_next_uint32(uint64_t state) {
    struct sfc64 *s = (struct sfc64 *)(uintptr_t)state;
    if (s->has_half) {
        s->has_half = 0;
        return s->half;
    }
    uint64_t drawn = sfc64_next_uint64(state);
    s->has_half = 1;
    s->half = drawn >> 32;
    return (uint32_t)drawn;
}
double sfc64_next_double(uint64_t state) { return (sfc64_next_uint64(state) >> 11) * 0x1p-53; }
