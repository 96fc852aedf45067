// Graphs: nodes of work with dependencies, and graphs ready to be launched.
#pragma once

#include <memory>
#include <vector>

#include "runtime/work.h"

namespace warpwatt::runtime {

struct GraphNode {
    Graph* graph;
    unsigned number;
    Work work;
    std::vector<GraphNode*> dependencies;
    const GraphNode* original = nullptr;  // in the graph that this one was cloned from
    bool enabled = true;
    std::vector<void*> arguments;  // what cudaGraphKernelNodeGetParams shows of a kernel's parameters
};

// A value that decides at conditional nodes, and what a launch of the graph begins with, if it does.
struct Condition {
    std::uint64_t handle;
    std::uint32_t initial;
};

struct Graph {
    unsigned number;
    std::vector<std::unique_ptr<GraphNode>> nodes;
    std::vector<std::unique_ptr<Graph>> children;  // of its child graph and conditional nodes
    std::vector<Condition> conditions;             // that each launch sets
    unsigned node_count = 0;

    GraphNode& add(Work work, std::vector<GraphNode*> dependencies);
    bool contains(const GraphNode* node) const;
    GraphNode* clone_of(const GraphNode* original) const;
    std::unique_ptr<Graph> clone() const;
    // Every node after those that it depends on, or nothing if there is a cycle.
    std::vector<GraphNode*> in_order() const;
};

struct GraphExec {
    std::uint64_t number;
    unsigned long long flags = 0;
    std::unique_ptr<Graph> graph;  // a clone
    std::vector<GraphNode*> order;
};

}  // namespace warpwatt::runtime
