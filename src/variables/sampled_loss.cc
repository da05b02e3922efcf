#include "tensorbraid/variables/sampled_loss.h"

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid::nn {
namespace {

struct Logits {
  Output logits;  // [batch, num_true + num_sampled]
  Output labels;  // the same shape: 1 / num_true for the true classes, 0 for the drawn ones
};

SampledClasses Draw(Graph& g, const Output& labels, int64_t num_sampled, int64_t num_classes,
                    const SampledLossOptions& options) {
  const SeedPair seeds = SeedsOf(g, options.seed);
  const Operation drawn = NodeBuilder(g, "LogUniformCandidateSampler")
                              .Input(labels)
                              .Attr("num_true", options.num_true)
                              .Attr("num_sampled", num_sampled)
                              .Attr("unique", true)
                              .Attr("range_max", num_classes)
                              .Attr("seed", seeds.seed)
                              .Attr("seed2", seeds.seed2)
                              .Finish();
  if (!drawn.valid()) return {};
  return {drawn.output(0), drawn.output(1), drawn.output(2)};
}

// What is added to the logits of the drawn classes: a very small number for those that are true classes.
Output WeightsOfHits(Graph& g, const Output& labels, const Output& sampled, const Output& logits, int64_t num_true) {
  const Operation hits =
      NodeBuilder(g, "ComputeAccidentalHits").Input(labels).Input(sampled).Attr("num_true", num_true).Finish();
  if (!hits.valid()) return {};
  const Output example = Reshape(hits.output(0), {-1, 1});
  const Output position = Reshape(Cast(hits.output(1), kInt32), {-1, 1});
  return NodeBuilder(g, "SparseToDense")
      .Input(Concat({example, position}, 1))
      .Input(ShapeOf(logits))
      .Input(Cast(hits.output(2), logits.dtype()))
      .Input(Operand(0).ToOutput(g, logits.dtype()))
      .Attr("validate_indices", false)
      .Output();
}

Logits SampledLogits(Graph& g, const ClassRows& weights, const ClassRows& biases, const Output& given_labels,
                     const Output& inputs, int64_t num_sampled, int64_t num_classes, bool removes_hits,
                     const SampledLossOptions& options) {
  const Output labels = Cast(given_labels, kInt64);
  const Output flat = Reshape(labels, {-1});
  const SampledClasses drawn =
      options.sampled_classes ? *options.sampled_classes : Draw(g, labels, num_sampled, num_classes, options);
  if (!drawn.sampled.valid() || !flat.valid()) return {};
  const Output sampled = Cast(StopGradient(drawn.sampled), kInt64);
  // One lookup for all classes, so that each part of a table is read once.
  const Output classes = Concat({flat, sampled}, 0);
  const Output all_weights = Cast(weights.Lookup(classes, options.partition_strategy), inputs.dtype());
  const Output all_biases = Cast(biases.Lookup(classes, options.partition_strategy), inputs.dtype());
  if (!all_weights.valid() || !all_biases.valid()) return {};
  const Output count = ShapeOf(flat);  // of the true classes
  const Output zero = ConstantVector(g, {0}), rest = ConstantVector(g, {-1});
  const Output true_weights = Slice(all_weights, {0, 0}, Concat({count, rest}, 0));
  const Output sampled_weights = Slice(all_weights, Concat({count, zero}, 0), {-1, -1});
  const Output true_biases = Slice(all_biases, {0}, count);
  const Output sampled_biases = Slice(all_biases, count, {-1});
  // The dot product of each input with the weights of each of its true classes.
  const Output width = StridedSlice(ShapeOf(true_weights), {1}, {2}, {1});
  const Output by_example = Reshape(true_weights, Concat({ConstantVector(g, {-1, options.num_true}), width}, 0));
  Output true_logits =
      ReduceSum(ExpandDims(inputs, 1) * by_example, {2}) + Reshape(true_biases, {-1, options.num_true});
  Output sampled_logits = MatMul(inputs, sampled_weights, {.transpose_b = true}) + sampled_biases;
  if (!true_logits.valid() || !sampled_logits.valid()) return {};
  if (removes_hits) {
    sampled_logits = sampled_logits + WeightsOfHits(g, labels, sampled, sampled_logits, options.num_true);
  }
  if (options.subtract_log_q) {
    const auto log_of = [&](const Output& expected) { return Log(Cast(StopGradient(expected), inputs.dtype())); };
    true_logits = true_logits - log_of(drawn.true_expected_count);
    sampled_logits = sampled_logits - log_of(drawn.sampled_expected_count);
  }
  return {
      .logits = Concat({true_logits, sampled_logits}, 1),
      .labels = Concat({OnesLike(true_logits) / static_cast<double>(options.num_true), ZerosLike(sampled_logits)}, 1)};
}

// Adds the logits in a scope with the loss's name, and then what `loss` makes of them.
template <typename Loss>
Output SampledLoss(const char* function, const char* default_name, bool removes_hits, const ClassRows& weights,
                   const ClassRows& biases, const Operand& labels, const Operand& inputs, int64_t num_sampled,
                   int64_t num_classes, const SampledLossOptions& options, const Loss& loss) {
  Graph* const graph = inputs.graph() != nullptr ? inputs.graph() : labels.graph();
  if (graph == nullptr) return {};
  Graph& g = *graph;
  const ScopedLocation at(g, inputs.location());
  if (options.num_true < 1 || num_sampled < 1) {
    g.AddError(InvalidArgument(function, " (", LocationText(ImplOf(g).UserLine(inputs.location())), "): num_true ",
                               options.num_true, " and num_sampled ", num_sampled, " must be positive"));
    return {};
  }
  auto scope = g.NameScope(options.name.empty() ? default_name : options.name);
  const Output given_labels = labels.ToOutput(g), given_inputs = inputs.ToOutput(g);
  if (!given_labels.valid() || !given_inputs.valid()) return {};
  const Logits made = SampledLogits(g, weights, biases, given_labels, given_inputs, num_sampled, num_classes,
                                    options.remove_accidental_hits.value_or(removes_hits), options);
  return made.logits.valid() && made.labels.valid() ? loss(made) : Output();
}

}  // namespace

Output ClassRows::Lookup(const Output& classes, std::optional<PartitionStrategy> strategy) const {
  if (lookup_) return lookup_(classes);
  if (table_) return EmbeddingLookup(*table_, classes, {.partition_strategy = strategy});
  return rows_.valid() ? Gather(rows_, classes) : Output();
}

Output SampledSoftmaxLoss(const ClassRows& weights, const ClassRows& biases, const Operand& labels,
                          const Operand& inputs, int64_t num_sampled, int64_t num_classes,
                          const SampledLossOptions& options) {
  return SampledLoss("SampledSoftmaxLoss", "sampled_softmax_loss", /*removes_hits=*/true, weights, biases, labels,
                     inputs, num_sampled, num_classes, options, [](const Logits& made) {
                       return SoftmaxCrossEntropy(StopGradient(made.labels), made.logits, "sampled_losses");
                     });
}

Output NceLoss(const ClassRows& weights, const ClassRows& biases, const Operand& labels, const Operand& inputs,
               int64_t num_sampled, int64_t num_classes, const SampledLossOptions& options) {
  return SampledLoss("NceLoss", "nce_loss", /*removes_hits=*/false, weights, biases, labels, inputs, num_sampled,
                     num_classes, options, [](const Logits& made) {
                       return ReduceSum(SigmoidCrossEntropy(made.labels, made.logits, "sampled_losses"), {1});
                     });
}

Output InBatchSoftmaxLoss(const Operand& queries, const Operand& candidates, const InBatchSoftmaxOptions& options) {
  Graph* const graph = GraphOf("InBatchSoftmaxLoss", {&queries, &candidates});
  if (graph == nullptr) return {};
  Graph& g = *graph;
  const ScopedLocation at(g, queries.location());
  const auto scope = g.NameScope(options.name.empty() ? "in_batch_softmax_loss" : options.name);
  const Output query = queries.ToOutput(g), candidate = candidates.ToOutput(g);
  if (!query.valid() || !candidate.valid()) return {};
  for (const auto& [what, rows] : {std::pair("queries", query), std::pair("candidates", candidate)}) {
    if (rows.shape().has_rank() && rows.shape().rank() != 2) {
      g.AddError(InvalidArgument("InBatchSoftmaxLoss (", LocationText(ImplOf(g).UserLine(queries.location())),
                                 "): ", what, " must have the shape [batch, width], got ", rows.shape()));
      return {};
    }
  }
  Output scores = MatMul(query, candidate, {.transpose_b = true}) / options.temperature;
  if (options.sampling_probability) {
    const Output probability = Cast(options.sampling_probability->ToOutput(g), scores.dtype());
    scores = scores - Log(Reshape(probability, {1, -1}));
  }
  const Output own = Range(g, 0, StridedSlice(ShapeOf(scores), {0}, {1}, {1}, {.shrink_axis_mask = 1}));
  if (options.candidate_ids) {
    const auto each_with_each = [](const Output& x, const auto& compare) {
      return compare(ExpandDims(x, 0), ExpandDims(x, 1));
    };
    const Output ids = Reshape(options.candidate_ids->ToOutput(g), {-1});
    const Output same = each_with_each(ids, [](const Output& a, const Output& b) { return Equal(a, b); });
    const Output other = each_with_each(own, [](const Output& a, const Output& b) { return NotEqual(a, b); });
    const double none = scores.dtype() == kFloat16 ? -3e4 : -1e30;
    scores = Select(LogicalAnd(same, other), OnesLike(scores) * none, scores);
  }
  return SparseSoftmaxCrossEntropy(own, scores);
}

}  // namespace tensorbraid::nn
