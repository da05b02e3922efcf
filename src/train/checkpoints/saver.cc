#include "tensorbraid/train/saver.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/changed_rows.h"
#include "checkpoint/files.h"
#include "checkpoint/leftovers.h"
#include "core/system/env.h"
#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "train/checkpoints/increment_series.h"
#include "train/checkpoints/kept_checkpoints.h"
#include "train/checkpoints/meta_graph.h"
#include "train/checkpoints/random_states.h"
#include "train/checkpoints/saved_part.h"
#include "train/checkpoints/saved_tables.h"

namespace tensorbraid {
namespace {

// Maps "/job:ps/task:1/device:GPU:0" to "/job:ps/task:1/device:CPU:0", since the host accesses files.
std::string HostOf(const std::string& device) {
  auto name = DeviceName::Parse(device);
  if (!name.ok()) return device;
  name->type = "CPU";
  name->id = 0;
  return name->ToString();
}

bool ArePlacedOnTasks(const std::vector<const SavedVariable*>& variables) {
  return std::any_of(variables.begin(), variables.end(), [](const SavedVariable* v) {
    const auto device = DeviceName::Parse(v->variable.handle().op().device());
    return device.ok() && device->job.has_value();
  });
}

// Makes a path mean the same on every task, whatever their working directories are.
StatusOr<std::string> AbsolutePath(const std::string& path) { return Env::Default().AbsolutePath(path); }

// Checks that this process sees all files of a checkpoint that a session has just written.
Status CheckVisible(const std::string& prefix) {
  const auto bundle = BundleReader::Open(prefix);
  std::string missing;
  if (absl::IsNotFound(bundle.status())) {
    missing = BundleIndexName(prefix);
  } else {
    TF_RETURN_IF_ERROR(bundle.status());
    missing = (*bundle)->MissingFile();
  }
  if (missing.empty()) return OkStatus();
  return FailedPrecondition("the checkpoint '", prefix, "' was written, but this process cannot see its file '",
                            missing,
                            "': the task that wrote it has another file system; the directory of checkpoints must be "
                            "on storage that all tasks share");
}

// Adds advice to the error of writing a checkpoint, if the error's code suggests a cause.
Status WithAdvice(const Status& status, bool sharded) {
  if (absl::IsResourceExhausted(status)) {
    return Annotate(status, "no space or memory is left (free some, or keep fewer checkpoints: max_to_keep)");
  }
  if (absl::IsPermissionDenied(status)) {
    return Annotate(status, "the directory must be writable for the user that runs the tasks");
  }
  // A task that does not see the directory returns one of these errors. So does the task that merges the files, if it
  // does not see those of the other tasks.
  if (sharded && (absl::IsNotFound(status) || absl::IsInvalidArgument(status))) {
    return FailedPrecondition(
        "every task saves its own variables, so the directory of checkpoints must be on storage that all tasks share "
        "(SaverOptions::sharded = false lets one task save all): ",
        std::string(status.message()));
  }
  return status;
}

// The way to the rows of growing tables that a checkpoint has under names of variables; "" if it has none.
std::string WhatTablesNeed(const std::string& path, const std::vector<std::string>& variables) {
  const auto reader = CheckpointReader::Open(path);
  std::vector<std::string> tables;
  for (const std::string& name : variables) {
    const auto has = [&](const auto& tensor) {
      return tensor.name == name + "-keys" || tensor.name == name + "/part_0-keys";
    };
    if (reader.ok() && std::ranges::any_of((*reader)->tensors(), has)) tables.push_back(name);
  }
  if (tables.empty()) return "";
  return StrCat("; in the checkpoint, these are growing tables: ", StrJoin(tables, ", "),
                ". In Python, tf.train.init_from_checkpoint lets static variables begin with their rows");
}

// Whether the newest increment of a chain has all of a variable, and not only rows.
class WholeInNewest {
 public:
  explicit WholeInNewest(const IncrementChain& chain) : of_deeprec_(chain.of_deeprec) {
    if (chain.increments.empty()) return;
    const auto reader = CheckpointReader::Open(chain.newest());
    if (!reader.ok()) return;
    for (const auto& tensor : (*reader)->tensors()) {
      const size_t end = tensor.name.rfind(kChangedRows);
      if (end != std::string::npos) by_rows_.insert(tensor.name.substr(0, end));
      names_.insert(tensor.name);
    }
  }
  // Increments of DeepRec's need not have all tables and variables.
  bool operator()(const std::string& name) const {
    return of_deeprec_ ? names_.contains(name) : !by_rows_.contains(name);
  }

