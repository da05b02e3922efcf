// Reads graphs with their variables (see ImportMetaGraph in tensorbraid/train/saver.h).
#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/train/saver.h"
#include "train/checkpoints/meta_graph.pb.h"

namespace tensorbraid {
namespace {

// The collections that C++ keeps by itself when a variable is made.
constexpr char kLocalVariables[] = "local_variables";
constexpr char kGlobalStep[] = "global_step";

std::optional<VariablePart> PartOf(const proto::VariableDef& def) {
  if (!def.has_save_slice_info_def() || def.save_slice_info_def().full_name().empty()) return std::nullopt;
  const proto::SaveSliceInfoDef& slice = def.save_slice_info_def();
  VariablePart part{.whole = slice.full_name(), .shape = Shape(), .first_row = 0};
  for (const int64_t dim : slice.full_shape()) part.shape.AddDim(dim);
  if (slice.var_offset_size() > 0) part.first_row = slice.var_offset(0);
  return part;
}

// The variable with this definition; `known` are those that were made before.
StatusOr<Variable> MakeVariable(Graph& graph, const proto::VariableDef& def, bool local,
                                std::map<std::string, Variable>* known) {
  if (const auto it = known->find(def.variable_name()); it != known->end()) return it->second;
  TF_ASSIGN_OR_RETURN(const Output handle, graph.FindOutput(def.variable_name()));
  TF_ASSIGN_OR_RETURN(const Operation initializer, graph.FindOperation(def.initializer_name()));
  TF_ASSIGN_OR_RETURN(const Output read, graph.FindOutput(def.snapshot_name()));
  Output initial_value;
  if (!def.initial_value_name().empty()) {
    TF_ASSIGN_OR_RETURN(initial_value, graph.FindOutput(def.initial_value_name()));
  }
  TF_ASSIGN_OR_RETURN(const Variable made,
                      Variable::FromNodes(graph, handle, initializer, initial_value, read,
                                          {.trainable = def.trainable(), .local = local, .part_of = PartOf(def)}));
  return known->emplace(def.variable_name(), made).first->second;
}

// Whether all elements of the collection are definitions of variables.
bool HasVariables(const proto::CollectionDef& collection) {
  if (collection.kind_case() != proto::CollectionDef::kBytesList) return false;
  for (const std::string& bytes : collection.bytes_list().value()) {
    proto::VariableDef def;
    if (!def.ParseFromString(bytes) || def.variable_name().empty() || def.initializer_name().empty()) return false;
  }
  return true;
}

}  // namespace

StatusOr<ImportedMetaGraph> ImportMetaGraph(Graph& graph, std::string_view meta_graph, std::source_location loc) {
  proto::MetaGraphDef meta;
  if (!meta.ParseFromArray(meta_graph.data(), static_cast<int>(meta_graph.size()))) {
    return InvalidArgument("these ", meta_graph.size(), " bytes are not a MetaGraphDef");
  }
  const ScopedLocation at(graph, loc);
  TF_RETURN_IF_ERROR(graph.ImportGraphDef(meta.graph_def()));
  auto top = graph.NameScope("");
  auto no_dependencies = graph.ControlDependencies(std::vector<Operation>());
  ImportedMetaGraph imported;
  std::map<std::string, Variable> known;
  // Local variables first: only the name of this collection says that they are local.
  std::vector<std::string> keys = {kLocalVariables};
  for (const auto& [key, collection] : meta.collection_def()) {
    if (key != kLocalVariables) keys.push_back(key);
  }
  std::sort(keys.begin() + 1, keys.end());
  for (const std::string& key : keys) {
    const auto it = meta.collection_def().find(key);
    if (it == meta.collection_def().end()) continue;
    const proto::CollectionDef& collection = it->second;
    if (collection.kind_case() == proto::CollectionDef::kNodeList) {
      for (const std::string& name : collection.node_list().value()) imported.collections[key].push_back(name);
    }
    if (!HasVariables(collection)) continue;
    for (const std::string& bytes : collection.bytes_list().value()) {
      proto::VariableDef def;
      (void)def.ParseFromString(bytes);
      if (!def.is_resource()) continue;
      TF_ASSIGN_OR_RETURN(const Variable variable, MakeVariable(graph, def, key == kLocalVariables, &known));
      imported.variables[key].push_back(variable);
      if (key == kGlobalStep) graph.AddToCollection(kGlobalStep, variable.handle());
    }
  }
  if (const proto::SaverDef& saver = meta.saver_def(); !saver.restore_op_name().empty()) {
    TF_ASSIGN_OR_RETURN(imported.filename, graph.FindOutput(saver.filename_tensor_name()));
    TF_ASSIGN_OR_RETURN(imported.save, graph.FindOutput(saver.save_tensor_name()));
    TF_ASSIGN_OR_RETURN(imported.restore, graph.FindOperation(saver.restore_op_name()));
    imported.max_to_keep = saver.max_to_keep();
  }
  TF_RETURN_IF_ERROR(graph.status());
  return imported;
}

}  // namespace tensorbraid
