#include "tensorbraid/saver.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_format.h"
#include "checkpoint/files.h"
#include "core/device_name.h"
#include "core/logging.h"
#include "core/strings.h"
#include "train/meta_graph.pb.h"

namespace tensorbraid {
namespace {

constexpr int kBundleCheckpoints = 2;

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Output StringConst(Graph& g, const Tensor& value, const std::string& name) {
  return NodeBuilder(g, "Const").Name(name).Attr("value", value).Attr("dtype", kString).Output();
}

// One task's variables, saved to and restored from one file.
class Part {
 public:
  explicit Part(const std::vector<const SavedVariable*>& variables) : variables_(variables) {
    for (const SavedVariable* v : variables) {
      names_.push_back(v->name);
      slices_.push_back(v->shape_and_slice);
      dtypes_.push_back(v->variable.dtype());
    }
  }

  Operation Save(Graph& g, const Output& prefix) const {
    std::vector<Output> values;
    for (const SavedVariable* v : variables_) values.push_back(v->variable.Read());
    return NodeBuilder(g, "SaveV2")
        .Input(prefix)
        .Input(StringConst(g, Tensor::Vector(names_), "SaveV2/tensor_names"))
        .Input(StringConst(g, Tensor::Vector(slices_), "SaveV2/shape_and_slices"))
        .InputList(values)
        .Attr("dtypes", dtypes_)
        .Finish();
  }

  void Restore(Graph& g, const Output& prefix, std::vector<Operation>* assigned) const {
    const Operation restored = NodeBuilder(g, "RestoreV2")
                                   .Input(prefix)
                                   .Input(StringConst(g, Tensor::Vector(names_), "RestoreV2/tensor_names"))
                                   .Input(StringConst(g, Tensor::Vector(slices_), "RestoreV2/shape_and_slices"))
                                   .Attr("dtypes", dtypes_)
                                   .Finish();
    if (!restored.valid()) return;
    for (size_t i = 0; i < variables_.size(); ++i) {
      assigned->push_back(variables_[i]->variable.Assign(restored.output(static_cast<int>(i))));
    }
  }

 private:
  const std::vector<const SavedVariable*> variables_;
  std::vector<std::string> names_;
  std::vector<std::string> slices_;
  std::vector<DType> dtypes_;
};

// "/job:ps/task:1/device:CPU:0" of "/job:ps/task:1/device:GPU:0": files are the host's.
std::string HostOf(const std::string& device) {
  auto name = DeviceName::Parse(device);
  if (!name.ok()) return device;
  name->type = "CPU";
  name->id = 0;
  return name->ToString();
}

// The collections in which TensorFlow looks for variables.
void AddVariables(const Graph& graph, proto::MetaGraphDef* meta) {
  auto& collections = *meta->mutable_collection_def();
  const auto add = [&](const char* collection, const std::string& bytes) {
    collections[collection].mutable_bytes_list()->add_value(bytes);
  };
  for (const Variable& v : graph.variables()) {
    proto::VariableDef def;
    def.set_variable_name(v.handle().name());
    def.set_initial_value_name(v.initial_value().name());
    def.set_initializer_name(v.initializer().name());
    def.set_snapshot_name(StrCat(v.name(), "/Read/ReadVariableOp:0"));
    def.set_is_resource(true);
    def.set_trainable(v.trainable());
    const std::string bytes = def.SerializeAsString();
    add(v.local() ? "local_variables" : "variables", bytes);
    if (v.trainable()) add("trainable_variables", bytes);
    if (v == GetGlobalStep(graph)) add("global_step", bytes);
  }
}

}  // namespace

struct Saver::Impl {
  Impl(Graph& graph, SaverOptions options) : graph(graph), options(std::move(options)) {}
  void Build();
  void BuildSharded(const std::vector<const SavedVariable*>& variables, std::vector<Operation>* assigned);
  void Manage(const std::string& path);
  Status UpdateState(const std::string& directory, const std::string& latest_filename) const;
  void RemoveOld();
  StatusOr<std::string> MetaGraph();

  Graph& graph;
  SaverOptions options;
  Output filename;
  Output save;
  Operation restore;

