// Softmax, its logarithm, and the cross entropies. Each is computed for blocks of rows that stay in the cache.
//
// Rows are often short (for example 10 classes), so exponentials are computed for a whole block at once, which
// vectorises well.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/whole_vectors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

template <typename A>
void ExpInPlace(A* x, int64_t n) {
  ApplyInVectors(x, x, n, [](const auto& v) { return v.exp(); });
}

template <typename A>
A MaxOf(const A* x, int64_t n) {
  A max = x[0];
  for (int64_t i = 1; i < n; ++i) max = x[i] > max ? x[i] : max;
  return max;
}

// out = in - max(in), row by row. `out` may be `in`.
template <typename A>
void Shift(const A* in, int64_t rows, int64_t classes, A* out) {
  for (int64_t r = 0; r < rows; ++r, in += classes, out += classes) {
    const A max = MaxOf(in, classes);
#pragma GCC ivdep
    for (int64_t j = 0; j < classes; ++j) out[j] = in[j] - max;
  }
}

int64_t RowsPerBlock(int64_t classes) { return std::max<int64_t>(1, 4096 / std::max<int64_t>(1, classes)); }

// Computes the softmax of each row, or its logarithm. `out` may be `in`.
template <typename A, bool kLog>
void SoftmaxRows(const A* in, int64_t rows, int64_t classes, A* out) {
  const int64_t step = RowsPerBlock(classes);
  std::vector<A> exps(kLog ? std::min(step, rows) * classes : 0);
  for (int64_t at = 0; at < rows; at += step, in += step * classes, out += step * classes) {
    const int64_t n = std::min(step, rows - at);
    Shift(in, n, classes, out);
    A* e = out;
    if constexpr (kLog) {
      e = exps.data();
      std::copy(out, out + n * classes, e);
    }
    ExpInPlace(e, n * classes);
    for (int64_t r = 0; r < n; ++r) {
      const A sum = SumInVectors(e + r * classes, classes);
      A* row = out + r * classes;
      if constexpr (kLog) {
        const A log_sum = std::log(sum);
        for (int64_t j = 0; j < classes; ++j) row[j] -= log_sum;
      } else {
        const A factor = A(1) / sum;
        for (int64_t j = 0; j < classes; ++j) row[j] *= factor;
      }
    }
  }
}

template <typename T, bool kLog>
Status SoftmaxKernel(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.shape().rank() < 1) return InvalidArgument("logits must have rank 1 or more, got shape ", in.shape());
  const int64_t classes = in.shape().dim(in.shape().rank() - 1);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, in.shape()));
  if (in.num_elements() == 0) return OkStatus();
  const T* from = in.data<T>().data();
  T* to = out->inplace_data<T>().data();
  Parallel(ctx, in.num_elements() / classes, 4.0 * classes, [&](int64_t begin, int64_t end) {
    if constexpr (kIsHalf<T>) {
      const int64_t n = (end - begin) * classes;
      std::vector<float> wide(n);
      ToFloat(from + begin * classes, wide.data(), n);
      SoftmaxRows<float, kLog>(wide.data(), end - begin, classes, wide.data());
      FromFloat(wide.data(), to + begin * classes, n);
    } else {
      SoftmaxRows<T, kLog>(from + begin * classes, end - begin, classes, to + begin * classes);
    }
  });
  return OkStatus();
}

