// Connectionist temporal classification: losses and decoders for label sequences without alignment.
//
//   auto labels = SparsePlaceholder(g, kInt32, {-1, -1}, "labels");
//   auto cost = ReduceMean(nn::CtcLoss(labels, logits, lengths));
//   auto decoded = nn::CtcBeamSearchDecode(logits, lengths, {.beam_width = 10});
//   auto error = ReduceMean(EditDistance(decoded.sequence, labels));
//
// Logits are [batch, time, classes], or [time, batch, classes] with `.time_major = true` (the faster form, and the only
// one that TensorFlow's decoders accept). They are float32 or float64. Class classes - 1 is the blank. `lengths` is an
// int32 or int64 vector [batch] with the number of steps of each sequence. Source: Graves et al., 2006.
#ifndef TENSORBRAID_OPS_CTC_H_
#define TENSORBRAID_OPS_CTC_H_

#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/sparse.h"

namespace tensorbraid::nn {

struct CtcLossOptions {
  bool time_major = false;
  // Merges equal neighbours in the labels before anything else.
  bool preprocess_collapse_repeated = false;
  // Whether adjacent steps with the same class stand for one label. False: each step stands for a label of its own.
  bool merge_repeated = true;
  // What to do with a sequence that has more labels than steps. True: its loss and gradient are 0. False: the step
  // fails with InvalidArgument.
  bool ignore_longer_outputs_than_inputs = false;
  std::string name = {};
};
// The loss of each sequence: -ln P(labels | softmax(logits)), summed over all alignments; [batch]. Label t of sequence
// b is element [b, t] of `labels`, an int32 in [0, classes - 1); every sequence has at least one label. As in
// TensorFlow, a value of classes - 1 or more ends the labels of its sequence. If labels and blanks do not fit into the
// steps, the loss is infinite. Gradient for the logits: g (softmax(logits) - P(class at the step | labels)), where g is
// the gradient with respect to the loss of the sequence. This gradient cannot be differentiated again. A step fails
// with InvalidArgument for negative labels, for a sequence without labels, for a length that is negative or beyond the
// logits, and for indices of labels that are out of order, repeated or out of bounds.
Output CtcLoss(const SparseTensor& labels, const Operand& logits, const Operand& lengths,
               const CtcLossOptions& options = {}, std::source_location loc = std::source_location::current());

// The result of a decoder: sparse tensors [batch, longest sequence] of int64 classes without blanks.
struct CtcDecoded {
  SparseTensor sequence;                // the best for each sequence of the batch
  std::vector<SparseTensor> sequences;  // the best, the second best, ...
  Output scores;                        // see the function that returns them
};

struct CtcGreedyOptions {
  bool time_major = false;
  // Whether equal neighbours become one label.
  bool merge_repeated = true;
  int64_t blank_index = -1;  // the class of the blank; negative: counted from the end
  std::string name = {};
};
// The most probable class of each step, without the blanks. `scores` [batch, 1]: the negated sum of the largest logit
// of each step. Not differentiable. A step fails with FailedPrecondition for a length beyond the logits.
CtcDecoded CtcGreedyDecode(const Operand& logits, const Operand& lengths, const CtcGreedyOptions& options = {},
                           std::source_location loc = std::source_location::current());

struct CtcBeamSearchOptions {
  bool time_major = false;
  int64_t beam_width = 100;  // how many label sequences the search keeps from step to step
  int64_t top_paths = 1;     // how many it returns; at most beam_width
  // Removes equal neighbours from the results, so that "hello" becomes "helo". (tf.nn.ctc_beam_search_decoder: true;
  // version 2: false.)
  bool merge_repeated = false;
  std::string name = {};
};
// The most probable label sequences by a beam search. `scores` [batch, top_paths]: ln P(sequence). Not differentiable.
// A step fails with InvalidArgument if fewer than top_paths sequences are possible, and with FailedPrecondition for a
// length beyond the logits.
CtcDecoded CtcBeamSearchDecode(const Operand& logits, const Operand& lengths, const CtcBeamSearchOptions& options = {},
                               std::source_location loc = std::source_location::current());

}  // namespace tensorbraid::nn

#endif  // TENSORBRAID_OPS_CTC_H_
