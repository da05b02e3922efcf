// The public functions of the summary op family.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "io/summary.pb.h"
#include "ops/builder.h"
#include "tensorbraid/ops/summary.h"

namespace tensorbraid::summary {
namespace {

// Makes a name that a node may have: removes "/" at the beginning and replaces characters that a name cannot have by
// "_", as TensorFlow does.
std::string CleanTag(const std::string& name) {
  std::string tag = name.substr(std::min(name.find_first_not_of('/'), name.size()));
  for (char& c : tag) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                      c == '-' || c == '.' || c == '/';
    if (!fits) c = '_';
  }
  return tag;
}

// Adds a summary node whose name is `family`/`name` in the open name scope, made unique. `operands` are the caller's
// operands, which tell the graph. `finish` adds the inputs and attributes and finishes the node. Its arguments are the
// graph, the builder of the node, a function that adds a constant with the tag, and a function that adds a constant
// with another string; both functions take the name of the constant as their last argument.
template <typename Finish>
Output AddSummaryOp(const char* op, const std::string& name, const std::string& family,
                    const std::vector<std::string>& collections, const std::vector<const Operand*>& operands,
                    const Finish& finish) {
  Graph* graph = nullptr;
  for (const Operand* operand : operands) {
    if (graph == nullptr) graph = operand->graph();
  }
  if (graph == nullptr) {
    graph = GraphOf(op, {operands[0]});
    if (graph == nullptr) return {};
  }
  const ScopedLocation at(*graph, operands[0]->location());
  const std::string base = CleanTag(name), group = CleanTag(family);
  if (base.empty()) {
    graph->AddError(InvalidArgument(op, " (", LocationText(ImplOf(*graph).UserLine(operands[0]->location())),
                                    "): the name of the summary is empty"));
    return {};
  }
  auto scope = graph->NameScope(group.empty() ? base : StrCat(group, "/", base));
  const std::string full = ImplOf(*graph).name_scope();
  const std::string tag = group.empty() ? full : StrCat(group, "/", full);
  const auto text = [&](const std::string& value, const char* as) {
    return NodeBuilder(*graph, "Const").Name(as).Attr("value", Tensor::Scalar(value)).Attr("dtype", kString).Output();
  };
  NodeBuilder builder(*graph, op, operands[0]->location());
  builder.Name(full + "/");
  const Output summary = finish(
      *graph, builder, [&](const char* as) { return text(tag, as); }, text);
  if (!summary.valid()) return {};
  for (const std::string& collection : collections) graph->AddToCollection(collection, summary);
  return summary;
}

}  // namespace

Output Scalar(const std::string& name, const Operand& value, const SummaryOptions& options) {
  return AddSummaryOp("ScalarSummary", name, options.family, options.collections, {&value},
                      [&](Graph& g, NodeBuilder& node, const auto& tag, const auto&) {
                        return node.Input(tag("tags")).Input(value.ToOutput(g)).Output();
                      });
}

Output Histogram(const std::string& name, const Operand& values, const SummaryOptions& options) {
  return AddSummaryOp("HistogramSummary", name, options.family, options.collections, {&values},
                      [&](Graph& g, NodeBuilder& node, const auto& tag, const auto&) {
                        return node.Input(tag("tag")).Input(values.ToOutput(g)).Output();
                      });
}

Output Image(const std::string& name, const Operand& images, const ImageOptions& options) {
  return AddSummaryOp(
      "ImageSummary", name, options.family, options.collections, {&images},
      [&](Graph& g, NodeBuilder& node, const auto& tag, const auto&) {
        return node.Input(tag("tag")).Input(images.ToOutput(g)).Attr("max_images", options.max_outputs).Output();
      });
}

Output Audio(const std::string& name, const Operand& clips, const Operand& sample_rate, const AudioOptions& options) {
  return AddSummaryOp("AudioSummaryV2", name, options.family, options.collections, {&clips, &sample_rate},
                      [&](Graph& g, NodeBuilder& node, const auto& tag, const auto&) {
                        return node.Input(tag("tag"))
                            .Input(clips.ToOutput(g))
                            .Input(sample_rate.ToOutput(g, kFloat32))
                            .Attr("max_outputs", options.max_outputs)
                            .Output();
                      });
}

Output Text(const std::string& name, const Operand& text, const SummaryOptions& options) {
  return AddSummaryOp(
      "TensorSummaryV2", name, options.family, options.collections, {&text},
      [&](Graph& g, NodeBuilder& node, const auto& tag, const auto& constant) -> Output {
        const Output strings = text.ToOutput(g);
        if (strings.valid() && strings.dtype() != kString) {
          g.AddError(InvalidArgument("summary::Text '", name, "' (", LocationText(ImplOf(g).UserLine(text.location())),
                                     "): the tensor must be of strings, got ", strings.dtype()));
          return {};
        }
        proto::SummaryMetadata metadata;
        metadata.mutable_plugin_data()->set_plugin_name("text");
        return node.Input(tag("tag"))
            .Input(strings)
            .Input(constant(metadata.SerializeAsString(), "serialized_summary_metadata"))
            .Output();
      });
}

Output Merge(const std::vector<Output>& summaries, const std::string& name, std::source_location loc) {
  const auto first = std::find_if(summaries.begin(), summaries.end(), [](const Output& s) { return s.valid(); });
  if (summaries.empty()) LogMistake("Merge", loc, kEmptyList);
  if (first == summaries.end()) return {};
  Graph& graph = *first->graph(loc);
  const ScopedLocation at(graph, loc);
  auto scope = graph.NameScope(name.empty() ? "Merge" : name);
  return NodeBuilder(graph, "MergeSummary", loc).InputList(summaries).Output();
}

Output MergeAll(Graph& graph, const std::string& collection, std::source_location loc) {
  const std::vector<Output> summaries = graph.GetCollection(collection);
  return summaries.empty() ? Output() : Merge(summaries, "", loc);
}

}  // namespace tensorbraid::summary
