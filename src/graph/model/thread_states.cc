// What each thread has in a graph: its open scopes and its first error. They go when the thread or the graph ends.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "graph/model/graph_impl.h"

namespace tensorbraid {

// The graphs in which a thread has a state or an error, which go when the thread ends.
class ThreadsGraphs {
 public:
  ThreadsGraphs() = default;
  ThreadsGraphs(const ThreadsGraphs&) = delete;
  ThreadsGraphs& operator=(const ThreadsGraphs&) = delete;
  ~ThreadsGraphs() {
    for (const auto& weak : graphs_) {
      if (const auto graph = weak.lock()) graph->ForgetThread(ThreadNumber());
    }
  }
  void Add(std::weak_ptr<GraphImpl> graph) {
    if (graphs_.size() >= std::max(limit_, kFewGraphs)) {
      std::erase_if(graphs_, [](const auto& weak) { return weak.expired(); });
      limit_ = 2 * graphs_.size();
    }
    graphs_.push_back(std::move(graph));
  }
  static ThreadsGraphs& OfThisThread() {
    static thread_local ThreadsGraphs graphs;
    return graphs;
  }

 private:
  static constexpr size_t kFewGraphs = 16;
  std::vector<std::weak_ptr<GraphImpl>> graphs_;
  size_t limit_ = 0;  // at this size, graphs that were destroyed are removed first
};

GraphImpl::ThreadState& GraphImpl::here() const {
  // The graph that this thread used last. Numbers of graphs are never used again, so if the number is equal, `state`
  // still exists.
  constinit static thread_local struct {
    uint64_t graph = 0;
    ThreadState* state = nullptr;
  } last;
  if (last.graph != number_) [[unlikely]] {
    last.state = &StateOf(ThreadNumber());
    last.graph = number_;
  }
  return *last.state;
}

GraphImpl::ThreadState& GraphImpl::StateOf(uint64_t thread) const {
  bool is_new = false;
  ThreadState* state = nullptr;
  {
    MutexLock lock(mu_);
    auto& known = states_[thread];
    is_new = known == nullptr;
    if (is_new) known = std::make_unique<ThreadState>();
    state = known.get();
  }
  if (is_new && thread == ThreadNumber()) {
    ThreadsGraphs::OfThisThread().Add(std::const_pointer_cast<GraphImpl>(shared_from_this()));
  }
  return *state;
}

void GraphImpl::ForgetThread(uint64_t thread) {
  std::unique_ptr<ThreadState> forgotten;  // destroyed without the lock
  MutexLock lock(mu_);
  errors_.erase(thread);
  has_errors_ = !errors_.empty();
  const auto it = states_.find(thread);
  if (it == states_.end() || !it->second->is_empty()) return;
  forgotten = std::move(it->second);
  states_.erase(it);
}

Status GraphImpl::ThreadStatus() const {
  if (!has_errors_) return OkStatus();
  MutexLock lock(mu_);
  const auto it = errors_.find(ThreadNumber());
  return it == errors_.end() ? OkStatus() : it->second;
}

Status GraphImpl::TakeThreadStatus() {
  if (!has_errors_) return OkStatus();
  MutexLock lock(mu_);
  const auto it = errors_.find(ThreadNumber());
  if (it == errors_.end()) return OkStatus();
  Status status = std::move(it->second);
  errors_.erase(it);
  has_errors_ = !errors_.empty();
  return status;
}

void GraphImpl::AddThreadError(const Status& status) {
  if (status.ok()) return;
  here();  // so that the error goes when the thread ends
  MutexLock lock(mu_);
  errors_.try_emplace(ThreadNumber(), status);
  has_errors_ = true;
}

ScopeGuard GraphImpl::GuardOf(std::function<void(ThreadState&)> end) {
  return ScopeGuard([weak = weak_from_this(), end = std::move(end), opener = ThreadNumber()] {
    if (const auto impl = weak.lock()) end(opener == ThreadNumber() ? impl->here() : impl->StateOf(opener));
  });
}

}  // namespace tensorbraid
