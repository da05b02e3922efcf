// What the two propagators (executor.h, frame_step.h) share: the decision on which thread a ready kernel runs, and the
// preparation and the call of a kernel.
#ifndef TENSORBRAID_EXECUTOR_SCHEDULING_H_
#define TENSORBRAID_EXECUTOR_SCHEDULING_H_

#include <new>
#include <span>
#include <stdexcept>

#include "core/memory/shared_memory.h"
#include "executor/plan.h"
#include "graph/model/references.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The number of ScopedTransportThread objects (executor.h) that exist on this thread.
inline thread_local int transport_depth = 0;

// If a kernel takes longer than this, it is worth waking another thread for it. Such a kernel should not run on a
// transport thread, which must return to its messages.
inline constexpr double kHeavyNs = 50'000;

// Whether the kernel of a ready node, with these inputs, is estimated to take longer than kHeavyNs. Plans decide this
// beforehand for most nodes.
inline bool IsHeavy(const Plan::PlanNode& p, std::span<const Entry> inputs) {
  if (p.weight != Plan::Weight::kAsk) return p.weight == Plan::Weight::kHeavy;
  return EstimatedNs(p.cost(CostContext(*p.node, inputs))) > kHeavyNs;
}

// How many inputs of the node, from the first on, may stay references although the op declares values.
inline int MayKeepReferences(const Node& node, const KernelDef& def) {
  int count = def.reads_reference ? 1 : 0;
  while (count < static_cast<int>(node.inputs().size()) && ForwardsInput(node, count)) ++count;
  return count;
}

// Replaces the references among `inputs`, the inputs of `p`, by the variables' values. References stay where the op
// declares a reference, and at the first p.may_keep_references inputs. InvalidArgument if an input is a value, but the
// op declares a reference.
inline Status Dereference(const Plan::PlanNode& p, std::span<Entry> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Entry& entry = inputs[i];
    if (IsRef(p.node->declared_input_type(static_cast<int>(i)))) {
      if (entry.ref || !entry.value.is_valid()) continue;
      return InvalidArgument("input ", i, " must be a reference to a variable, not a tensor");
    }
    if (!entry.ref || static_cast<int>(i) < p.may_keep_references) continue;
    TF_ASSIGN_OR_RETURN(entry.value,
                        p.derefs_for_neighbours ? entry.ref->ReadFrom(SharedAllocator()) : entry.ref->Read());
    entry.ref.reset();
  }
  return OkStatus();
}

// Copies the inputs whose memory the caller of the step may change before the kernel has ceased to use it.
inline void CopyKept(Plan::Keeps keeps, std::span<Entry> inputs) {
  for (Entry& entry : inputs) {
    const Tensor& value = entry.value;
    if (keeps == Plan::Keeps::kValue ? value.MayChange() : value.IsBorrowed()) [[unlikely]]
      entry.value = value.DeepCopy();
  }
}

// Makes the inputs of a ready node what its kernel expects: values in place of references, and copies of memory that
// may change while the kernel keeps it.
inline Status PrepareInputs(const Plan::PlanNode& p, std::span<Entry> inputs) {
  if (p.derefs) TF_RETURN_IF_ERROR(Dereference(p, inputs));
  if (p.keeps_inputs != Plan::Keeps::kNothing) {
    try {
      CopyKept(p.keeps_inputs, inputs);
    } catch (const std::bad_alloc&) {
      return ResourceExhausted("out of memory");
    }
  }
  return OkStatus();
}

// Runs a kernel. Turns the exceptions that the standard library throws for oversized allocations into errors of the
// step, because a graph must not be able to terminate the server.
inline Status Compute(Kernel& kernel, KernelContext& context) {
  try {
    return kernel.Compute(context);
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("out of memory");
  } catch (const std::length_error&) {
    return ResourceExhausted("out of memory: a value is too large to allocate");
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_SCHEDULING_H_
