// Reads graphs with their variables (see ImportMetaGraph in tensorbraid/train/saver.h).
#include <algorithm>
#include <set>

#include "core/text/strings.h"
#include "graph/control_flow/flow_context.h"
#include "graph/control_flow/imported_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/train/saver.h"
#include "train/checkpoints/import_scope.h"
#include "train/checkpoints/meta_graph.pb.h"

namespace tensorbraid {
namespace {

// The collections that C++ keeps by itself when a variable is made.
constexpr char kLocalVariables[] = "local_variables";
constexpr char kTrainableVariables[] = "trainable_variables";
constexpr char kQueueRunners[] = "queue_runners";
constexpr char kGlobalStep[] = "global_step";
constexpr char kConditionals[] = "cond_context";
constexpr char kLoops[] = "while_context";

// The collection of this name, which is empty if the MetaGraphDef has none.
const proto::CollectionDef& CollectionOf(const proto::MetaGraphDef& meta, const char* key) {
  const auto it = meta.collection_def().find(key);
  return it == meta.collection_def().end() ? proto::CollectionDef::default_instance() : it->second;
}

// The names of the variables in a collection.
std::set<std::string> NamesIn(const proto::CollectionDef& collection) {
  std::set<std::string> names;
  for (const std::string& bytes : collection.bytes_list().value()) {
    proto::VariableDef def;
    if (def.ParseFromString(bytes)) names.insert(def.variable_name());
  }
  return names;
}

// Whether all elements of the collection are definitions of variables. Other definitions look like those of variables,
// because their first fields are names, too.
bool HasVariables(const std::string& key, const proto::CollectionDef& collection) {
  static const auto* const others = new std::set<std::string>{kConditionals, kLoops, "savers", kQueueRunners};
  if (collection.kind_case() != proto::CollectionDef::kBytesList || others->contains(key)) return false;
  for (const std::string& bytes : collection.bytes_list().value()) {
    proto::VariableDef def;
    if (!def.ParseFromString(bytes) || def.variable_name().empty() || def.initializer_name().empty()) return false;
  }
  return true;
}

// Adds to `conditions` the LoopCond of each loop that was built without a gradient, of the loop itself and those in it.
void FindFixedLoops(const proto::WhileContextDef& loop, std::vector<std::string>* conditions);

// The same for the loops within a conditional or a loop.
template <typename ContextDef>
void FindFixedLoopsIn(const ContextDef& context, std::vector<std::string>* conditions) {
  for (const proto::ControlFlowContextDef& inner : context.nested_contexts()) {
    if (inner.has_while_ctxt()) FindFixedLoops(inner.while_ctxt(), conditions);
    if (inner.has_cond_ctxt()) FindFixedLoopsIn(inner.cond_ctxt(), conditions);
  }
}

void FindFixedLoops(const proto::WhileContextDef& loop, std::vector<std::string>* conditions) {
  if (!loop.back_prop()) conditions->push_back(loop.pivot_name());
  FindFixedLoopsIn(loop, conditions);
}

// Reads one MetaGraphDef, whose nodes get a prefix.
class MetaGraphImporter {
 public:
  MetaGraphImporter(Graph& graph, const proto::MetaGraphDef& meta, std::string prefix)
      : graph_(graph),
        meta_(meta),
        prefix_(std::move(prefix)),
        trainable_(NamesIn(CollectionOf(meta, kTrainableVariables))) {
    for (const Variable& v : graph.variables()) known_.emplace(v.handle().name(), v);
  }

