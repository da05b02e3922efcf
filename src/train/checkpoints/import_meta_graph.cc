// Reads graphs with their variables (see ImportMetaGraph in tensorbraid/train/saver.h).
#include <algorithm>
#include <set>

#include "core/text/strings.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/train/saver.h"
#include "train/checkpoints/meta_graph.pb.h"

namespace tensorbraid {
namespace {

// The collections that C++ keeps by itself when a variable is made.
constexpr char kLocalVariables[] = "local_variables";
constexpr char kTrainableVariables[] = "trainable_variables";
constexpr char kQueueRunners[] = "queue_runners";
constexpr char kGlobalStep[] = "global_step";

std::optional<VariablePart> PartOf(const proto::VariableDef& def) {
  if (!def.has_save_slice_info_def() || def.save_slice_info_def().full_name().empty()) return std::nullopt;
  const proto::SaveSliceInfoDef& slice = def.save_slice_info_def();
  VariablePart part{.whole = slice.full_name(), .shape = Shape(), .first_row = 0};
  for (const int64_t dim : slice.full_shape()) part.shape.AddDim(dim);
  if (slice.var_offset_size() > 0) part.first_row = slice.var_offset(0);
  return part;
}

// The variable with this definition; `known` are those that the graph has.
StatusOr<Variable> MakeVariable(Graph& graph, const proto::VariableDef& def, bool local, bool trainable,
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
                                          {.trainable = trainable, .local = local, .part_of = PartOf(def)}));
  return known->emplace(def.variable_name(), made).first->second;
}

// The operation of this name; invalid if the name is empty.
StatusOr<Operation> OptionalOperation(Graph& graph, const std::string& name) {
  if (name.empty()) return Operation();
  return graph.FindOperation(name);
}

// Adds the queue runners of the collection, if its elements are definitions of queue runners.
Status AddQueueRunners(Graph& graph, const proto::CollectionDef& collection, std::vector<QueueRunner>* runners) {
  for (const std::string& bytes : collection.bytes_list().value()) {
    proto::QueueRunnerDef def;
    if (!def.ParseFromString(bytes)) return InvalidArgument("an element of 'queue_runners' is not a QueueRunnerDef");
    std::vector<Operation> enqueue;
    for (const std::string& name : def.enqueue_op_name()) {
      TF_ASSIGN_OR_RETURN(const Operation op, graph.FindOperation(name));
      enqueue.push_back(op);
    }
    TF_ASSIGN_OR_RETURN(const Operation close, OptionalOperation(graph, def.close_op_name()));
    TF_ASSIGN_OR_RETURN(const Operation cancel, OptionalOperation(graph, def.cancel_op_name()));
    runners->emplace_back(std::move(enqueue), close, cancel);
  }
  return OkStatus();
}

// The names of the variables in a collection.
std::set<std::string> NamesIn(const proto::MetaGraphDef& meta, const char* key) {
  std::set<std::string> names;
  const auto it = meta.collection_def().find(key);
  if (it == meta.collection_def().end()) return names;
  for (const std::string& bytes : it->second.bytes_list().value()) {
    proto::VariableDef def;
    if (def.ParseFromString(bytes)) names.insert(def.variable_name());
  }
  return names;
}

// Whether all elements of the collection are definitions of variables. Other definitions look like those of variables,
// because their first fields are names, too.
bool HasVariables(const std::string& key, const proto::CollectionDef& collection) {
  static const auto* const others = new std::set<std::string>{"cond_context", "while_context", "savers", kQueueRunners};
  if (collection.kind_case() != proto::CollectionDef::kBytesList || others->contains(key)) return false;
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
  // Graphs of TensorFlow before 1.9 say only by this collection which variables are trainable.
  const std::set<std::string> trainable = NamesIn(meta, kTrainableVariables);
  std::map<std::string, Variable> known;
  for (const Variable& v : graph.variables()) known.emplace(v.handle().name(), v);
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
    if (key == kQueueRunners) {
      TF_RETURN_IF_ERROR(AddQueueRunners(graph, collection, &imported.queue_runners[key]));
      continue;
    }
    if (!HasVariables(key, collection)) continue;
    for (const std::string& bytes : collection.bytes_list().value()) {
      proto::VariableDef def;
      (void)def.ParseFromString(bytes);
      TF_ASSIGN_OR_RETURN(const Variable variable, MakeVariable(graph, def, key == kLocalVariables,
                                                                trainable.contains(def.variable_name()), &known));
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