 private:
  const bool of_deeprec_;
  std::set<std::string> by_rows_, names_;
};

// "10 4 5,5:0,4": rows 5 to 9 of a tensor of shape [10,4]; "" for a variable that is not a part of another one.
std::string SliceOf(const Variable& variable) {
  const VariablePart* part = variable.part_of();
  if (part == nullptr) return "";
  std::string text;
  for (const int64_t dim : part->shape.dims()) text += StrCat(dim, " ");
  text += StrCat(part->first_row, ",", variable.shape().dim(0));
  for (const int64_t dim : part->shape.dims().subspan(1)) text += StrCat(":0,", dim);
  return text;
}

}  // namespace

SavedVariable::SavedVariable(const Variable& saved)
    : SavedVariable(saved,
                    saved.part_of() != nullptr ? saved.part_of()->whole
                    : saved.valid()            ? saved.name()
                                               : std::string(),
                    SliceOf(saved)) {}

struct Saver::Impl {
  Impl(Graph& graph, SaverOptions given)
      : graph(graph), options(std::move(given)), kept(options.max_to_keep, options.keep_checkpoint_every) {}
  void Build(std::source_location loc);
  // Returns the graph's first error (Graph::status). Returns FailedPrecondition if this saver was made for all
  // variables and has not seen some of them.
  Status CheckGraph() const;
  // Each adds the operations of a save, and those of a restore if `assigned` is not null. Returns the tensor to fetch
  // in order to save.
  Output BuildWhole(const SavedSet& saved, const SaveKind& kind, const SavedPart::States& small,
                    std::vector<Operation>* assigned);
  Output BuildSharded(const SavedSet& saved, const SaveKind& kind, const SavedPart::States& small,
                      std::vector<Operation>* assigned);
  // Runs a save and checks that this process sees the files. If it fails, removes the files that it has written.
  Status Write(Session& session, const Output& fetch, const std::string& prefix, std::vector<Feed> feeds) const;
  Status WriteIncrement(Session& session, const std::string& path, const std::string& prefix,
                        const SaveOptions& options);
  // Restores the chain, in which nothing is known to be damaged.
  Status RestoreChain(Session& session, const IncrementChain& chain);
  void WarnOfIncrements(const std::string& full) const;
  // Feeds the checkpoints of tables that have the rows of one whatever is restored, with the increments that follow it.
  StatusOr<std::vector<Feed>> ChosenFeeds() const;
  void RemoveLeftoversOf(const std::string& base, const std::string& newest, const std::string& latest_filename) const;
  // Removes what the tasks have written for a sharded save that was not merged.
  void RemoveParts(const std::string& prefix) const;
  StatusOr<std::string> MetaGraph();
  // InvalidArgument for variables whose shape or dtype differs from the checkpoint's, NotFound for those that it lacks.
  // Variables of which the newest increment has some rows are looked for in the full checkpoint. Says nothing about a
  // checkpoint that this process cannot read: RestoreV2 reports what is wrong with it. The variables in `renamed` are
  // taken from the checkpoint under other names.
  Status CheckContents(const IncrementChain& chain, const std::map<std::string, std::string>& renamed) const;
  Status CheckContents(const std::string& path, const std::vector<SavedVariable>& variables) const;
  // The names in the checkpoint that differ, because growing tables had another number of parts.
  std::map<std::string, std::string> RenamedIn(const std::string& path) const;

