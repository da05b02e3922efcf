// Losses for models with very many classes, such as the words of a language: a step computes the logits of the true
// classes and of some that it draws, instead of those of all classes.
//
//   Variable weights(g, {classes, width}, TruncatedNormal(), {.name = "weights"});
//   Variable biases(g, {classes}, Zeros(), {.name = "biases"});
//   auto loss = ReduceMean(nn::NceLoss(weights, biases, labels, hidden, /*num_sampled=*/64, classes));
#ifndef TENSORBRAID_VARIABLES_SAMPLED_LOSS_H_
#define TENSORBRAID_VARIABLES_SAMPLED_LOSS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/variables/embedding.h"

namespace tensorbraid::nn {

// What a model has for each class: a table of variables, as for EmbeddingLookup, a tensor with a row for each class, or
// a function that returns the rows for class numbers (int64, [n]).
class ClassRows {
 public:
  template <typename Table>
  requires std::is_convertible_v<Table, EmbeddingTable> ClassRows(const Table& table)
      : table_(EmbeddingTable(table)) {}          // NOLINT (all): converts
  ClassRows(const Output& rows) : rows_(rows) {}  // NOLINT
  ClassRows(std::function<Output(const Output& classes)> lookup) : lookup_(std::move(lookup)) {}  // NOLINT

  // Returns a row for each of `classes`. A partitioned table is searched by `strategy`, or by its own if there is none.
  Output Lookup(const Output& classes, std::optional<PartitionStrategy> strategy) const;

 private:
  std::optional<EmbeddingTable> table_;
  Output rows_;
  std::function<Output(const Output&)> lookup_;
};

// The results of a candidate sampler (raw_ops::LogUniformCandidateSampler and the like) for labels
// [batch, num_true].
struct SampledClasses {
  Output sampled;                 // int64 [num_sampled]: the classes that were drawn
  Output true_expected_count;     // float32 [batch, num_true]: how often each true class is drawn, on average
  Output sampled_expected_count;  // float32 [num_sampled]: the same for the classes that were drawn
};

struct SampledLossOptions {
  int64_t num_true = 1;  // the number of true classes of each example
  // The classes to use. Default: num_sampled distinct classes, which LogUniformCandidateSampler draws anew in each
  // step. It draws class i with a probability of about 1 / (i + 1), so the classes should be in order of decreasing
  // frequency.
  std::optional<SampledClasses> sampled_classes = std::nullopt;
  // Whether the logit of a drawn class that is a true class of the example becomes very small, so that the class does
  // not count as a wrong one. Default: true for SampledSoftmaxLoss, false for NceLoss.
  std::optional<bool> remove_accidental_hits = std::nullopt;
  // Whether the logarithm of the expected count of each class is subtracted from its logit. Without it, the logits of a
  // trained model are not those of all classes, but relative to the sampler.
  bool subtract_log_q = true;
  std::optional<PartitionStrategy> partition_strategy = std::nullopt;  // as in EmbeddingLookupOptions
  // The seed of the default sampler, which also uses the graph's seed (Graph::SetRandomSeed).
  int64_t seed = 0;
  std::string name = "";  // default: "sampled_softmax_loss" or "nce_loss"
};

// The loss of each example, [batch]: the cross-entropy of the softmax over its true classes and the drawn classes. To
// be used for training only; a test needs the logits of all classes. `weights` is [num_classes, width], `biases`
// [num_classes], `labels` [batch, num_true], int32 or int64, and `inputs` [batch, width], floating. The true classes of
// an example have equal probabilities. A step fails with InvalidArgument for a label outside [0, num_classes). Weights
// and biases of another dtype are converted to that of the inputs. Gradients: for the inputs, and slices for the
// weights and biases of the classes that were used. Source: tf.nn.sampled_softmax_loss; Jean et al., 2015.
Output SampledSoftmaxLoss(const ClassRows& weights, const ClassRows& biases, const Operand& labels,
                          const Operand& inputs, int64_t num_sampled, int64_t num_classes,
                          const SampledLossOptions& options = {});

// The loss of each example, [batch]: the sum of the logistic losses of its true classes, each with the label
// 1 / num_true, and of the drawn classes, with the label 0 (noise-contrastive estimation). Arguments, errors and
// gradients as for SampledSoftmaxLoss. Source: tf.nn.nce_loss; Gutmann and Hyvärinen, 2010.
Output NceLoss(const ClassRows& weights, const ClassRows& biases, const Operand& labels, const Operand& inputs,
               int64_t num_sampled, int64_t num_classes, const SampledLossOptions& options = {});

struct InBatchSoftmaxOptions {
  // Floating [batch]: how often each candidate is drawn, such as its part of all examples. A frequent item is in more
  // batches, so it is a negative too often. The logarithm of this number is subtracted from its scores (log-q
  // correction).
  std::optional<Operand> sampling_probability = std::nullopt;
  // Integers or strings [batch]: the item of each candidate. The same item elsewhere in the batch is no negative.
  std::optional<Operand> candidate_ids = std::nullopt;
  double temperature = 1;  // divides the scores
  std::string name = "";   // default: "in_batch_softmax_loss"
};

// The loss of each query, [batch], of choosing its own candidate out of those of the batch: the cross-entropy of the
// softmax over the scores, which are dot products. For models with two towers, where the other items of a batch stand
// for all items. `queries` and `candidates` are floating [batch, width]; row i of the one belongs to row i of the
// other. Gradients: for both. Source: Yi et al., 2019; TensorFlow has no such function.
Output InBatchSoftmaxLoss(const Operand& queries, const Operand& candidates, const InBatchSoftmaxOptions& options = {});

}  // namespace tensorbraid::nn

#endif  // TENSORBRAID_VARIABLES_SAMPLED_LOSS_H_
