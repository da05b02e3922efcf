// The public functions of connectionist temporal classification.
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/ctc.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid::nn {
namespace {

// The logits in the order that the ops take: [time, batch, classes].
Output TimeMajor(const Operand& logits, Graph& graph, bool time_major) {
  const Output tensor = logits.ToOutput(graph);
  return time_major || !tensor.valid() ? tensor : Transpose(tensor, {1, 0, 2});
}

// The lengths as int32, which the ops take.
Output LengthsOf(const Operand& lengths, Graph& graph) {
  const Output tensor = lengths.ToOutput(graph);
  return tensor.dtype() == kInt64 ? Cast(tensor, kInt32) : tensor;
}

CtcDecoded DecodedOf(const Operation& op, int paths) {
  CtcDecoded decoded;
  if (!op.valid()) {
    decoded.sequences.resize(paths);
    return decoded;
  }
  for (int i = 0; i < paths; ++i) {
    decoded.sequences.push_back({op.output(i), op.output(paths + i), op.output(2 * paths + i)});
  }
  decoded.sequence = decoded.sequences[0];
  decoded.scores = op.output(3 * paths);
  return decoded;
}

}  // namespace

Output CtcLoss(const SparseTensor& labels, const Operand& logits, const Operand& lengths, const CtcLossOptions& options,
               std::source_location loc) {
  const Operand values(labels.values, loc);
  Graph* graph = GraphOf("CTCLoss", {&values, &logits, &lengths});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, loc);
  const Output inputs = TimeMajor(logits, *graph, options.time_major);
  return NodeBuilder(*graph, "CTCLoss", loc)
      .Name(options.name)
      .Input(inputs)
      .Input(labels.indices)
      .Input(labels.values.dtype() == kInt64 ? Cast(labels.values, kInt32) : labels.values)
      .Input(LengthsOf(lengths, *graph))
      .Attr("preprocess_collapse_repeated", options.preprocess_collapse_repeated)
      .Attr("ctc_merge_repeated", options.merge_repeated)
      .Attr("ignore_longer_outputs_than_inputs", options.ignore_longer_outputs_than_inputs)
      .Output();
}

CtcDecoded CtcGreedyDecode(const Operand& logits, const Operand& lengths, const CtcGreedyOptions& options,
                           std::source_location loc) {
  Graph* graph = GraphOf("CTCGreedyDecoder", {&logits, &lengths});
  if (graph == nullptr) return DecodedOf({}, 1);
  const ScopedLocation at(*graph, loc);
  return DecodedOf(NodeBuilder(*graph, "CTCGreedyDecoder", loc)
                       .Name(options.name)
                       .Input(TimeMajor(logits, *graph, options.time_major))
                       .Input(LengthsOf(lengths, *graph))
                       .Attr("merge_repeated", options.merge_repeated)
                       .Attr("blank_index", options.blank_index)
                       .Finish(),
                   1);
}

CtcDecoded CtcBeamSearchDecode(const Operand& logits, const Operand& lengths, const CtcBeamSearchOptions& options,
                               std::source_location loc) {
  // The number of sequences in the result. If top_paths is not valid, which is reported below, this is a valid number.
  const int paths = static_cast<int>(std::clamp<int64_t>(options.top_paths, 1, 1 << 20));
  Graph* graph = GraphOf("CTCBeamSearchDecoder", {&logits, &lengths});
  if (graph == nullptr) return DecodedOf({}, paths);
  const ScopedLocation at(*graph, loc);
  if (options.top_paths > options.beam_width || options.top_paths != paths) {
    graph->AddError(InvalidArgument("CtcBeamSearchDecode (", LocationText(ImplOf(*graph).UserLine(loc)),
                                    "): top_paths must be between 1 and beam_width, got ", options.top_paths,
                                    " with beam_width ", options.beam_width));
    return DecodedOf({}, paths);
  }
  return DecodedOf(NodeBuilder(*graph, "CTCBeamSearchDecoder", loc)
                       .Name(options.name)
                       .Input(TimeMajor(logits, *graph, options.time_major))
                       .Input(LengthsOf(lengths, *graph))
                       .Attr("beam_width", options.beam_width)
                       .Attr("top_paths", options.top_paths)
                       .Attr("merge_repeated", options.merge_repeated)
                       .Finish(),
                   paths);
}

}  // namespace tensorbraid::nn
