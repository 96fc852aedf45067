// Capture, and graphs launched: the device gets their nodes in an order that keeps the dependencies.
#include <vector>

#include "tests/runtime/module.h"

using namespace warpwatt::runtime;
using namespace warpwatt::test;
using message::Type;

namespace {

struct Fixture {
    FakeDevice device;
    RegisteredModule module;
    void *x, *y;
    cudaStream_t one, other;
    int n = 1;
    double a = 1;
    void* pointers[3] = {&x, &n, &a};

    Fixture() {
        device.on(Type::kFunctionAttributes, describe_kernel);
        CHECK(cudaMalloc(&x, 1024) == cudaSuccess && cudaMalloc(&y, 1024) == cudaSuccess);
        CHECK(cudaStreamCreate(&one) == cudaSuccess && cudaStreamCreate(&other) == cudaSuccess);
    }

    cudaError_t launch(unsigned grid, cudaStream_t stream) {
        return cudaLaunchKernel(&module.kernel, {grid, 1, 1}, {32, 1, 1}, pointers, 0, stream);
    }
};

std::vector<unsigned> grids(const std::vector<Received>& received) {
    std::vector<unsigned> found;
    for (const Received& sent : received)
        if (sent.header.type == Type::kLaunch) found.push_back(sent.record<message::Launch>().grid[0]);
    return found;
}

// Two streams: one forks, the other joins.
cudaGraph_t capture(Fixture& fixture) {
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    CHECK(cudaEventCreate(&forked) == cudaSuccess && cudaEventCreate(&joined) == cudaSuccess);
    CHECK(cudaStreamBeginCapture(fixture.one, 0) == cudaSuccess);
    CHECK(fixture.launch(1, fixture.one) == cudaSuccess);
    CHECK(cudaEventRecord(forked, fixture.one) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(fixture.other, forked, 0) == cudaSuccess);
    CHECK(fixture.launch(2, fixture.other) == cudaSuccess);
    CHECK(cudaMemsetAsync(fixture.y, 0, 1024, fixture.one) == cudaSuccess);
    CHECK(cudaEventRecord(joined, fixture.other) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(fixture.one, joined, 0) == cudaSuccess);
    CHECK(fixture.launch(3, fixture.one) == cudaSuccess);
    CHECK(cudaStreamSynchronize(fixture.one) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(fixture.one, &graph) == cudaSuccess);
    return graph;
}

void test_capture_and_launch(Fixture& fixture) {
    fixture.device.take();
    cudaGraph_t graph = capture(fixture);
    CHECK(cudaStreamSynchronize(fixture.one) == cudaSuccess);
    CHECK(grids(fixture.device.take()).empty());
    std::size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess && count == 4);
    std::vector<cudaGraphNode_t> nodes(count);
    CHECK(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);

    fixture.n = 99;  // parameters are those of the capture
    CHECK(cudaGraphLaunch(exec, fixture.one) == cudaSuccess &&
          cudaStreamSynchronize(fixture.one) == cudaSuccess);
    auto received = fixture.device.take();
    CHECK((grids(received) == std::vector<unsigned>{1, 2, 3}));
    CHECK(last_of(received, Type::kGraphLaunch)->record<message::GraphLaunch>().nodes == 4);
    const Received* launch = last_of(received, Type::kLaunch);
    CHECK(launch->header.flags == message::kInGraph);
    CHECK(*reinterpret_cast<const int*>(&launch->bytes[sizeof(message::Launch) + 8]) == 1);

    // The middle kernel changes in the graph that is ready, not in its source.
    cudaKernelNodeParams parameters;
    int type = -1;
    for (cudaGraphNode_t node : nodes) {
        CHECK(cudaGraphNodeGetType(node, &type) == cudaSuccess);
        if (type != 0) continue;
        CHECK(cudaGraphKernelNodeGetParams(node, &parameters) == cudaSuccess);
        if (parameters.gridDim.x != 2) continue;
        CHECK(*static_cast<int*>(parameters.kernelParams[1]) == 1);
        parameters.gridDim.x = 20;
        CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &parameters) == cudaSuccess);
        CHECK(cudaGraphKernelNodeGetParams(node, &parameters) == cudaSuccess && parameters.gridDim.x == 2);
    }
    CHECK(cudaGraphLaunch(exec, fixture.other) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    CHECK((grids(fixture.device.take()) == std::vector<unsigned>{1, 20, 3}));
}

void test_what_cannot_be_captured(Fixture& fixture) {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(nullptr, 0) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(fixture.one, &graph) == cudaErrorIllegalState);
    cudaEvent_t forked;
    CHECK(cudaEventCreate(&forked) == cudaSuccess);
    CHECK(cudaStreamBeginCapture(fixture.one, 0) == cudaSuccess &&
          cudaEventRecord(forked, fixture.one) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(fixture.other, forked, 0) == cudaSuccess);
    CHECK(fixture.launch(1, fixture.other) == cudaSuccess);
    CHECK(cudaStreamEndCapture(fixture.other, &graph) == cudaErrorStreamCaptureUnmatched);
    CHECK(cudaStreamEndCapture(fixture.one, &graph) == cudaErrorStreamCaptureUnjoined && !graph);
    CHECK(fixture.launch(1, fixture.other) == cudaSuccess);
    CHECK(cudaStreamSynchronize(fixture.other) == cudaSuccess);
    CHECK(grids(fixture.device.take()).size() == 1);
}

// A host function runs when what stands before it is done, and may not be in the runtime's lock.
void test_host_functions(Fixture& fixture) {
    int calls = 0;
    auto count = [](void* argument) { ++*static_cast<int*>(argument); };
    CHECK(cudaLaunchHostFunc(fixture.one, count, &calls) == cudaSuccess && calls == 1);
    CHECK(cudaStreamBeginCapture(fixture.one, 0) == cudaSuccess);
    CHECK(cudaLaunchHostFunc(fixture.one, count, &calls) == cudaSuccess && calls == 1);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamEndCapture(fixture.one, &graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess && cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(calls == 3);
}

}  // namespace

int main() {
    Fixture fixture;
    test_capture_and_launch(fixture);
    test_what_cannot_be_captured(fixture);
    test_host_functions(fixture);
    return failures();
}
