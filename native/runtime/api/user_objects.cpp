// Graph management: user objects, which live as long as somebody retains them.
#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

struct UserObject {
    void* object;
    cudaHostFn_t destroy;
    unsigned references;
};

namespace {

cudaError_t release(UserObject* object, unsigned count) {
    if (!object || object->references < count) return cudaErrorInvalidValue;
    object->references -= count;
    if (object->references) return cudaSuccess;
    Entry::run_outside([&] { object->destroy(object->object); });
    delete object;
    return cudaSuccess;
}

}  // namespace

RUNTIME_API cudaError_t cudaUserObjectCreate(UserObject** handle, void* object, cudaHostFn_t destroy,
                                             unsigned count, unsigned) {
    return call([&](Client&) {
        if (!handle || !destroy || !count) return cudaErrorInvalidValue;
        *handle = new UserObject{object, destroy, count};
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaUserObjectRetain(UserObject* object, unsigned count) {
    return call([&](Client&) {
        if (!object) return cudaErrorInvalidValue;
        object->references += count;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaUserObjectRelease(UserObject* object, unsigned count) {
    return call([&](Client&) { return release(object, count); });
}

// A graph that is destroyed keeps what it retained: the program ends soon after.
RUNTIME_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t, UserObject* object, unsigned count,
                                                  unsigned flags) {
    constexpr unsigned kMove = 1;  // cudaGraphUserObjectMove: the caller's references
    return flags & kMove ? cudaSuccess : cudaUserObjectRetain(object, count);
}

RUNTIME_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t, UserObject* object, unsigned count) {
    return cudaUserObjectRelease(object, count);
}

}  // namespace warpwatt::runtime