  StatusOr<ImportedMetaGraph> Import() {
    TF_ASSIGN_OR_RETURN(const std::string graph_def, GraphDefInScope(meta_.graph_def(), prefix_));
    TF_RETURN_IF_ERROR(graph_.ImportGraphDef(graph_def));
    auto top = graph_.NameScope("");
    auto no_dependencies = graph_.ControlDependencies(std::vector<Operation>());
    // Local variables first: only the name of this collection says that they are local.
    std::vector<std::string> keys = {kLocalVariables};
    for (const auto& [key, collection] : meta_.collection_def()) {
      if (key != kLocalVariables) keys.push_back(key);
    }
    std::sort(keys.begin() + 1, keys.end());
    for (const std::string& key : keys) {
      const auto it = meta_.collection_def().find(key);
      if (it != meta_.collection_def().end()) TF_RETURN_IF_ERROR(AddCollection(key, it->second));
    }
    TF_RETURN_IF_ERROR(AddSaver());
    EndGradientsOfFixedLoops();
    TF_RETURN_IF_ERROR(graph_.status());
    return std::move(imported_);
  }

 private:
  // The name in the graph of a node or a tensor of the MetaGraphDef.
  std::string NameOf(const std::string& name) const { return prefix_ + name; }
  StatusOr<Output> TensorOf(const std::string& name) { return graph_.FindOutput(NameOf(name)); }
  StatusOr<Operation> OperationNamed(const std::string& name) { return graph_.FindOperation(NameOf(name)); }
  // The operation of this name; invalid if the name is empty.
  StatusOr<Operation> OptionalOperation(const std::string& name) {
    if (name.empty()) return Operation();
    return OperationNamed(name);
  }

  Status AddCollection(const std::string& key, const proto::CollectionDef& collection) {
    if (collection.kind_case() == proto::CollectionDef::kNodeList) {
      for (const std::string& name : collection.node_list().value()) {
        imported_.collections[key].push_back(NameOf(name));
      }
    }
    if (key == kQueueRunners) return AddQueueRunners(collection, &imported_.queue_runners[key]);
    if (!HasVariables(key, collection)) return OkStatus();
    for (const std::string& bytes : collection.bytes_list().value()) {
      proto::VariableDef def;
      (void)def.ParseFromString(bytes);
      TF_ASSIGN_OR_RETURN(const Variable variable, MakeVariable(def, /*local=*/key == kLocalVariables));
      imported_.variables[key].push_back(variable);
      if (key == kGlobalStep) graph_.AddToCollection(kGlobalStep, variable.handle());
    }
    return OkStatus();
  }

  // The variable with this definition, which the graph may have already.
  StatusOr<Variable> MakeVariable(const proto::VariableDef& def, bool local) {
    const std::string name = NameOf(def.variable_name());
    if (const auto it = known_.find(name); it != known_.end()) return it->second;
    TF_ASSIGN_OR_RETURN(const Output handle, graph_.FindOutput(name));
    TF_ASSIGN_OR_RETURN(const Operation initializer, OperationNamed(def.initializer_name()));
    Output read;  // a growing table has none
    if (handle.op().type() != "KvVarHandleOp") {
      TF_ASSIGN_OR_RETURN(read, TensorOf(def.snapshot_name()));
    }
    Output initial_value;
    if (!def.initial_value_name().empty()) {
      TF_ASSIGN_OR_RETURN(initial_value, TensorOf(def.initial_value_name()));
    }
    TF_ASSIGN_OR_RETURN(const Variable made, Variable::FromNodes(graph_, handle, initializer, initial_value, read,
                                                                 {.trainable = trainable_.contains(def.variable_name()),
                                                                  .local = local,
                                                                  .part_of = PartOf(def)}));
    return known_.emplace(name, made).first->second;
  }

  std::optional<VariablePart> PartOf(const proto::VariableDef& def) const {
    if (!def.has_save_slice_info_def() || def.save_slice_info_def().full_name().empty()) return std::nullopt;
    const proto::SaveSliceInfoDef& slice = def.save_slice_info_def();
    VariablePart part{.whole = NameOf(slice.full_name()), .shape = Shape(), .first_row = 0};
    for (const int64_t dim : slice.full_shape()) part.shape.AddDim(dim);
    if (slice.var_offset_size() > 0) part.first_row = slice.var_offset(0);
    return part;
  }

