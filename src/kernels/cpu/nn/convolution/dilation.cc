// Grayscale dilation and its gradients.
#include "ops/nn/dilation.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
T LowestValue() {
  if constexpr (std::is_same_v<T, Float16>) {
    return T(-65504.0f);
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return T(-3.3895314e38f);
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

// The largest sum of input and filter under a window, for one channel, and its place.
template <typename T>
struct DilationPeak {
  T value;
  int64_t in_row, in_column;  // of the input
  int64_t row, column;        // of the filter
};

// Of several equal sums, the first one is the peak. As in TensorFlow, if no sum is above the lowest value, for example
// because all are NaN, the peak is the first element of the filter and of the input under the window.
template <typename T>
DilationPeak<T> FindPeak(const Dilation& d, const T* image, const T* filter, int64_t out_row, int64_t out_column,
                         int64_t channel) {
  const int64_t top = out_row * d.height.stride - d.height.pad_before;
  const int64_t left = out_column * d.width.stride - d.width.pad_before;
  DilationPeak<T> peak{LowestValue<T>(), std::max<int64_t>(0, top), std::max<int64_t>(0, left), 0, 0};
  const int64_t row_end = d.height.EndInside(out_row), column_end = d.width.EndInside(out_column);
  for (int64_t i = d.height.FirstInside(out_row); i < row_end; ++i) {
    for (int64_t j = d.width.FirstInside(out_column); j < column_end; ++j) {
      const int64_t row = top + i * d.height.dilation, column = left + j * d.width.dilation;
      const T value = Plus(image[(row * d.width.input + column) * d.channels + channel],
                           filter[(i * d.width.window + j) * d.channels + channel]);
      if (static_cast<ComputeType<T>>(value) > static_cast<ComputeType<T>>(peak.value)) {
        peak = {value, row, column, i, j};
      }
    }
  }
  return peak;
}

// Calls body(output element, channel, peak) for rows [row, row_end) of the output of an image and channels [channel,
// channel_end).
template <typename T, typename Body>
void ForEachPeak(const Dilation& d, const T* x, const T* filter, int64_t image, int64_t row, int64_t row_end,
                 int64_t channel, int64_t channel_end, const Body& body) {
  const T* pixels = x + image * d.height.input * d.width.input * d.channels;
  for (int64_t i = row; i < row_end; ++i) {
    for (int64_t j = 0; j < d.width.output; ++j) {
      const int64_t at = ((image * d.height.output + i) * d.width.output + j) * d.channels;
      for (int64_t c = channel; c < channel_end; ++c) body(at + c, c, FindPeak(d, pixels, filter, i, j, c));
    }
  }
}

enum class DilationResult { kOutput, kInput, kFilter };

template <typename T>
void ComputeDilation(KernelContext& ctx, DilationResult result, const Dilation& d, const Tensor& input,
                     const Tensor& filter_tensor, const Tensor* gradient, Tensor* out) {
  const T* x = input.data<T>().data();
  const T* filter = filter_tensor.data<T>().data();
  T* to = out->inplace_data<T>().data();
  const int64_t rows = d.height.output;
  const double row_ns = 2.0 * d.width.output * d.channels * d.height.window * d.width.window;
  if (result == DilationResult::kOutput) {
    Parallel(ctx, d.batch * rows, row_ns, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        ForEachPeak(d, x, filter, r / rows, r % rows, r % rows + 1, /*channel=*/0, d.channels,
                    [&](int64_t at, int64_t, const DilationPeak<T>& peak) { to[at] = peak.value; });
      }
    });
    return;
  }
  const T* g = gradient->data<T>().data();
  std::fill_n(to, out->num_elements(), T());
  if (result == DilationResult::kInput) {
    Parallel(ctx, d.batch, row_ns * rows, [&](int64_t begin, int64_t end) {
      for (int64_t image = begin; image < end; ++image) {
        T* pixels = to + image * d.height.input * d.width.input * d.channels;
        ForEachPeak(d, x, filter, image, /*row=*/0, rows, /*channel=*/0, d.channels,
                    [&](int64_t at, int64_t c, const DilationPeak<T>& peak) {
                      T& sum = pixels[(peak.in_row * d.width.input + peak.in_column) * d.channels + c];
                      sum = Plus(sum, g[at]);
                    });
      }
    });
    return;
  }
  Parallel(ctx, d.channels, row_ns * rows * d.batch / d.channels, [&](int64_t begin, int64_t end) {
    for (int64_t image = 0; image < d.batch; ++image) {
      ForEachPeak(d, x, filter, image, /*row=*/0, rows, begin, end,
                  [&](int64_t at, int64_t c, const DilationPeak<T>& peak) {
                    T& sum = to[(peak.row * d.width.window + peak.column) * d.channels + c];
                    sum = Plus(sum, g[at]);
                  });
    }
  });
}

template <typename T>
class DilationKernel final : public Kernel {
 public:
  explicit DilationKernel(const KernelConstruction& c)
      : attrs_(ReadWindowAttrs(c.node(), 2, "rates")),
        result_(c.node().type() == "Dilation2D"                ? DilationResult::kOutput
                : c.node().type() == "Dilation2DBackpropInput" ? DilationResult::kInput
                                                               : DilationResult::kFilter) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(attrs_.status());
    const bool forward = result_ == DilationResult::kOutput;
    TF_ASSIGN_OR_RETURN(const Dilation d, MakeDilation(*attrs_, ctx.input(0).shape(), ctx.input(1).shape(),
                                                       forward ? Shape::Unknown() : ctx.input(2).shape()));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, forward                             ? d.OutputShape()
                                                            : result_ == DilationResult::kInput ? d.InputShape()
                                                                                                : d.FilterShape()));
    if (out->num_elements() == 0) return OkStatus();
    ComputeDilation<T>(ctx, result_, d, ctx.input(0), ctx.input(1), forward ? nullptr : &ctx.input(2), out);
    return OkStatus();
  }

 private:
  const StatusOr<WindowAttrs> attrs_;
  const DilationResult result_;
};

Cost DilationCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const double filter = c.input_elements(1) / std::max(1.0, c.input_dim(1, -1));
  const double outputs = c.num_inputs() > 2  ? c.input_elements(2)
                         : c.knows_output(0) ? c.output_elements(0)
                                             : c.input_elements(0);
  cost.flops = kScalarFlops * 2 * outputs * filter;
  return cost;
}

template <typename... T>
void AddDilation(KernelRegistry& r, Types<T...>) {
  for (const char* op : {"Dilation2D", "Dilation2DBackpropInput", "Dilation2DBackpropFilter"}) {
    (r.Add<DilationKernel<T>>(op, {{"T", {DTypeOf<T>::value}}}, DilationCost), ...);
  }
}

}  // namespace

void RegisterNnDilationKernels(KernelRegistry& r) { AddDilation(r, RealTypes{}); }

}  // namespace tensorbraid::cpu
