#include "graph/model/handles.h"

#include <string>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid {
Operation OperationOf(Node* node) {
  return node == nullptr ? Operation() : Handles::ToOperation(node->shared_from_this());
}

Output OutputOf(Node* node, int index) {
  return node == nullptr ? Output() : Handles::ToOutput(node->shared_from_this(), index);
}

Graph& GraphUsedAt(const Node& node, const std::source_location& loc) {
  if (Graph* const graph = node.graph(); graph != nullptr) [[likely]]
    return *graph;
  CheckFailed(loc.file_name(), static_cast<int>(loc.line()), "graph", std::string(node.CheckGraphExists().message()));
}

namespace {

Status CheckIsGraph(const Graph* graph, std::string_view user) {
  if (graph != nullptr) return OkStatus();
  return FailedPrecondition(user, ": the Graph has been destroyed; ", kGraphLifetime);
}

}  // namespace

GraphUse::GraphUse(std::shared_ptr<GraphImpl> impl) TB_NO_THREAD_SAFETY_ANALYSIS : impl_(std::move(impl)) {
  if (impl_ == nullptr) return;
  impl_->lock().Lock();
  graph_ = impl_->graph();
}

GraphUse::~GraphUse() TB_NO_THREAD_SAFETY_ANALYSIS {
  if (impl_ != nullptr) impl_->lock().Unlock();
}

Status GraphUse::CheckExists(std::string_view user) const { return CheckIsGraph(graph_, user); }

Status GraphRef::CheckExists(std::string_view user) const {
  const auto impl = impl_.lock();
  return CheckIsGraph(impl == nullptr ? nullptr : impl->graph(), user);
}

GraphUse GraphRef::Use() const { return GraphUse(impl_.lock()); }

Graph& GraphRef::operator*() const {
  const auto impl = impl_.lock();
  Graph* const graph = impl == nullptr ? nullptr : impl->graph();
  TB_CHECK_OK(CheckIsGraph(graph, "use of a Graph"));
  return *graph;
}

}  // namespace tensorbraid