  Status AddQueueRunners(const proto::CollectionDef& collection, std::vector<QueueRunner>* runners) {
    for (const std::string& bytes : collection.bytes_list().value()) {
      proto::QueueRunnerDef def;
      if (!def.ParseFromString(bytes)) return InvalidArgument("an element of 'queue_runners' is not a QueueRunnerDef");
      std::vector<Operation> enqueue;
      for (const std::string& name : def.enqueue_op_name()) {
        TF_ASSIGN_OR_RETURN(const Operation op, OperationNamed(name));
        enqueue.push_back(op);
      }
      TF_ASSIGN_OR_RETURN(const Operation close, OptionalOperation(def.close_op_name()));
      TF_ASSIGN_OR_RETURN(const Operation cancel, OptionalOperation(def.cancel_op_name()));
      runners->emplace_back(std::move(enqueue), close, cancel);
    }
    return OkStatus();
  }

  Status AddSaver() {
    const proto::SaverDef& saver = meta_.saver_def();
    if (saver.restore_op_name().empty()) return OkStatus();
    TF_ASSIGN_OR_RETURN(imported_.filename, TensorOf(saver.filename_tensor_name()));
    TF_ASSIGN_OR_RETURN(imported_.save, TensorOf(saver.save_tensor_name()));
    TF_ASSIGN_OR_RETURN(imported_.restore, OperationNamed(saver.restore_op_name()));
    imported_.max_to_keep = saver.max_to_keep();
    return OkStatus();
  }

  // Only the description of a loop, but none of its nodes, says that it was built without a gradient.
  void EndGradientsOfFixedLoops() {
    std::vector<std::string> conditions;
    for (const std::string& bytes : CollectionOf(meta_, kLoops).bytes_list().value()) {
      proto::WhileContextDef loop;
      if (loop.ParseFromString(bytes)) FindFixedLoops(loop, &conditions);
    }
    for (const std::string& bytes : CollectionOf(meta_, kConditionals).bytes_list().value()) {
      proto::CondContextDef branch;
      if (branch.ParseFromString(bytes)) FindFixedLoopsIn(branch, &conditions);
    }
    if (conditions.empty()) return;
    const GraphLock lock(graph_);
    FindImportedFlow(graph_);
    for (const std::string& name : conditions) {
      const auto condition = TensorOf(name);  // an error if the MetaGraphDef describes a loop that it lacks
      FlowContext* const loop = condition.ok() ? LoopOf(NodeOf(*condition)->flow_context()) : nullptr;
      if (loop != nullptr && loop->condition == *condition) loop->differentiable = false;
    }
  }

  Graph& graph_;
  const proto::MetaGraphDef& meta_;
  const std::string prefix_;
  // Graphs of TensorFlow before 1.9 say only by this collection which variables are trainable.
  const std::set<std::string> trainable_;
  std::map<std::string, Variable> known_;  // the variables of the graph, by the name of the handle
  ImportedMetaGraph imported_;
};

}  // namespace

StatusOr<ImportedMetaGraph> ImportMetaGraph(Graph& graph, std::string_view meta_graph,
                                            const ImportMetaGraphOptions& options, std::source_location loc) {
  proto::MetaGraphDef meta;
  if (!meta.ParseFromArray(meta_graph.data(), static_cast<int>(meta_graph.size()))) {
    return InvalidArgument("these ", meta_graph.size(), " bytes are not a MetaGraphDef");
  }
  const ScopedLocation at(graph, loc);
  std::string prefix;
  if (!options.import_scope.empty()) {
    const ScopeGuard scope = graph.NameScope(options.import_scope);
    prefix = ImplOf(graph).name_scope() + "/";
  }
  return MetaGraphImporter(graph, meta, std::move(prefix)).Import();
}

}  // namespace tensorbraid