  const GraphRef graph;
  SaverOptions options;
  std::string self;           // "Saver (model.cc:12)"
  bool saves_all = false;     // the caller has not chosen variables, so all are saved
  size_t variables_seen = 0;  // how many variables the graph had when the saver was made
  bool sharded = false;
  std::string parts_suffix;  // a sharded save writes to the directory "model-1000" + suffix before it is merged
  Output filename;
  Output save;
  Operation restore;
  RestoreInputs restore_inputs;
  std::optional<IncrementSeries> series;    // of an incremental saver
  std::optional<RecordedRestore> followed;  // of a saver that follows increments and saves none
  std::optional<RandomStates> states;
  Operation restore_states;
  bool restored_random_state = false;

  KeptCheckpoints kept;
  std::string meta_graph;  // serialized when the graph had meta_graph_nodes nodes
  size_t meta_graph_nodes = 0;
  MetaGraphCollections collections;  // in the meta graph
};

void Saver::Impl::Build(std::source_location loc) {
  self = StrCat("Saver (", LocationText(ImplOf(*graph).UserLine(loc)), ")");
  if (!graph->status().ok()) return;
  const ScopedLocation at(*graph, loc);
  saves_all = options.variables.empty() && options.states.empty();
  variables_seen = graph->variables().size();
  if (saves_all) {
    for (const Variable& v : graph->variables()) {
      if (!v.local()) options.variables.emplace_back(v);
    }
  }
  std::vector<const SavedVariable*> variables;
  std::set<std::pair<std::string, std::string>> names;
  for (const SavedVariable& v : options.variables) {
    if (!v.variable.valid()) return graph->AddError(InvalidArgument(self, ": a variable to save is not valid"));
    if (!names.emplace(v.name, v.shape_and_slice).second) {
      return graph->AddError(InvalidArgument(self, ": two variables would be saved as '", v.name, "'"));
    }
    variables.push_back(&v);
  }
  for (const SavedState& state : options.states) {
    for (const SavedState::Value& v : state.values) {
      if (!v.value.valid()) return graph->AddError(InvalidArgument(self, ": the state '", v.name, "' is not valid"));
      if (names.emplace(v.name, v.shape_and_slice).second) continue;
      return graph->AddError(InvalidArgument(self, ": two values would be saved as '", v.name, "'"));
    }
  }
  if (variables.empty() && options.states.empty())
    return graph->AddError(InvalidArgument(self, ": the graph has no variables to save"));

  auto tables = SavedTablesOf(variables);
  if (!tables.ok()) return graph->AddError(Annotate(tables.status(), self));
  const SavedSet saved = {.variables = variables, .tables = *std::move(tables)};

  auto scope = graph->NameScope(options.name);
  auto no_dependencies = graph->ControlDependencies(std::vector<Operation>());
  const Output model = StringConst(*graph, Tensor::Scalar("model"), "filename");
  filename = NodeBuilder(*graph, "PlaceholderWithDefault").Name("Const").Input(model).Attr("shape", Shape()).Output();
  if (options.random_state) states.emplace(*graph);
  SaveKind full;
  const Variable step = GetGlobalStep(*graph);
  for (const SavedVariable* v : variables) {
    if (!saved.tables.empty() && v->variable == step) full.first[v] = step.Read();
  }
  // The rows of growing tables are written apart, piece by piece, so there is more than one part in any case.
  sharded = !variables.empty() && options.sharded.value_or(ArePlacedOnTasks(variables) || !saved.tables.empty());
  // The functions of the given states are not needed after this.
  const SavedPart::States small{.random = states ? &*states : nullptr, .given = std::exchange(options.states, {})};
  const auto build = [&](const SaveKind& kind, std::vector<Operation>* assigned) {
    return sharded ? BuildSharded(saved, kind, small, assigned) : BuildWhole(saved, kind, small, assigned);
  };
  // The parts are written to a separate directory, so that before the merge no reader mistakes them for a checkpoint.
  if (sharded) parts_suffix = absl::StrFormat("_temp_%016x", RandomSeed());
  std::vector<Operation> assigned;
  if (options.incremental) {
    series.emplace(*graph);
    const RecordedSave all = series->save(/*only_changes=*/false), changes = series->save(/*only_changes=*/true);
    const RecordedRestore restored = series->restore();
    full.recorded = &all;
    full.restored = &restored;
    full.by_rows = UpdatedByRows(*graph, variables);
    save = build(full, &assigned);
    auto increment = graph->NameScope("increment");
    series->saved =
        build({.first = full.first, .recorded = &changes, .link = series->link(), .by_rows = full.by_rows}, nullptr);
  } else {
    if (options.follow_increments) followed = FollowedIncrements(*graph);
    if (followed) full.restored = &*followed;
    save = build(full, &assigned);
  }
  if (graph->status().ok()) {
    NodeBuilder all(*graph, "NoOp");
    all.Name("restore_all");
    for (const Operation& op : assigned) all.Control(op);
    restore = all.Finish();
    if (states) restore_states = states->AddRestore(*graph, filename);
  }
}

Output Saver::Impl::BuildWhole(const SavedSet& saved, const SaveKind& kind, const SavedPart::States& small,
                               std::vector<Operation>* assigned) {
  const SavedPart all(saved, options.reshape, small);
  const Operation written = all.Save(*graph, filename, kind, kind.link, /*with_rows=*/true);
  if (assigned != nullptr) all.Restore(*graph, filename, kind, assigned, &restore_inputs);
  if (!written.valid()) return Output();
  return NodeBuilder(*graph, "Identity").Name("control_dependency").Input(filename).Control(written).Output();
}

Status Saver::Impl::CheckGraph() const {
  const GraphUse use = graph.Use();
  TF_RETURN_IF_ERROR(use.CheckExists(self));
  TF_RETURN_IF_ERROR(use->status());
  const std::vector<Variable> variables = use->variables();
  if (!saves_all || variables.size() == variables_seen) return OkStatus();
  std::vector<std::string> later;
  for (size_t i = variables_seen; i < variables.size(); ++i) {
    const Variable& v = variables[i];
    if (!v.local()) later.push_back(StrCat("'", v.name(), "' (", NodeOf(v.handle())->location(), ")"));
  }
  if (later.empty()) return OkStatus();
  return FailedPrecondition(self, " was made before the variables ", StrJoin(later, ", "),
                            ", which it would neither save nor restore: make the Saver after all variables and "
                            "optimizers, or choose what it saves with SaverOptions::variables");
}

Output Saver::Impl::BuildSharded(const SavedSet& saved, const SaveKind& kind, const SavedPart::States& small,
                                 std::vector<Operation>* assigned) {
  std::map<std::string, SavedSet> by_host;
  const auto on_host_of = [&](const SavedVariable* v) -> SavedSet& {
    return by_host[HostOf(v->variable.handle().op().device())];
  };
  for (const SavedVariable* v : saved.variables) on_host_of(v).variables.push_back(v);
  for (const SavedTable& table : saved.tables) on_host_of(table.table).tables.push_back(table);

  const Tensor part = Tensor::Scalar(parts_suffix + "/part");
  const Output parts = NodeBuilder(*graph, "StringJoin")
                           .InputList({filename, StringConst(*graph, part, "StringJoin/inputs_1")})
                           .Output();
  const auto number = [&](int n) {
    return NodeBuilder(*graph, "Const").Attr("value", Tensor::Scalar<int32_t>(n)).Attr("dtype", kInt32).Output();
  };
  std::vector<std::pair<std::string, SavedPart>> parts_of;  // with their hosts
  int count = 0;
  for (const auto& [host, members] : by_host) {
    parts_of.emplace_back(host, SavedPart(members, options.reshape, {}));
    const SavedPart& one = parts_of.back().second;
    count += !one.saves_rows_apart(kind) ? 1 : one.has_values() ? 2 : 1;
  }
  const bool has_rest = !small.given.empty() || (states && !states->names().empty()) || kind.link.valid();
  if (has_rest) ++count;
  int shard = 0;
  std::vector<Output> prefixes;
  std::vector<Operation> written;
  const auto next_prefix = [&] {
    prefixes.push_back(
        NodeBuilder(*graph, "ShardedFilename").Input(parts).Input(number(shard++)).Input(number(count)).Output());
    return prefixes.back();
  };
  for (const auto& [host, one] : parts_of) {
    auto none = graph->NoDevice();
    auto device = graph->Device(host);
    const bool apart = one.saves_rows_apart(kind);
    if (!apart || one.has_values()) {
      written.push_back(one.Save(*graph, next_prefix(), kind, Output(), /*with_rows=*/!apart));
    }
    if (apart) written.push_back(one.SaveRows(*graph, next_prefix(), kind));
    if (assigned != nullptr) one.Restore(*graph, filename, kind, assigned, &restore_inputs);
  }
  if (has_rest) {
    // The states are small and their tasks may be unknown until a session places them, so the chief writes all.
    auto none = graph->NoDevice();
    const SavedPart rest({}, /*reshape=*/false, small);
    written.push_back(rest.Save(*graph, next_prefix(), {}, kind.link, /*with_rows=*/false));
    if (assigned != nullptr && !small.given.empty()) {
      rest.Restore(*graph, filename, kind, assigned, &restore_inputs);
    }
  }
  if (!graph->status().ok()) return Output();
  // The chief merges, since it must see the files of all tasks.
  auto none = graph->NoDevice();
  NodeBuilder merge(*graph, "MergeV2Checkpoints");
  merge.Input(NodeBuilder(*graph, "Pack").Name("MergeV2Checkpoints/checkpoint_prefixes").InputList(prefixes).Output());
  merge.Input(filename);
  for (const Operation& op : written) merge.Control(op);
  const Operation merged = merge.Finish();
  if (!merged.valid()) return Output();
  return NodeBuilder(*graph, "Identity").Name("Identity").Input(filename).Control(merged).Output();
}

Status Saver::Impl::Write(Session& session, const Output& fetch, const std::string& prefix,
                          std::vector<Feed> feeds) const {
  feeds.emplace_back(filename, Tensor::Scalar(prefix));
  const Status written = session.Run({fetch}, feeds).status();
  if (written.ok()) return CheckVisible(prefix);
  if (sharded) RemoveParts(prefix);
  return WithAdvice(written, sharded);
}

void Saver::Impl::RemoveParts(const std::string& prefix) const {
  const std::string directory = prefix + parts_suffix;
  const auto files = MatchingPaths(JoinPath(directory, "*"));
  for (const std::string& file : files.value_or(std::vector<std::string>())) RemoveFile(file).IgnoreError();
  RemoveDirectory(directory).IgnoreError();
}

StatusOr<std::string> Saver::Impl::MetaGraph() {
  const GraphUse use = graph.Use();
  TF_RETURN_IF_ERROR(use.CheckExists(self));
  const size_t nodes = use->operations().size();
  if (meta_graph_nodes == nodes) return meta_graph;
  TF_ASSIGN_OR_RETURN(meta_graph, SerializeMetaGraph(*use,
                                                     {.filename = filename.name(),
                                                      .save = save.name(),
                                                      .restore = restore.name(),
                                                      .max_to_keep = options.max_to_keep,
                                                      .sharded = sharded,
                                                      .keep_every = options.keep_checkpoint_every},
                                                     collections));
  meta_graph_nodes = nodes;
  return meta_graph;
}

std::map<std::string, std::string> Saver::Impl::RenamedIn(const std::string& path) const {
  std::vector<const SavedVariable*> variables;
  for (const SavedVariable& v : options.variables) variables.push_back(&v);
  const auto reader = CheckpointReader::Open(path);
  if (!reader.ok()) return {};
  return NamesInOtherParts(variables, [&](const std::string& name) { return (*reader)->HasTensor(name); });
}

Status Saver::Impl::CheckContents(const IncrementChain& chain,
                                  const std::map<std::string, std::string>& renamed) const {
  const WholeInNewest in_newest(chain);
  std::map<std::string, std::vector<SavedVariable>> variables;  // by the checkpoint that has them
  for (SavedVariable v : options.variables) {
    if (const auto name = renamed.find(v.name); name != renamed.end()) v.name = name->second;
    variables[in_newest(v.name) ? chain.newest() : chain.full].push_back(std::move(v));
  }
  for (const auto& [path, expected] : variables) TF_RETURN_IF_ERROR(CheckContents(path, expected));
  return OkStatus();
}

Status Saver::Impl::CheckContents(const std::string& path, const std::vector<SavedVariable>& variables) const {
  const auto coverage = CoverageOf(path, *graph, variables);
  if (!coverage.ok()) return OkStatus();
  if (!coverage->differing.empty() && !options.reshape) {
    return InvalidArgument("cannot restore from the checkpoint '", path, "': ", StrJoin(coverage->differing, "; "));
  }
  if (coverage->missing.empty()) return OkStatus();
  return NotFound("the checkpoint '", path, "' lacks ", coverage->missing.size(), " of ", options.variables.size(),
                  " variables: ", StrJoin(coverage->missing, ", "),
                  "; 'tensorbraid inspect checkpoint' lists what it has. A saver of the other variables restores "
                  "them alone; warm_start_from and CoverageOf help to find them",
                  WhatTablesNeed(path, coverage->missing));
}

Saver::Saver(Graph& graph, SaverOptions options, std::source_location loc)
    : impl_(std::make_unique<Impl>(graph, std::move(options))) {
  impl_->Build(loc);
}
Saver::~Saver() = default;

StatusOr<std::string> Saver::Save(Session& session, const std::string& path, const SaveOptions& options) {
  TF_RETURN_IF_ERROR(impl_->CheckGraph());
  TF_RETURN_IF_ERROR(CheckBundlePrefix(path));
  TF_ASSIGN_OR_RETURN(const std::string base, AbsolutePath(path));
  std::string prefix = base;
  if (options.global_step) {
    prefix += impl_->options.pad_step_number ? absl::StrFormat("-%08d", *options.global_step)
                                             : StrCat("-", *options.global_step);
  }
  const std::string directory = DirectoryOf(prefix);
  TF_RETURN_IF_ERROR(MakeDirectories(directory));
  TF_RETURN_IF_ERROR(
      impl_->Write(session, impl_->save, prefix, impl_->series ? impl_->series->SaveFeeds() : std::vector<Feed>()));
  if (options.write_meta_graph) {
    TF_ASSIGN_OR_RETURN(const std::string meta, impl_->MetaGraph());
    TF_RETURN_IF_ERROR(WriteFileAtomically(prefix + ".meta", meta));
  }
  const Status listed = impl_->kept.Add(prefix, directory, options.latest_filename,
                                        options.keep_later_step ? options.global_step : std::nullopt);
  if (!listed.ok() && impl_->series) impl_->series->Forget();
  TF_RETURN_IF_ERROR(listed);
  if (impl_->series) TF_RETURN_IF_ERROR(impl_->series->SavedFull(prefix));
  impl_->kept.RemoveOld();
  if (impl_->series) RemoveOrphans(prefix);
  impl_->RemoveLeftoversOf(base, prefix, options.latest_filename);
  return prefix;
}

// This keeps recent files, because the save that has written them may still be running. A later save removes them.
void Saver::Impl::RemoveLeftoversOf(const std::string& base, const std::string& newest,
                                    const std::string& latest_filename) const {
  const auto removed = RemoveLeftovers(base, newest, latest_filename);
  if (!removed.ok()) {
    TB_LOG(Warning, "train") << "cannot remove the files of a save that was killed: " << ToString(removed.status());
  } else if (*removed > 0) {
    TB_LOG(Info, "train") << "removed " << *removed << " files of saves to " << base << " that were killed";
  }
}

StatusOr<std::string> Saver::SaveIncrement(Session& session, const std::string& path, const SaveOptions& options) {
  if (!impl_->series) {
    return FailedPrecondition(impl_->self, " saves no increments: make it with SaverOptions::incremental (in Python, ",
                              "incremental_save_restore=True)");
  }
  TF_RETURN_IF_ERROR(impl_->CheckGraph());
  TF_RETURN_IF_ERROR(CheckBundlePrefix(path));
  TF_ASSIGN_OR_RETURN(const std::string base, AbsolutePath(path));
  const std::string why = impl_->series->WhyFull(base);
  if (!why.empty()) {
    TB_LOG(Info, "train") << "saving a full checkpoint in place of an increment: " << why;
    return Save(session, path, options);
  }
  const std::string prefix = impl_->series->NextPrefix(base, options.global_step);
  const Status written = impl_->WriteIncrement(session, base, prefix, options);
  if (absl::IsFailedPrecondition(written)) {
    TB_LOG(Warning, "train") << "saving a full checkpoint in place of an increment: " << ToString(written);
    return Save(session, path, options);
  }
  TF_RETURN_IF_ERROR(written);
  return prefix;
}

Status Saver::Impl::WriteIncrement(Session& session, const std::string& path, const std::string& prefix,
                                   const SaveOptions& options) {
  TF_RETURN_IF_ERROR(MakeDirectories(DirectoryOf(prefix)));
  TF_RETURN_IF_ERROR(Write(session, series->saved, prefix, series->IncrementFeeds()));
  TF_RETURN_IF_ERROR(series->SavedIncrement(prefix, options.keep_later_step ? options.global_step : std::nullopt));
  RemoveLeftoversOf(IncrementPath(path), prefix, "checkpoint");
  return OkStatus();
}

// A restore of the full checkpoint alone loses what was saved since then, so the log says how to avoid it.
void Saver::Impl::WarnOfIncrements(const std::string& full) const {
  if (ListIncrements(full).empty()) return;
  const auto chain = FindChain(full);
  if (!chain.ok() || chain->increments.empty()) return;
  TB_LOG(Warning, "train") << "the increments that follow '" << full << "', up to '" << chain->newest()
                           << "', are not restored: " << self << " needs SaverOptions::incremental (in Python, "
                           << "incremental_save_restore=True) for that";
}

Status Saver::Restore(Session& session, const std::string& path) {
  TF_RETURN_IF_ERROR(impl_->CheckGraph());
  TF_ASSIGN_OR_RETURN(const std::string prefix, AbsolutePath(path));
  if (!impl_->series && !impl_->followed) {
    if (!IsIncrement(prefix)) {
      impl_->WarnOfIncrements(prefix);
      return impl_->RestoreChain(session, {.full = prefix});
    }
    return InvalidArgument("'", path, "' is an increment, and holds only what has changed: ", impl_->self,
                           " needs SaverOptions::incremental (in Python, incremental_save_restore=True)");
  }
  TF_ASSIGN_OR_RETURN(IncrementChain chain, FindChain(prefix));
  Status restored = impl_->RestoreChain(session, chain);
  if (absl::IsDataLoss(restored) && !chain.increments.empty()) {
    const size_t readable = CountReadable(chain);
    if (readable == chain.increments.size()) return restored;  // the full checkpoint is damaged
    chain.increments.resize(readable);
    restored = impl_->RestoreChain(session, chain);
  }
  return restored;
}

StatusOr<std::vector<Feed>> Saver::Impl::ChosenFeeds() const {
  std::vector<Feed> feeds;
  std::map<std::string, IncrementChain> chains;  // the parts of a table follow the same one
  for (const ChosenCheckpoint& chosen : restore_inputs.chosen) {
    if (!chains.contains(chosen.path)) {
      TF_ASSIGN_OR_RETURN(const std::string path, AbsolutePath(chosen.path));
      TF_ASSIGN_OR_RETURN(chains[chosen.path], FindChain(path));
    }
    const IncrementChain& chain = chains[chosen.path];
    feeds.emplace_back(chosen.full, Tensor::Scalar(chain.full));
    feeds.emplace_back(chosen.increments, Tensor::Vector(chain.increments));
  }
  return feeds;
}

Status Saver::Impl::RestoreChain(Session& session, const IncrementChain& chain) {
  const std::string& newest = chain.newest();
  const std::map<std::string, std::string> renamed = RenamedIn(newest);
  TF_RETURN_IF_ERROR(CheckContents(chain, renamed));
  TF_ASSIGN_OR_RETURN(std::vector<Feed> chosen, ChosenFeeds());
  TB_LOG(Info, "train") << "Restoring parameters from " << chain.full;
  if (!chain.increments.empty()) {
    TB_LOG(Info, "train") << "restoring " << chain.increments.size() << " increments that follow it, up to " << newest;
  }
  std::vector<Feed> feeds;
  if (series) feeds = series->RestoreFeeds(chain);
  if (followed) feeds.emplace_back(followed->increments, Tensor::Vector(chain.increments));
  for (Feed& feed : chosen) feeds.push_back(std::move(feed));
  feeds.emplace_back(filename, Tensor::Scalar(chain.full));
  for (const RestoredNames& restored : restore_inputs.names) {
    std::vector<std::string> names = restored.names;
    for (std::string& name : names) {
      if (const auto other = renamed.find(name); other != renamed.end()) name = other->second;
    }
    if (names != restored.names) feeds.push_back({restored.tensor, Tensor::Vector(names)});
  }
  TF_RETURN_IF_ERROR(session.Run({restore}, feeds).status());
  if (restore_states.valid() && states->AreIn(newest)) {
    TF_RETURN_IF_ERROR(session.Run({restore_states}, {{filename, Tensor::Scalar(newest)}}).status());
    restored_random_state = true;
  }
  return series ? series->Restored(chain) : OkStatus();
}

bool Saver::incremental() const { return impl_->series.has_value(); }
std::string Saver::last_saved() const { return impl_->series ? impl_->series->chain().newest() : ""; }

bool Saver::restored_random_state() const { return impl_->restored_random_state; }
void Saver::ForgetRestored() { impl_->restored_random_state = false; }

std::vector<std::string> Saver::last_checkpoints() const { return impl_->kept.paths(); }

void Saver::RecoverLastCheckpoints(const std::vector<std::string>& paths) {
  std::vector<std::string> absolute;
  for (const std::string& path : paths) absolute.push_back(AbsolutePath(path).value_or(path));
  impl_->kept.Recover(absolute);
}

void Saver::SetCollections(std::map<std::string, std::vector<std::string>> collections) {
  if (collections == impl_->collections.names) return;
  impl_->collections.names = std::move(collections);
  impl_->meta_graph_nodes = 0;  // the meta graph is made anew
}

void Saver::SetQueueRunners(std::map<std::string, std::vector<QueueRunner>> runners) {
  impl_->collections.runners = std::move(runners);
  impl_->meta_graph_nodes = 0;
}

void Saver::SetCollectionDefs(std::map<std::string, std::string> collections) {
  if (collections == impl_->collections.defs) return;
  impl_->collections.defs = std::move(collections);
  impl_->meta_graph_nodes = 0;
}

Output Saver::filename() const { return impl_->filename; }
Output Saver::save() const { return impl_->save; }
Operation Saver::restore() const { return impl_->restore; }
StatusOr<std::string> Saver::ToMetaGraphDef() const {
  TF_RETURN_IF_ERROR(impl_->CheckGraph());
  return impl_->MetaGraph();
}

}  // namespace tensorbraid
