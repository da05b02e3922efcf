#include "tensorbraid/train/staged_input.h"

#include <optional>
#include <utility>

#include "graph/model/graph_impl.h"
#include "graph/model/handles.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "train/sessions/staged_lookups.h"

namespace tensorbraid {

StagedInput::StagedInput(const std::vector<Output>& batch, const std::string& name, std::source_location loc) {
  batch_.resize(batch.size());
  Graph* const graph = GraphOf("StagedInput", {batch.begin(), batch.end()}, loc);
  if (graph == nullptr) return;
  const GraphLock lock(*graph);
  const ScopedLocation at(*graph, loc);
  const auto scope = graph->NameScope(name);
  std::vector<DType> types;
  for (const Output& x : batch) types.push_back(x.valid() ? x.dtype() : DType::kInvalid);
  queue_ = FIFOQueue(*graph, std::move(types), {.capacity = 1, .name = "batches"}, loc);
  const Operation enqueue = queue_.Enqueue({batch.begin(), batch.end()}, loc);
  if (!enqueue.valid()) return;
  runners_.emplace_back(std::vector<Operation>{enqueue}, queue_.Close(), queue_.Close(true));
  batch_ = queue_.Dequeue(loc);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch_[i].valid()) ImplOf(*graph).RefineShape(NodeOf(batch_[i]), batch_[i].index(), batch[i].shape());
  }
}

void StagedInput::LookUpAhead(const std::vector<Operation>& marked) {
  if (batch_.empty() || !batch_[0].valid()) return;  // the error has been recorded
  StatusOr<std::optional<QueueRunner>> runner = tensorbraid::LookUpAhead(queue_.handle(), batch_[0].op(), marked);
  if (!runner.ok()) {
    batch_[0].graph()->AddError(runner.status());
  } else if (runner->has_value()) {
    runners_.push_back(**std::move(runner));
  }
}

}  // namespace tensorbraid
