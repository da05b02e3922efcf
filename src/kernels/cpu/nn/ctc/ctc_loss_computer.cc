// The CTC loss by the forward-backward algorithm, in the logarithmic domain. Source: Graves et al., 2006.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/nn/ctc/ctc.h"
#include "kernels/cpu/vector_math.h"

namespace tensorbraid::cpu {
namespace {

template <typename A>
constexpr A kImpossible = -std::numeric_limits<A>::infinity();

// ln(e^a + e^b + e^c), where any may be -infinity.
template <typename A>
inline A AddLogs(A a, A b, A c) {
  const A ab = a > b ? a : b;
  const A max = ab > c ? ab : c;
  const A shift = max == kImpossible<A> ? A(0) : max;
  return shift + VectorLog(VectorExp(a - shift) + VectorExp(b - shift) + VectorExp(c - shift));
}

// Independent partial sums let the compiler vectorise.
template <typename A>
A PartialSums(const A* x, int64_t n) {
  A part[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int k = 0; k < 8; ++k) part[k] += x[i + k];
  }
  for (int k = 0; i < n; ++i, ++k) part[k] += x[i];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

}  // namespace

// Writes the softmax of each row to `gradient`. Returns false if a result is not a number.
template <typename A>
bool CtcLossComputer<A>::Softmax(const CtcSequence<A>& logits, A* gradient) const {
  bool valid = true;
  for (int64_t t = 0; t < logits.length; ++t) {
    const A* x = logits.row(t);
    A* y = gradient + t * logits.stride;
    A max = x[0];
    for (int64_t k = 1; k < logits.classes; ++k) max = x[k] > max ? x[k] : max;
#pragma GCC ivdep
    for (int64_t k = 0; k < logits.classes; ++k) y[k] = VectorExp(x[k] - max);
    const A sum = PartialSums(y, logits.classes);
    valid = valid && sum == sum;
    const A factor = A(1) / sum;
#pragma GCC ivdep
    for (int64_t k = 0; k < logits.classes; ++k) y[k] *= factor;
  }
  return valid;
}

template <typename A>
void CtcLossComputer<A>::SetStates(std::span<const int32_t> labels) {
  states_ = 2 * static_cast<int64_t>(labels.size()) + 1;
  width_ = (states_ + kLanes - 1) / kLanes * kLanes;
  label_of_.assign(states_, blank_);
  stay_.assign(width_ + 2 * kMargin, A(0));
  skip_.assign(width_ + 2 * kMargin, kImpossible<A>);
  for (int64_t i = 0; i < static_cast<int64_t>(labels.size()); ++i) {
    const int64_t u = 2 * i + 1;
    label_of_[u] = labels[i];
    if (!merge_) stay_[kMargin + u] = kImpossible<A>;
    // Equal labels need a blank between them if repeated labels are merged.
    if (i > 0 && !(merge_ && labels[i] == labels[i - 1])) skip_[kMargin + u] = A(0);
  }
}

// ln of the probability of each state's label. The first state of the row is at out[kMargin].
template <typename A>
void CtcLossComputer<A>::Emissions(const A* probabilities, A* out) const {
  std::fill(out, out + width_ + 2 * kMargin, A(0));
  A* const row = out + kMargin;
  for (int64_t u = 0; u < states_; ++u) row[u] = probabilities[label_of_[u]];
#pragma GCC ivdep
  for (int64_t i = 0; i < width_ + 2 * kMargin; ++i) out[i] = VectorLog(out[i]);
}

template <typename A>
Status CtcLossComputer<A>::Run(const CtcSequence<A>& logits, std::span<const int32_t> labels, A* loss, A* gradient) {
  const int64_t length = logits.length;
  if (!Softmax(logits, gradient)) {
    *loss = std::numeric_limits<A>::quiet_NaN();
    for (int64_t t = 0; t < length; ++t) std::fill_n(gradient + t * logits.stride, logits.classes, *loss);
    return OkStatus();
  }
  SetStates(labels);
  const int64_t stride = width_ + 2 * kMargin;
  // The memory comes from the tensor allocator, which has a limit, because the size grows with the product of two sizes
  // that a client chooses.
  if (scratch_.num_elements() < 2 * length * stride) {
    scratch_ = Tensor();
    TF_ASSIGN_OR_RETURN(scratch_, Tensor::Create(DTypeOf<A>::value, {2, length, stride}));
  }
  A* const emit_rows = scratch_.inplace_data<A>().data();
  A* const forward_rows = emit_rows + length * stride;
  next_.assign(stride, kImpossible<A>);
  backward_.assign(stride, kImpossible<A>);
  posterior_.resize(width_);
  for (int64_t t = 0; t < length; ++t) Emissions(gradient + t * logits.stride, emit_rows + t * stride);

  // Forward: an alignment starts with the first blank or the first label.
  std::fill_n(forward_rows, stride, kImpossible<A>);
  for (int64_t u = 0; u < std::min<int64_t>(2, states_); ++u) forward_rows[kMargin + u] = emit_rows[kMargin + u];
  for (int64_t t = 1; t < length; ++t) {
    const A* before = forward_rows + (t - 1) * stride + kMargin;
    A* now = forward_rows + t * stride + kMargin;
    const A* emit = emit_rows + t * stride + kMargin;
    const A* stay = stay_.data() + kMargin;
    const A* skip = skip_.data() + kMargin;
    std::fill_n(now - kMargin, kMargin, kImpossible<A>);
#pragma GCC ivdep
    for (int64_t u = 0; u < width_; ++u) {
      now[u] = AddLogs(before[u] + stay[u], before[u - 1], before[u - 2] + skip[u]) + emit[u];
    }
    std::fill_n(now + width_, kMargin, kImpossible<A>);
  }
  // An alignment ends with the last label or the last blank.
  const A* last = forward_rows + (length - 1) * stride + kMargin;
  A total = AddLogs(last[states_ - 1], states_ > 1 ? last[states_ - 2] : kImpossible<A>, kImpossible<A>);
  const bool optional_last_blank = optional_last_blank_ && labels.empty() && length > 1;
  const A last_step = optional_last_blank ? std::log1p(std::exp(emit_rows[(length - 1) * stride + kMargin])) : A(0);
  if (optional_last_blank) total = forward_rows[(length - 2) * stride + kMargin] + last_step;
  *loss = -total;
  if (total == kImpossible<A>) return OkStatus();

  // Backward, together with the probability that the alignment is in a state at a time, which is subtracted from the
  // softmax to give the derivative.
  A* const backward = backward_.data() + kMargin;
  A* const next = next_.data() + kMargin;
  for (int64_t t = length - 1; t >= 0; --t) {
    const A* forward = forward_rows + t * stride + kMargin;
    if (t == length - 1) {
      for (int64_t u = std::max<int64_t>(0, states_ - 2); u < states_; ++u) backward[u] = 0;
    } else {
      const A* emit = emit_rows + (t + 1) * stride + kMargin;
      const A* stay = stay_.data() + kMargin;
      const A* skip = skip_.data() + kMargin;
#pragma GCC ivdep
      for (int64_t u = 0; u < width_; ++u) next[u] = backward[u] + emit[u];
#pragma GCC ivdep
      for (int64_t u = 0; u < width_; ++u) {
        backward[u] = AddLogs(next[u] + stay[u], next[u + 1], next[u + 2] + skip[u + 2]);
      }
      if (optional_last_blank && t == length - 2) backward[0] = last_step;
    }
#pragma GCC ivdep
    for (int64_t u = 0; u < width_; ++u) posterior_[u] = VectorExp(forward[u] + backward[u] - total);
    A* derivative = gradient + t * logits.stride;
    for (int64_t u = 0; u < states_; ++u) derivative[label_of_[u]] -= posterior_[u];
  }
  return OkStatus();
}

template class CtcLossComputer<float>;
template class CtcLossComputer<double>;

}  // namespace tensorbraid::cpu
