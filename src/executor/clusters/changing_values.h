// Values that change too often for programs that are compiled for them.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_CHANGING_VALUES_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_CHANGING_VALUES_H_

#include <atomic>
#include <cstddef>
#include <set>
#include <utility>

#include "core/threads/mutex.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// The tensors of one task's part of a graph whose values are operands that a program must know when it is compiled, and
// that have had too many values (signature_limit.h). The steps of a plan add them; the next plan of the same part has
// no programs that depend on their values (program_nodes.h). Thread-safe.
class ChangingValues {
 public:
  using Key = std::pair<int, int>;  // node id and output
  using Set = std::set<Key>;
  static Key KeyOf(const Output& tensor) { return {NodeOf(tensor)->id(), tensor.index()}; }

  void Add(const Output& tensor) {
    MutexLock lock(mu_);
    tensors_.insert(KeyOf(tensor));
    size_ = tensors_.size();
  }
  Set tensors() const {
    MutexLock lock(mu_);
    return tensors_;
  }
  size_t size() const { return size_; }

 private:
  mutable Mutex mu_;
  Set tensors_ TB_GUARDED_BY(mu_);
  std::atomic<size_t> size_{0};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_CHANGING_VALUES_H_
