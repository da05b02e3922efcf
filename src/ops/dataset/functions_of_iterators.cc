// The public class Iterator.
#include <optional>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/dataset/element_spec.h"
#include "tensorbraid/data/dataset.h"

namespace tensorbraid::data {
namespace {

// Requests the device of the dataset for the nodes that are added.
std::optional<ScopeGuard> OnDeviceOf(const Dataset& dataset, std::source_location loc) {
  if (dataset.device().empty()) return std::nullopt;
  return dataset.graph(loc)->Device(dataset.device());
}

}  // namespace

Iterator Iterator::OneShot(const Dataset& dataset, std::source_location loc) {
  if (!dataset.valid()) return {};
  Graph& g = *dataset.graph(loc);
  const auto factory = DefineFunction(
      g, "make_dataset", {}, [&](Graph&, const Tensors&) { return Tensors{dataset.variant()}; }, Capture::kAsCopy, loc);
  if (!factory.valid()) return {};
  const auto device = OnDeviceOf(dataset, loc);
  return Iterator(NodeBuilder(g, "OneShotIterator", loc)
                      .Attr("dataset_factory", factory.attr())
                      .Attr("output_types", DTypesOf(dataset.element()))
                      .Attr("output_shapes", ShapesOf(dataset.element()))
                      .Output(),
                  dataset.element());
}

Iterator Iterator::Initializable(const Dataset& dataset, const std::string& shared_name, std::source_location loc) {
  if (!dataset.valid()) return {};
  const auto device = OnDeviceOf(dataset, loc);
  Iterator iterator = FromStructure(*dataset.graph(loc), dataset.element(), shared_name, loc);
  iterator.initializer_ = iterator.MakeInitializer(dataset, "", loc);
  return iterator;
}

Iterator Iterator::FromStructure(Graph& graph, const Specs& element, const std::string& shared_name,
                                 std::source_location loc) {
  return Iterator(NodeBuilder(graph, "IteratorV2", loc)
                      .Attr("shared_name", shared_name)
                      .Attr("container", "")
                      .Attr("output_types", DTypesOf(element))
                      .Attr("output_shapes", ShapesOf(element))
                      .Output(),
                  element);
}

Iterator Iterator::FromStringHandle(const Output& string_handle, const Specs& element, std::source_location loc) {
  if (!string_handle.valid()) return {};
  return Iterator(NodeBuilder(*string_handle.graph(loc), "IteratorFromStringHandleV2", loc)
                      .Input(string_handle)
                      .Attr("output_types", DTypesOf(element))
                      .Attr("output_shapes", ShapesOf(element))
                      .Output(),
                  element);
}

Operation Iterator::MakeInitializer(const Dataset& dataset, const std::string& name, std::source_location loc) const {
  if (!valid() || !dataset.valid()) return {};
  Graph& g = *resource_.graph(loc);
  bool fits = DTypesOf(element_) == DTypesOf(dataset.element());
  for (size_t i = 0; fits && i < element_.size(); ++i) {
    fits = element_[i].shape.IsCompatibleWith(dataset.element()[i].shape);
  }
  if (!fits) {
    g.AddError(InvalidArgument("Iterator::MakeInitializer (", LocationText(ImplOf(g).UserLine(loc)),
                               "): the iterator has elements ", ToString(element_), ", and the dataset ",
                               ToString(dataset.element())));
    return {};
  }
  return NodeBuilder(g, "MakeIterator", loc).Name(name).Input(dataset.variant()).Input(resource_).Finish();
}

Tensors Iterator::GetNext(const std::string& name, std::source_location loc) const {
  Tensors tensors(element_.size());
  if (!valid()) return tensors;
  const Operation next = NodeBuilder(*resource_.graph(loc), "IteratorGetNext", loc)
                             .Name(name)
                             .Input(resource_)
                             .Attr("output_types", DTypesOf(element_))
                             .Attr("output_shapes", ShapesOf(element_))
                             .Finish();
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i] = next.output(static_cast<int>(i));
  return tensors;
}

Output Iterator::StringHandle(const std::string& name, std::source_location loc) const {
  if (!valid()) return {};
  return NodeBuilder(*resource_.graph(loc), "IteratorToStringHandle", loc).Name(name).Input(resource_).Output();
}

}  // namespace tensorbraid::data
