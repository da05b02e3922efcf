// Where a ready kernel runs: the rules that both propagators share.
#ifndef TENSORBRAID_EXECUTOR_SCHEDULING_H_
#define TENSORBRAID_EXECUTOR_SCHEDULING_H_

#include <new>
#include <span>
#include <stdexcept>

#include "executor/plan.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// How many ScopedTransportThread this thread is inside of.
inline thread_local int transport_depth = 0;

// Above these sizes of its inputs together, a kernel takes long enough (some 50 µs) for another thread to be worth
// waking, or for a transport's thread not to be kept from its messages.
inline constexpr size_t kHeavyBytesExpensive = 512 << 10;
inline constexpr size_t kHeavyBytesCheap = 1 << 20;

inline bool IsHeavy(const Plan::PlanNode& p, std::span<const Entry> inputs) {
  if (p.kind != Plan::Kind::kSync) return false;
  size_t bytes = 0;
  for (const Entry& e : inputs) {
    if (e.value.is_valid()) bytes += e.value.num_bytes();
  }
  return bytes > (p.expensive ? kHeavyBytesExpensive : kHeavyBytesCheap);
}

// The order of importance of errors of one step: a cancellation never hides what caused it.
inline bool IsConsequence(const Status& s) { return absl::IsCancelled(s) || absl::IsAborted(s); }

// References become values where the node wants values. `inputs` are those of `p`.
inline Status Dereference(const Plan::PlanNode& p, std::span<Entry> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Entry& entry = inputs[i];
    if (IsRef(p.node->declared_input_type(static_cast<int>(i)))) {
      if (entry.ref || !entry.value.is_valid()) continue;
      return InvalidArgument("input ", i, " must be a reference to a variable, not a tensor");
    }
    if (!entry.ref || (i == 0 && p.reads_reference)) continue;
    TF_ASSIGN_OR_RETURN(entry.value, entry.ref->Read());
    entry.ref.reset();
  }
  return OkStatus();
}

// Runs a kernel. What the standard library throws when something is larger than the memory is an error of the step: a
// graph must not be able to end the server.
inline Status Compute(Kernel& kernel, KernelContext& context) {
  try {
    return kernel.Compute(context);
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("out of memory");
  } catch (const std::length_error&) {
    return ResourceExhausted("a value would be larger than the memory");
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_SCHEDULING_H_
