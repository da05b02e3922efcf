// The public functions of Dataset that apply functions to elements.
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/dataset/element_spec.h"
#include "tensorbraid/data/dataset.h"

namespace tensorbraid::data {
namespace {

// Begins a node of an op that calls `f`: its first inputs are the dataset and the captures of the function.
NodeBuilder Calling(const Dataset& input, const char* op, const char* attr, const LibraryFunction& f,
                    std::source_location loc) {
  NodeBuilder builder(*input.graph(loc), op, loc);
  builder.Input(input.variant()).InputList(f.captures()).Attr(attr, f.attr());
  return builder;
}

Dataset Finish(NodeBuilder& builder, Specs element) {
  builder.Attr("output_types", DTypesOf(element)).Attr("output_shapes", ShapesOf(element));
  return Dataset(builder.Output(), std::move(element));
}

// Whether `f` is a function of the elements of `input`; if not, records a mistake.
bool Accepts(const Dataset& input, const char* what, const LibraryFunction& f, std::source_location loc) {
  if (!input.valid() || !f.valid()) return false;
  if (DTypesOf(f.args()) == DTypesOf(input.element())) return true;
  Graph& graph = *input.graph(loc);
  graph.AddError(InvalidArgument("Dataset::", what, " (", LocationText(ImplOf(graph).UserLine(loc)), "): function '",
                                 f.name(), "' takes ", ToString(f.args()), ", but the elements are ",
                                 ToString(input.element())));
  return false;
}

bool Returns(const Dataset& input, const char* what, const LibraryFunction& f, const TensorSpec& wanted,
             std::source_location loc) {
  const Specs& results = f.results();
  if (results.size() == 1 && results[0].dtype == wanted.dtype && results[0].shape.IsCompatibleWith(wanted.shape)) {
    return true;
  }
  Graph& graph = *input.graph(loc);
  graph.AddError(InvalidArgument("Dataset::", what, " (", LocationText(ImplOf(graph).UserLine(loc)),
                                 "): the function must return ", ToString(Specs{wanted}), ", but returns ",
                                 ToString(results)));
  return false;
}

LibraryFunction Define(const Dataset& input, const char* name, const ElementFunction& f, std::source_location loc) {
  if (!input.valid()) return {};
  return DefineFunction(
      *input.graph(loc), name, input.element(), [&](Graph&, const Tensors& args) { return f(args); },
      Capture::kAsArgument, loc);
}

// Defines a function that makes a dataset. Sets *element to what is known of the elements of this dataset.
LibraryFunction Define(const Dataset& input, const char* name, const DatasetFunction& f, Specs* element,
                       std::source_location loc) {
  return Define(
      input, name,
      [&](const Tensors& args) -> Tensors {
        const Dataset made = f(args);
        *element = made.element();
        return {made.variant()};
      },
      loc);
}

Output Int64s(Graph& graph, const std::vector<int64_t>& values) {
  return Operand(Tensor::Vector(values)).ToOutput(graph);
}

}  // namespace

Dataset Dataset::Map(const LibraryFunction& f, std::source_location loc) const {
  if (!Accepts(*this, "Map", f, loc)) return {};
  NodeBuilder b = Calling(*this, "MapDataset", "f", f, loc);
  b.Attr("preserve_cardinality", true);
  return Finish(b, f.results());
}

Dataset Dataset::ParallelMap(const LibraryFunction& f, const Operand& num_parallel_calls,
                             const ParallelOptions& options, std::source_location loc) const {
  if (!Accepts(*this, "ParallelMap", f, loc)) return {};
  NodeBuilder b = Calling(*this, "ParallelMapDatasetV2", "f", f, loc);
  b.Input(num_parallel_calls.ToOutput(*graph(loc), kInt64))
      .Attr("deterministic", options.deterministic ? "true" : "false")
      .Attr("preserve_cardinality", true);
  return Finish(b, f.results());
}

Dataset Dataset::Filter(const LibraryFunction& f, std::source_location loc) const {
  if (!Accepts(*this, "Filter", f, loc) || !Returns(*this, "Filter", f, {kBool, {}}, loc)) return {};
  NodeBuilder b = Calling(*this, "FilterDataset", "predicate", f, loc);
  return Finish(b, element_);
}

Dataset Dataset::FlatMap(const LibraryFunction& f, const Specs& element, std::source_location loc) const {
  if (!Accepts(*this, "FlatMap", f, loc) || !Returns(*this, "FlatMap", f, {DType::kVariant, {}}, loc)) return {};
  NodeBuilder b = Calling(*this, "FlatMapDataset", "f", f, loc);
  return Finish(b, element);
}

Dataset Dataset::Interleave(const LibraryFunction& f, const Specs& element, const InterleaveOptions& options,
                            std::source_location loc) const {
  if (!Accepts(*this, "Interleave", f, loc) || !Returns(*this, "Interleave", f, {DType::kVariant, {}}, loc)) return {};
  Graph& g = *graph(loc);
  const bool parallel = options.num_parallel_calls.has_value();
  NodeBuilder b = Calling(*this, parallel ? "ParallelInterleaveDatasetV4" : "InterleaveDataset", "f", f, loc);
  b.Input(options.cycle_length.ToOutput(g, kInt64)).Input(options.block_length.ToOutput(g, kInt64));
  if (parallel) {
    b.Input(Operand(-1).ToOutput(g, kInt64))
        .Input(Operand(-1).ToOutput(g, kInt64))
        .Input(options.num_parallel_calls->ToOutput(g, kInt64))
        .Attr("deterministic", options.deterministic ? "true" : "false");
  }
  return Finish(b, element);
}

Dataset Dataset::Map(const ElementFunction& f, std::source_location loc) const {
  return Map(Define(*this, "map", f, loc), loc);
}

Dataset Dataset::ParallelMap(const ElementFunction& f, const Operand& num_parallel_calls,
                             const ParallelOptions& options, std::source_location loc) const {
  return ParallelMap(Define(*this, "map", f, loc), num_parallel_calls, options, loc);
}

Dataset Dataset::Filter(const PredicateFunction& f, std::source_location loc) const {
  return Filter(Define(
                    *this, "filter", [&](const Tensors& args) { return Tensors{f(args)}; }, loc),
                loc);
}

Dataset Dataset::FlatMap(const DatasetFunction& f, std::source_location loc) const {
  Specs element;
  const LibraryFunction function = Define(*this, "flat_map", f, &element, loc);
  return FlatMap(function, element, loc);
}

Dataset Dataset::Interleave(const DatasetFunction& f, const InterleaveOptions& options,
                            std::source_location loc) const {
  Specs element;
  const LibraryFunction function = Define(*this, "interleave", f, &element, loc);
  return Interleave(function, element, options, loc);
}

Dataset Dataset::BucketByLength(const PredicateFunction& length, const std::vector<int64_t>& boundaries,
                                const std::vector<int64_t>& batch_sizes, const BucketOptions& options,
                                std::source_location loc) const {
  if (!valid()) return {};
  Graph& g = *graph(loc);
  if (batch_sizes.size() != boundaries.size() + 1) {
    g.AddError(InvalidArgument("Dataset::BucketByLength (", LocationText(ImplOf(g).UserLine(loc)),
                               "): ", boundaries.size(), " boundaries need ", boundaries.size() + 1,
                               " batch sizes, got ", batch_sizes.size()));
    return {};
  }
  const auto key = Define(
      *this, "bucket",
      [&](const Tensors& args) -> Tensors {
        // The number of boundaries that are not above the length.
        const Output given = length(args);
        if (!given.valid()) return {given};
        Graph& body = *given.graph();
        const Output wide = NodeBuilder(body, "Cast", loc).Input(given).Attr("DstT", kInt64).Output();
        const Output below = NodeBuilder(body, "LessEqual", loc).Input(Int64s(body, boundaries)).Input(wide).Output();
        const Output ones = NodeBuilder(body, "Cast", loc).Input(below).Attr("DstT", kInt64).Output();
        const Output axis = Operand(Tensor::Vector<int32_t>({0})).ToOutput(body);
        return {NodeBuilder(body, "Sum", loc).Input(ones).Input(axis).Output()};
      },
      loc);
  const auto batch_size = [&](Graph& body, const Output& bucket) {
    const Output axis = Operand(0).ToOutput(body, kInt32);
    return NodeBuilder(body, "GatherV2", loc).Input(Int64s(body, batch_sizes)).Input(bucket).Input(axis).Output();
  };
  const auto window = DefineFunction(
      g, "bucket_size", {{kInt64, {}}},
      [&](Graph& body, const Tensors& args) { return Tensors{batch_size(body, args[0])}; }, Capture::kAsArgument, loc);
  Specs element;
  const auto reduce = DefineFunction(
      g, "bucket_batch", {{kInt64, {}}, {DType::kVariant, {}}},
      [&](Graph& body, const Tensors& args) -> Tensors {
        const std::vector<Shape> shapes = options.padded_shapes.empty() ? ShapesOf(element_) : options.padded_shapes;
        const Dataset batch = Dataset(args[1], element_)
                                  .PaddedBatch(batch_size(body, args[0]), shapes,
                                               {.drop_remainder = options.drop_remainder, .padding_values = {}}, loc);
        element = batch.element();
        return {batch.variant()};
      },
      Capture::kAsArgument, loc);
  if (!key.valid() || !window.valid() || !reduce.valid()) return {};
  NodeBuilder b(g, "GroupByWindowDataset", loc);
  b.Input(variant_).InputList(key.captures()).InputList(reduce.captures()).InputList(window.captures());
  b.Attr("key_func", key.attr()).Attr("reduce_func", reduce.attr()).Attr("window_size_func", window.attr());
  return Finish(b, element);
}

}  // namespace tensorbraid::data