  struct Kept {
    std::string path;
    double time;
  };
  std::vector<Kept> kept;  // oldest first
  double next_preserved = 0;
  double last_preserved = 0;
  std::string meta_graph;  // as of so many nodes
  size_t meta_graph_nodes = 0;
};

void Saver::Impl::Build() {
  if (!graph.status().ok()) return;
  if (options.variables.empty()) {
    for (const Variable& v : graph.variables()) {
      if (!v.local()) options.variables.emplace_back(v);
    }
  }
  std::vector<const SavedVariable*> variables;
  std::set<std::pair<std::string, std::string>> names;
  for (const SavedVariable& v : options.variables) {
    if (!v.variable.valid()) return graph.AddError(InvalidArgument("Saver: a variable to save is not valid"));
    if (!names.emplace(v.name, v.shape_and_slice).second) {
      return graph.AddError(InvalidArgument("Saver: two variables would be saved as '", v.name, "'"));
    }
    variables.push_back(&v);
  }
  if (variables.empty()) return graph.AddError(InvalidArgument("Saver: the graph has no variables to save"));

  auto scope = graph.NameScope(options.name);
  auto anytime = graph.ControlDependencies(std::vector<Operation>());
  const Output model = StringConst(graph, Tensor::Scalar("model"), "filename");
  filename = NodeBuilder(graph, "PlaceholderWithDefault").Name("Const").Input(model).Attr("shape", Shape()).Output();
  std::vector<Operation> assigned;
  if (options.sharded) {
    BuildSharded(variables, &assigned);
  } else {
    const Part all(variables);
    const Operation written = all.Save(graph, filename);
    if (written.valid()) {
      save = NodeBuilder(graph, "Identity").Name("control_dependency").Input(filename).Control(written).Output();
    }
    all.Restore(graph, filename, &assigned);
  }
  if (graph.status().ok()) {
    NodeBuilder all(graph, "NoOp");
    all.Name("restore_all");
    for (const Operation& op : assigned) all.Control(op);
    restore = all.Finish();
  }
  next_preserved = Now() + options.keep_checkpoint_every_n_hours * 3600;
}

void Saver::Impl::BuildSharded(const std::vector<const SavedVariable*>& variables, std::vector<Operation>* assigned) {
  std::map<std::string, std::vector<const SavedVariable*>> by_host;
  for (const SavedVariable* v : variables) by_host[HostOf(v->variable.handle().op().device())].push_back(v);

  // Parts lie in a directory of their own, that nobody takes them for a checkpoint, until they are one.
  std::random_device random;
  const std::string part = absl::StrFormat("_temp_%08x%08x/part", random(), random());
  const Output parts = NodeBuilder(graph, "StringJoin")
                           .InputList({filename, StringConst(graph, Tensor::Scalar(part), "StringJoin/inputs_1")})
                           .Output();
  const auto number = [&](int n) {
    return NodeBuilder(graph, "Const").Attr("value", Tensor::Scalar<int32_t>(n)).Attr("dtype", kInt32).Output();
  };
  const int count = static_cast<int>(by_host.size());
  int shard = 0;
  std::vector<Output> prefixes;
  std::vector<Operation> written;
  for (const auto& [host, members] : by_host) {
    auto none = graph.NoDevice();
    auto device = graph.Device(host);
    const Part one(members);
    const Output prefix =
        NodeBuilder(graph, "ShardedFilename").Input(parts).Input(number(shard++)).Input(number(count)).Output();
    const Operation saved = one.Save(graph, prefix);
    if (!saved.valid()) return;
    prefixes.push_back(prefix);
    written.push_back(saved);
    one.Restore(graph, filename, assigned);
  }
  auto none = graph.NoDevice();
  auto device = graph.Device(by_host.rbegin()->first);
  NodeBuilder merge(graph, "MergeV2Checkpoints");
  merge.Input(NodeBuilder(graph, "Pack").Name("MergeV2Checkpoints/checkpoint_prefixes").InputList(prefixes).Output());
  merge.Input(filename);
  for (const Operation& op : written) merge.Control(op);
  const Operation merged = merge.Finish();
  if (!merged.valid()) return;
  save = NodeBuilder(graph, "Identity").Name("Identity").Input(filename).Control(merged).Output();
}

void Saver::Impl::Manage(const std::string& path) {
  std::erase_if(kept, [&](const Kept& k) { return k.path == path; });
  kept.push_back({path, Now()});
}

Status Saver::Impl::UpdateState(const std::string& directory, const std::string& latest_filename) const {
  CheckpointState state{.last_preserved_timestamp = last_preserved};
  state.model_checkpoint_path = kept.back().path;
  const size_t many = static_cast<size_t>(std::max(options.max_to_keep, 0));
  const size_t first = many > 0 && kept.size() > many ? kept.size() - many : 0;
  for (size_t i = first; i < kept.size(); ++i) {
    state.all_model_checkpoint_paths.push_back(kept[i].path);
    state.all_model_checkpoint_timestamps.push_back(kept[i].time);
  }
  return UpdateCheckpointState(directory, state, latest_filename);
}

void Saver::Impl::RemoveOld() {
  if (options.max_to_keep <= 0) return;
  while (kept.size() > static_cast<size_t>(options.max_to_keep)) {
    const Kept old = kept.front();
    kept.erase(kept.begin());
    if (old.time > next_preserved) {
      next_preserved += options.keep_checkpoint_every_n_hours * 3600;
      last_preserved = old.time;
      continue;
    }
    if (const Status status = RemoveCheckpoint(old.path); !status.ok()) {
      TB_LOG(Warning, "train") << "an old checkpoint stays: " << ToString(status);
    }
  }
}

StatusOr<std::string> Saver::Impl::MetaGraph() {
  const size_t nodes = graph.operations().size();
  if (meta_graph_nodes == nodes) return meta_graph;
  proto::MetaGraphDef meta;
  TF_ASSIGN_OR_RETURN(*meta.mutable_graph_def(), graph.ToGraphDef());
  // Which version of the graph's format it is: the one in which TensorFlow began to write it so.
  meta.mutable_meta_info_def()->set_tensorflow_version("2.0.0");
  proto::SaverDef& saver = *meta.mutable_saver_def();
  saver.set_filename_tensor_name(filename.name());
  saver.set_save_tensor_name(save.name());
  saver.set_restore_op_name(restore.name());
  saver.set_max_to_keep(options.max_to_keep);
  saver.set_sharded(options.sharded);
  saver.set_keep_checkpoint_every_n_hours(static_cast<float>(options.keep_checkpoint_every_n_hours));
  saver.set_version(kBundleCheckpoints);
  AddVariables(graph, &meta);
  if (!meta.SerializeToString(&meta_graph)) return InvalidArgument("the graph is too large for a MetaGraphDef");
  meta_graph_nodes = nodes;
  return meta_graph;
}

Saver::Saver(Graph& graph, SaverOptions options) : impl_(std::make_unique<Impl>(graph, std::move(options))) {
  impl_->Build();
}
Saver::~Saver() = default;

StatusOr<std::string> Saver::Save(Session& session, const std::string& path, const SaveOptions& options) {
  TF_RETURN_IF_ERROR(impl_->graph.status());
  if (path.empty() || path.ends_with('/')) return InvalidArgument("'", path, "' is no path for a checkpoint");
  std::string prefix = path;
  if (options.global_step) {
    prefix += impl_->options.pad_step_number ? absl::StrFormat("-%08d", *options.global_step)
                                             : StrCat("-", *options.global_step);
  }
  const std::string directory = DirectoryOf(prefix);
  if (!directory.empty()) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) return absl::ErrnoToStatus(error.value(), StrCat("cannot make the directory ", directory));
  }
  TF_RETURN_IF_ERROR(session.Run({impl_->save}, {{impl_->filename, Tensor::Scalar(prefix)}}).status());
  if (options.write_meta_graph) {
    TF_ASSIGN_OR_RETURN(const std::string meta, impl_->MetaGraph());
    TF_RETURN_IF_ERROR(WriteFileAtomically(prefix + ".meta", meta));
  }
  impl_->Manage(prefix);
  TF_RETURN_IF_ERROR(impl_->UpdateState(directory, options.latest_filename));
  impl_->RemoveOld();
  return prefix;
}

