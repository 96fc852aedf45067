#include "runtime/graph.h"

#include <algorithm>
#include <unordered_map>

namespace warpwatt::runtime {

GraphNode& Graph::add(Work work, std::vector<GraphNode*> dependencies) {
    nodes.push_back(std::make_unique<GraphNode>());
    GraphNode& added = *nodes.back();
    added.graph = this;
    added.number = node_count++;
    added.work = std::move(work);
    added.dependencies = std::move(dependencies);
    if (auto child = std::get_if<ChildWork>(&added.work)) {
        children.push_back(child->graph->clone());
        child->graph = children.back().get();
    }
    return added;
}

bool Graph::contains(const GraphNode* node) const {
    return std::ranges::any_of(nodes, [&](auto& own) { return own.get() == node; });
}

GraphNode* Graph::clone_of(const GraphNode* original) const {
    auto found = std::ranges::find(nodes, original, [](auto& node) { return node->original; });
    return found == nodes.end() ? nullptr : found->get();
}

std::unique_ptr<Graph> Graph::clone() const {
    auto copy = std::make_unique<Graph>();
    copy->number = number;
    copy->conditions = conditions;
    std::unordered_map<const GraphNode*, GraphNode*> clones;
    for (auto& node : nodes) {
        GraphNode& added = copy->add(node->work, {});
        added.original = node.get();
        added.enabled = node->enabled;
        if (auto conditional = std::get_if<ConditionalWork>(&added.work))
            for (Graph*& body : conditional->bodies) {
                copy->children.push_back(body->clone());
                body = copy->children.back().get();
            }
        clones[node.get()] = &added;
    }
    for (auto& node : nodes)
        for (GraphNode* dependency : node->dependencies)
            clones[node.get()]->dependencies.push_back(clones.at(dependency));
    return copy;
}

std::vector<GraphNode*> Graph::in_order() const {
    std::vector<GraphNode*> order;
    std::unordered_map<const GraphNode*, bool> is_done;
    for (bool progress = true; progress && order.size() < nodes.size();) {
        progress = false;
        for (auto& node : nodes) {
            if (is_done[node.get()]) continue;
            if (!std::ranges::all_of(node->dependencies, [&](GraphNode* other) { return is_done[other]; }))
                continue;
            is_done[node.get()] = progress = true;
            order.push_back(node.get());
        }
    }
    if (order.size() < nodes.size()) order.clear();
    return order;
}

}  // namespace warpwatt::runtime
