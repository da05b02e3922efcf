// Helpers that the kernels of datasets share.
#ifndef TENSORBRAID_KERNELS_CPU_DATASET_UTIL_H_
#define TENSORBRAID_KERNELS_CPU_DATASET_UTIL_H_

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/dataset/dataset.h"
#include "runtime/dataset/iterator_state.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// Where the functions of a node's datasets run.
FunctionRuntime::Place PlaceOf(const KernelContext& ctx);

// Sets output 0 to a dataset. Its elements have the dtypes and shapes of the node's attributes output_types (or
// Toutput_types) and output_shapes; without these attributes, they are scalar strings. `make` creates its iterators.
Status EmitDataset(KernelContext& ctx, const std::vector<RefPtr<Dataset>>& inputs, Dataset::Make make,
                   int64_t cardinality = Dataset::kUnknown);
// The dataset in input i.
StatusOr<RefPtr<Dataset>> InputDataset(const KernelContext& ctx, int i);
// The integer, bool or string in the scalar input i. Returns InvalidArgument, naming `what`, if the input is not such
// a scalar.
StatusOr<int64_t> NumberInput(const KernelContext& ctx, int i, const char* what);
StatusOr<bool> BoolInput(const KernelContext& ctx, int i, const char* what);
StatusOr<std::string> StringInput(const KernelContext& ctx, int i, const char* what);

// Row i of a tensor. The row shares the tensor's buffer. REQUIRES: rank >= 1, 0 <= i < dim(0).
Tensor RowOf(const Tensor& t, int64_t i);
// Stacks each component of the elements, which must all have the same shapes. REQUIRES: there is at least one element.
// Strings of tensors that nothing else uses are moved. Returns InvalidArgument if the shapes or dtypes differ, or
// ResourceExhausted if there is not enough memory.
StatusOr<Element> StackElements(std::vector<Element> elements);
// The number of calls to run in parallel for num_parallel_calls: limited to 16 per core; one per core if `wanted` is
// less than 1.
int64_t ParallelCalls(int64_t wanted);

// A kernel that iterates over a dataset within one call of the op. `work` reads the elements from the iterator.
template <Status (*work)(KernelContext&, const IteratorContext&, const Iterator&)>
class PullKernel final : public AsyncKernel {
 public:
  explicit PullKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    ctx.pool().ScheduleBlocking([&ctx, done = std::move(done)] {
      const Status status = [&]() -> Status {
        TF_ASSIGN_OR_RETURN(const auto dataset, InputDataset(ctx, 0));
        DataEnvironment env(ctx.env().functions, PlaceOf(ctx));
        const IteratorContext context{.env = &env, .cancellation = ctx.env().cancellation, .depth = 0};
        TF_ASSIGN_OR_RETURN(const Iterator pull, dataset->MakeIterator(context));
        return work(ctx, context, pull);
      }();
      done(status);
    });
  }
};

// The iterator that MakeStateful makes.
template <typename State, typename Pull, typename VisitState>
class StatefulIterator final : public Iterator::Impl {
 public:
  StatefulIterator(State state, Pull pull, VisitState visit)
      : state_(std::move(state)), pull_(std::move(pull)), visit_(std::move(visit)) {}
  StatusOr<bool> Next(const IteratorContext& ctx, Element* out) override {
    if constexpr (std::is_invocable_v<Pull&, State&, const IteratorContext&, Element*>) {
      return pull_(state_, ctx, out);
    } else {
      std::string text;
      TF_ASSIGN_OR_RETURN(const bool more, pull_(state_, ctx, &text));
      if (more) *out = {Tensor::Scalar(std::move(text))};
      return more;
    }
  }
  StatusOr<bool> Next(const IteratorContext& ctx, std::string* out) override {
    if constexpr (std::is_invocable_v<Pull&, State&, const IteratorContext&, std::string*>) {
      return pull_(state_, ctx, out);
    } else {
      return Impl::Next(ctx, out);
    }
  }
  void Visit(IteratorState& state) override { visit_(state_, state); }

 private:
  State state_;
  Pull pull_;
  VisitState visit_;
};

// Makes an iterator from a function pull(State&, context, element) that may change its state, and a function
// visit(State&, IteratorState&) that saves and restores it. By default the whole state is visited. The parameter
// `element` is an Element*, or a std::string* if all elements are scalar strings. A generic function that accepts both
// passes strings on without tensors.
template <typename State, typename Pull, typename Visit>
Iterator MakeStateful(State state, Pull pull, Visit visit) {
  // Not with make_shared, which would add five functions for each iterator.
  std::unique_ptr<Iterator::Impl> iterator =
      std::make_unique<StatefulIterator<State, Pull, Visit>>(std::move(state), std::move(pull), std::move(visit));
  return Iterator(std::move(iterator));
}
template <typename State, typename Pull>
Iterator MakeStateful(State state, Pull pull) {
  return MakeStateful(std::move(state), std::move(pull), [](State& own, IteratorState& saved) { saved(own); });
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_DATASET_UTIL_H_
