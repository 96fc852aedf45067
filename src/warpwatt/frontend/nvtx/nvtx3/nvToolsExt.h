// NVIDIA Tools Extension (NVTX, "Core API"), for toolkits whose wheels lack this header: no tool listens.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

#define NVTX_VERSION 3
#define NVTX_NO_PUSH_POP_TRACKING (-2)

typedef union {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
enum { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2 };

static inline void nvtxMarkA(const char *message) { (void)message; }
static inline void nvtxMarkEx(const nvtxEventAttributes_t *attributes) { (void)attributes; }
static inline int nvtxRangePushA(const char *message) { return (void)message, NVTX_NO_PUSH_POP_TRACKING; }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t *attributes) {
    return (void)attributes, NVTX_NO_PUSH_POP_TRACKING;
}
static inline int nvtxRangePop(void) { return NVTX_NO_PUSH_POP_TRACKING; }
static inline nvtxRangeId_t nvtxRangeStartA(const char *message) { return (void)message, 0; }
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *attributes) {
    return (void)attributes, 0;
}
static inline void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name) { return (void)name, (nvtxDomainHandle_t)0; }
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes) {
    return (void)domain, (void)attributes, NVTX_NO_PUSH_POP_TRACKING;
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
    return (void)domain, NVTX_NO_PUSH_POP_TRACKING;
}
static inline void nvtxNameCategoryA(uint32_t category, const char *name) { (void)category, (void)name; }
static inline void nvtxNameOsThreadA(uint32_t thread, const char *name) { (void)thread, (void)name; }

#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
