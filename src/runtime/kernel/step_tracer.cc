#include "runtime/kernel/step_tracer.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "core/system/clock.h"

namespace tensorbraid {

int64_t StepTracer::Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(WallClock::now().time_since_epoch()).count();
}

void StepTracer::Record(const Node& node, int64_t start_ns, std::span<const Entry> outputs) {
  NodeRecord record{.node = &node,
                    .start_ns = start_ns,
                    .end_ns = Now(),
                    .thread = static_cast<uint32_t>(gettid()),
                    .outputs = {},
                    .work = {}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& value = outputs[i].value;
    if (!value.is_valid()) continue;
    const bool plain = IsPlain(value.dtype());
    record.outputs.push_back({.slot = static_cast<int>(i),
                              .dtype = value.dtype(),
                              .shape = value.shape(),
                              .bytes = plain ? value.num_bytes() : 0,
                              .address = plain ? reinterpret_cast<uintptr_t>(value.raw_data()) : 0});
  }
  Add(std::move(record));
}

void StepTracer::RecordWork(const Node& node, std::string work, int64_t start_ns) {
  Add({.node = &node,
       .start_ns = start_ns,
       .end_ns = Now(),
       .thread = static_cast<uint32_t>(gettid()),
       .outputs = {},
       .work = std::move(work)});
}

void StepTracer::Add(NodeRecord record) {
  MutexLock lock(mu_);
  if (records_.size() < kMaxRecords) records_.push_back(std::move(record));
}

std::vector<NodeRecord> StepTracer::TakeRecords() {
  MutexLock lock(mu_);
  return std::exchange(records_, {});
}

}  // namespace tensorbraid