// The loss and gradient of each row, where the labels are probabilities. In memory, the rows of the logits are
// logit_row elements apart, and the classes of a row are logit_step elements apart. For the labels, the distances are
// label_row and label_step. A distance is 0 where logits or labels are broadcast.
template <typename A>
void DenseEntropyRows(const A* logits, const A* labels, int64_t logit_row, int64_t logit_step, int64_t label_row,
                      int64_t label_step, int64_t rows, int64_t classes, A* loss, A* backprop) {
  const int64_t block = RowsPerBlock(classes);
  std::vector<A> shifted(std::min(block, rows) * classes);
  for (int64_t at = 0; at < rows; at += block) {
    const int64_t n = std::min(block, rows - at);
    A* const e = backprop + at * classes;
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t j = 0; j < classes; ++j) {
        shifted[r * classes + j] = logits[(at + r) * logit_row + j * logit_step];
      }
    }
    Shift(shifted.data(), n, classes, shifted.data());
    std::copy(shifted.data(), shifted.data() + n * classes, e);
    ExpInPlace(e, n * classes);
    for (int64_t r = 0; r < n; ++r) {
      A* row = e + r * classes;
      const A* s = shifted.data() + r * classes;
      const A* p = labels + (at + r) * label_row;
      const A sum = SumInVectors(row, classes);
      const A log_sum = std::log(sum);
      const A factor = A(1) / sum;
      A total = 0;
      for (int64_t j = 0; j < classes; ++j) {
        const A label = p[j * label_step];
        // A label of 0 contributes nothing, even where the probability underflows.
        total += label == A(0) ? A(0) : label * (log_sum - s[j]);
        row[j] = row[j] * factor - label;
      }
      loss[at + r] = total;
    }
  }
}

