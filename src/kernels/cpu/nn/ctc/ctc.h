// The algorithms of connectionist temporal classification (CTC) for one sequence. ctc.cc has the kernels.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CTC_CTC_H_
#define TENSORBRAID_KERNELS_CPU_NN_CTC_CTC_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::cpu {

// One sequence of a tensor [time, batch, classes]: row t starts at data + t * stride.
template <typename A>
struct CtcSequence {
  const A* data;
  int64_t stride;
  int64_t length;
  int64_t classes;
  const A* row(int64_t t) const { return data + t * stride; }
};

// Computes losses and gradients of sequences, one at a time; keeps its scratch memory in between.
template <typename A>
class CtcLossComputer {
 public:
  // With `merge_repeated`, a label that is repeated without a blank in between is counted once. With
  // `optional_last_blank`, a sequence of several steps and no labels has the value that TensorFlow's CTCLoss gives: the
  // last step counts as 1 + P(blank) instead of P(blank).
  CtcLossComputer(int32_t blank, bool merge_repeated, bool optional_last_blank = false)
      : blank_(blank), merge_(merge_repeated), optional_last_blank_(optional_last_blank) {}

  // Sets *loss to -ln P(labels | logits), and rows [0, length) of `gradient` (laid out like the logits) to its
  // derivative. If no alignment is possible, the loss is infinite and the derivative is softmax(logits), as in
  // TensorFlow. If a row has NaN or infinity, the loss and the derivative are NaN. ResourceExhausted if there is not
  // enough memory. REQUIRES: length > 0, labels are in [0, classes) and none is the blank.
  Status Run(const CtcSequence<A>& logits, std::span<const int32_t> labels, A* loss, A* gradient);

 private:
  // The states of the alignment are the labels with a blank before, between and after them. Rows of the arrays below
  // have kMargin impossible states before the first and at least kMargin after the last one, so that loops over states
  // need no bounds.
  static constexpr int64_t kMargin = 2;
  static constexpr int64_t kLanes = 16;

  bool Softmax(const CtcSequence<A>& logits, A* gradient) const;
  void SetStates(std::span<const int32_t> labels);
  void Emissions(const A* probabilities, A* out) const;

  const int32_t blank_;
  const bool merge_;
  const bool optional_last_blank_;
  int64_t states_ = 0;  // 2 * labels + 1
  int64_t width_ = 0;   // of a row, without margins; a multiple of kLanes
  std::vector<int32_t> label_of_;
  std::vector<A> stay_;  // 0 if a state may follow itself, else -infinity
  std::vector<A> skip_;  // 0 if a state may follow the state two before it, else -infinity
  // Two arrays [time, row]: ln of the probability of each state's label, and ln of the probability of all ways to each
  // state.
  Tensor scratch_;
  std::vector<A> next_, backward_, posterior_;  // one row each
};
extern template class CtcLossComputer<float>;
extern template class CtcLossComputer<double>;

// A sequence of labels and ln of its probability.
template <typename A>
struct CtcPath {
  std::vector<int64_t> labels;
  A log_probability;
};

// Finds the `top_paths` most probable label sequences by a beam search that keeps the `beam_width` best prefixes. The
// blank is the last class. `merge_repeated` removes equal neighbours from the results. InvalidArgument if fewer paths
// exist. ResourceExhausted if all searches that share the counter `held`, which starts at 0, together need too much
// memory.
template <typename A>
StatusOr<std::vector<CtcPath<A>>> CtcBeamSearch(const CtcSequence<A>& logits, int64_t beam_width, int64_t top_paths,
                                                bool merge_repeated, std::atomic<int64_t>* held);
extern template StatusOr<std::vector<CtcPath<float>>> CtcBeamSearch(const CtcSequence<float>&, int64_t, int64_t, bool,
                                                                    std::atomic<int64_t>*);
extern template StatusOr<std::vector<CtcPath<double>>> CtcBeamSearch(const CtcSequence<double>&, int64_t, int64_t, bool,
                                                                     std::atomic<int64_t>*);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CTC_CTC_H_