Status Saver::Restore(Session& session, const std::string& path) const {
  TF_RETURN_IF_ERROR(impl_->graph.status());
  return session.Run({impl_->restore}, {{impl_->filename, Tensor::Scalar(path)}}).status();
}

std::vector<std::string> Saver::last_checkpoints() const {
  std::vector<std::string> paths;
  for (const Impl::Kept& k : impl_->kept) paths.push_back(k.path);
  return paths;
}

void Saver::RecoverLastCheckpoints(const std::vector<std::string>& paths) {
  impl_->kept.clear();
  for (const std::string& path : paths) {
    if (!CheckpointExists(path)) continue;
    std::error_code error;
    const auto written = std::filesystem::last_write_time(path + ".index", error);
    const auto age = std::filesystem::file_time_type::clock::now() - written;
    impl_->kept.push_back({path, Now() - (error ? 0 : std::chrono::duration<double>(age).count())});
  }
}

Output Saver::filename() const { return impl_->filename; }
Output Saver::save() const { return impl_->save; }
Operation Saver::restore() const { return impl_->restore; }
StatusOr<std::string> Saver::ToMetaGraphDef() const {
  TF_RETURN_IF_ERROR(impl_->graph.status());
  return impl_->MetaGraph();
}

}  // namespace tensorbraid
