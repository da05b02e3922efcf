// Isotonic regression: finds the sequence that never rises and whose sum of squared differences from a given one is
// smallest.
#include <algorithm>
#include <vector>

#include "kernels/cpu/compute_type.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Neighbours that get the same value in the result: the mean of their values in the input.
struct Segment {
  double sum = 0;
  int64_t begin = 0;
  int64_t size = 0;
  double mean() const { return sum / static_cast<double>(size); }
};

// Each element begins a segment. While the last segment is above the one before it, the two become one.
template <typename T>
void FindSegments(const T* row, int64_t columns, std::vector<Segment>* segments) {
  segments->clear();
  for (int64_t i = 0; i < columns; ++i) {
    Segment last{.sum = static_cast<double>(static_cast<ComputeType<T>>(row[i])), .begin = i, .size = 1};
    while (!segments->empty() && segments->back().mean() < last.mean()) {
      const Segment& before = segments->back();
      last = {.sum = before.sum + last.sum, .begin = before.begin, .size = before.size + last.size};
      segments->pop_back();
    }
    segments->push_back(last);
  }
}

// Outputs: the result for each row along the last axis, and for each element the number of its segment.
template <typename T, typename R>
Status IsotonicRegression(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  TF_ASSIGN_OR_RETURN(Tensor * numbers, ctx.AllocateOutput(1, in.shape()));
  if (in.num_elements() == 0) return OkStatus();
  const int64_t columns = in.shape().rank() == 0 ? 1 : in.shape().dim(in.shape().rank() - 1);
  const T* x = in.data<T>().data();
  R* y = out->inplace_data<R>().data();
  int32_t* n = numbers->inplace_data<int32_t>().data();
  ctx.pool().ParallelFor(
      in.num_elements() / columns, 20.0 * static_cast<double>(columns), [&](int64_t begin, int64_t end) {
        std::vector<Segment> segments;
        for (int64_t r = begin; r < end; ++r) {
          FindSegments(x + r * columns, columns, &segments);
          int32_t number = 0;
          for (const Segment& s : segments) {
            std::fill_n(y + r * columns + s.begin, s.size, static_cast<R>(static_cast<ComputeType<R>>(s.mean())));
            std::fill_n(n + r * columns + s.begin, s.size, number++);
          }
        }
      });
  return OkStatus();
}

template <typename T, typename R>
void Add(KernelRegistry& r) {
  r.Add("IsotonicRegression", {{"T", {DTypeOf<T>::value}}, {"output_dtype", {DTypeOf<R>::value}}},
        IsotonicRegression<T, R>, ElementCost<20'000>);
}

}  // namespace

void RegisterNnIsotonicKernels(KernelRegistry& r) {
  Add<float, float>(r);
  Add<double, double>(r);
  Add<Float16, Float16>(r);
  Add<Bfloat16, Bfloat16>(r);
  Add<int8_t, float>(r);
  Add<int16_t, float>(r);
  Add<int32_t, double>(r);
  Add<int64_t, double>(r);
}

}  // namespace tensorbraid::cpu