template <typename T>
Status CrossEntropyKernel(KernelContext& ctx) {
  const Tensor& logits = ctx.input(0);
  const Tensor& labels = ctx.input(1);
  if (logits.shape().rank() != 2 || labels.shape().rank() != 2) {
    return InvalidArgument("logits and labels must be matrices, got ", logits.shape(), " and ", labels.shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(logits.shape(), labels.shape()));
  const int64_t rows = shape.dim(0), classes = shape.dim(1);
  if (classes == 0 && rows > 0) return InvalidArgument("there must be at least one class, got logits ", logits.shape());
  TF_ASSIGN_OR_RETURN(Tensor * loss, ctx.AllocateOutput(0, {rows}));
  TF_ASSIGN_OR_RETURN(Tensor * backprop, ctx.AllocateOutput(1, shape));
  if (rows == 0) return OkStatus();
  using A = ComputeType<T>;
  const int64_t logit_step = logits.shape().dim(1) == classes ? 1 : 0;
  const int64_t logit_row = logits.shape().dim(0) == rows ? logits.shape().dim(1) : 0;
  const int64_t label_step = labels.shape().dim(1) == classes ? 1 : 0;
  const int64_t label_row = labels.shape().dim(0) == rows ? labels.shape().dim(1) : 0;
  const auto run = [&](const A* x, const A* p, A* out_loss, A* out_backprop) {
    Parallel(ctx, rows, 5.0 * classes, [&](int64_t begin, int64_t end) {
      DenseEntropyRows(x + begin * logit_row, p + begin * label_row, logit_row, logit_step, label_row, label_step,
                       end - begin, classes, out_loss + begin, out_backprop + begin * classes);
    });
  };
  if constexpr (kIsHalf<T>) {
    std::vector<float> x(logits.num_elements()), p(labels.num_elements()), l(rows), b(rows * classes);
    ToFloat(logits.data<T>().data(), x.data(), x.size());
    ToFloat(labels.data<T>().data(), p.data(), p.size());
    run(x.data(), p.data(), l.data(), b.data());
    FromFloat(l.data(), loss->inplace_data<T>().data(), rows);
    FromFloat(b.data(), backprop->inplace_data<T>().data(), rows * classes);
  } else {
    run(logits.data<T>().data(), labels.data<T>().data(), loss->inplace_data<T>().data(),
        backprop->inplace_data<T>().data());
  }
  return OkStatus();
}

// The loss and gradient of each row, where each label is the number of a class.
template <typename A, typename L>
void SparseEntropyRows(const A* logits, const L* labels, int64_t rows, int64_t classes, A* loss, A* backprop) {
  const int64_t block = RowsPerBlock(classes);
  for (int64_t at = 0; at < rows; at += block) {
    const int64_t n = std::min(block, rows - at);
    A* const e = backprop + at * classes;
    Shift(logits + at * classes, n, classes, e);
    for (int64_t r = 0; r < n; ++r) loss[at + r] = -e[r * classes + labels[at + r]];
    ExpInPlace(e, n * classes);
    for (int64_t r = 0; r < n; ++r) {
      A* row = e + r * classes;
      const A sum = SumInVectors(row, classes);
      const A factor = A(1) / sum;
      for (int64_t j = 0; j < classes; ++j) row[j] *= factor;
      row[labels[at + r]] -= A(1);
      loss[at + r] += std::log(sum);
    }
  }
}

template <typename T, typename L>
Status SparseCrossEntropyKernel(KernelContext& ctx) {
  const Tensor& logits = ctx.input(0);
  const Tensor& labels = ctx.input(1);
  if (logits.shape().rank() != 2) return InvalidArgument("logits must be a matrix, got shape ", logits.shape());
  if (labels.shape().rank() != 1)
    return InvalidArgument("labels must be 1-D with one class per row, got shape ", labels.shape());
  const int64_t rows = logits.shape().dim(0), classes = logits.shape().dim(1);
  if (labels.shape().dim(0) != rows) {
    return InvalidArgument("logits and labels must have the same number of rows, got ", logits.shape(), " and ",
                           labels.shape());
  }
  if (classes == 0) return InvalidArgument("there must be at least one class, got logits ", logits.shape());
  const L* label = labels.data<L>().data();
  for (int64_t i = 0; i < rows; ++i) {
    if (label[i] < 0 || label[i] >= classes) {
      return cpu::LabelOutOfRange(i, label[i], classes);
    }
  }
  TF_ASSIGN_OR_RETURN(Tensor * loss, ctx.AllocateOutput(0, {rows}));
  TF_ASSIGN_OR_RETURN(Tensor * backprop, ctx.AllocateOutput(1, logits.shape()));
  using A = ComputeType<T>;
  const auto run = [&](const A* x, A* out_loss, A* out_backprop) {
    Parallel(ctx, rows, 4.0 * classes, [&](int64_t begin, int64_t end) {
      SparseEntropyRows(x + begin * classes, label + begin, end - begin, classes, out_loss + begin,
                        out_backprop + begin * classes);
    });
  };
  if constexpr (kIsHalf<T>) {
    std::vector<float> x(rows * classes), l(rows), b(rows * classes);
    ToFloat(logits.data<T>().data(), x.data(), x.size());
    run(x.data(), l.data(), b.data());
    FromFloat(l.data(), loss->inplace_data<T>().data(), rows);
    FromFloat(b.data(), backprop->inplace_data<T>().data(), rows * classes);
  } else {
    run(logits.data<T>().data(), loss->inplace_data<T>().data(), backprop->inplace_data<T>().data());
  }
  return OkStatus();
}

template <typename... T>
void AddSoftmax(KernelRegistry& r, Types<T...>) {
  (r.Add("Softmax", {{"T", {DTypeOf<T>::value}}}, SoftmaxKernel<T, false>, ElementCost<2000>), ...);
  (r.Add("LogSoftmax", {{"T", {DTypeOf<T>::value}}}, SoftmaxKernel<T, true>, ElementCost<2000>), ...);
  (r.Add("SoftmaxCrossEntropyWithLogits", {{"T", {DTypeOf<T>::value}}}, CrossEntropyKernel<T>, ElementCost<3000>), ...);
  (r.Add("SparseSoftmaxCrossEntropyWithLogits", {{"T", {DTypeOf<T>::value}}, {"Tlabels", {kInt32}}},
         SparseCrossEntropyKernel<T, int32_t>, ElementCost<3000>),
   ...);
  (r.Add("SparseSoftmaxCrossEntropyWithLogits", {{"T", {DTypeOf<T>::value}}, {"Tlabels", {kInt64}}},
         SparseCrossEntropyKernel<T, int64_t>, ElementCost<3000>),
   ...);
}

}  // namespace

void RegisterNnSoftmaxKernels(KernelRegistry& r) { AddSoftmax(r, FloatTypes{}); }

}  // namespace tensorbraid::cpu
