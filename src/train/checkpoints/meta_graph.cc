#include "train/checkpoints/meta_graph.h"

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/variable.h"
#include "train/checkpoints/flow_collections.h"
#include "train/checkpoints/meta_graph.pb.h"

namespace tensorbraid {
namespace {

constexpr int kBundleCheckpoints = 2;  // SaverDef.V2 in TensorFlow

// Fills the collections in which TensorFlow looks for variables, except those that are given.
void AddVariables(const Graph& graph, const std::map<std::string, std::string>& given, proto::MetaGraphDef* meta) {
  auto& collections = *meta->mutable_collection_def();
  const auto add = [&](const char* collection, const std::string& bytes) {
    if (given.contains(collection)) return;
    collections[collection].mutable_bytes_list()->add_value(bytes);
  };
  for (const Variable& v : graph.variables()) {
    const std::string bytes = VariableDefOf(v);
    add(v.local() ? "local_variables" : "variables", bytes);
    if (v.trainable()) add("trainable_variables", bytes);
    if (v == GetGlobalStep(graph)) add("global_step", bytes);
  }
}

}  // namespace

std::string VariableDefOf(const Variable& v) {
  proto::VariableDef def;
  def.set_variable_name(v.handle().name());
  if (v.initial_value().valid()) def.set_initial_value_name(v.initial_value().name());
  def.set_initializer_name(v.initializer().name());
  if (v.shared_read().valid()) def.set_snapshot_name(v.shared_read().name());
  def.set_is_resource(!v.is_reference());
  def.set_trainable(v.trainable());
  if (const VariablePart* part = v.part_of(); part != nullptr) {
    proto::SaveSliceInfoDef& slice = *def.mutable_save_slice_info_def();
    slice.set_full_name(part->whole);
    for (const int64_t dim : part->shape.dims()) slice.add_full_shape(dim);
    for (const int64_t dim : v.shape().dims()) slice.add_var_shape(dim);
    slice.add_var_offset(part->first_row);
    for (int i = 1; i < v.shape().rank(); ++i) slice.add_var_offset(0);
  }
  return def.SerializeAsString();
}

std::string QueueRunnerDefOf(const QueueRunner& runner) {
  proto::QueueRunnerDef def;
  for (const Operation& op : runner.enqueue_operations()) def.add_enqueue_op_name(op.name());
  const auto queue_of = [](const Operation& op) { return NodeOf(op)->inputs()[0].name(); };
  if (const Operation& close = runner.close_operation(); close.valid()) {
    def.set_close_op_name(close.name());
    def.set_queue_name(queue_of(close));
  }
  if (const Operation& cancel = runner.cancel_operation(); cancel.valid()) def.set_cancel_op_name(cancel.name());
  def.add_queue_closed_exception_types(static_cast<int>(absl::StatusCode::kOutOfRange));
  return def.SerializeAsString();
}

StatusOr<std::string> SerializeMetaGraph(const Graph& graph, const MetaGraphSaver& saver,
                                         const MetaGraphCollections& collections) {
  proto::MetaGraphDef meta;
  TF_ASSIGN_OR_RETURN(*meta.mutable_graph_def(), graph.ToGraphDef());
  // Tells readers the version of the graph's format. TensorFlow has written this format since 2.0.0.
  meta.mutable_meta_info_def()->set_tensorflow_version("2.0.0");
  proto::SaverDef& def = *meta.mutable_saver_def();
  def.set_filename_tensor_name(saver.filename);
  def.set_save_tensor_name(saver.save);
  def.set_restore_op_name(saver.restore);
  def.set_max_to_keep(saver.max_to_keep);
  def.set_sharded(saver.sharded);
  using Hours = std::chrono::duration<float, std::ratio<3600>>;
  def.set_keep_checkpoint_every_n_hours(Hours(saver.keep_every).count());
  def.set_version(kBundleCheckpoints);
  auto& made = *meta.mutable_collection_def();
  for (const auto& [key, bytes] : collections.defs) {
    if (!made[key].ParseFromString(bytes)) return InvalidArgument("the collection '", key, "' is not a CollectionDef");
  }
  for (const auto& [key, names] : collections.names) {
    for (const std::string& name : names) made[key].mutable_node_list()->add_value(name);
  }
  for (const auto& [key, runners] : collections.runners) {
    for (const QueueRunner& runner : runners) made[key].mutable_bytes_list()->add_value(QueueRunnerDefOf(runner));
  }
  for (const auto& [key, contexts] : FlowCollections(graph)) {
    for (const std::string& bytes : contexts) made[key].mutable_bytes_list()->add_value(bytes);
  }
  AddVariables(graph, collections.defs, &meta);
  std::string bytes;
  if (!meta.SerializeToString(&bytes)) return InvalidArgument("the graph is too large for a MetaGraphDef");
  return bytes;
}

}  // namespace tensorbraid
