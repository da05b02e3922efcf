#include "tensorbraid/checkpoint/checkpoint.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/checkpoint_state.pb.h"
#include "checkpoint/files.h"
#include "checkpoint/state_file.h"
#include "checkpoint/v1_checkpoint.h"
#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Drops protobuf's messages, which would go to standard error. The status reports the error.
class DropErrors final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
  void AddWarning(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
};

std::string Absolute(const std::string& directory, const std::string& path) { return JoinPath(directory, path); }

std::string Relative(const std::string& directory, const std::string& path) {
  const std::string inside = JoinPath(directory, "");
  return !directory.empty() && path.starts_with(inside) ? path.substr(inside.size()) : path;
}

// The file "checkpoint" stores times as seconds since 1970.
CheckpointState::Timestamp FromSeconds(double seconds) {
  return CheckpointState::Timestamp(std::chrono::duration<double>(seconds));
}
double ToSeconds(CheckpointState::Timestamp time) { return time.time_since_epoch().count(); }

// The largest number of attempts to replace the file "checkpoint". An attempt fails if another saver has succeeded, so
// many failures in a row mean that something else is wrong.
constexpr int kMostTries = 20;

// The content of the file "checkpoint".
StatusOr<std::string> StateText(const std::string& directory, const CheckpointState& state) {
  proto::CheckpointState proto;
  proto.set_model_checkpoint_path(Relative(directory, state.model_checkpoint_path));
  for (const std::string& path : state.all_model_checkpoint_paths) {
    proto.add_all_model_checkpoint_paths(Relative(directory, path));
  }
  for (const auto t : state.all_model_checkpoint_timestamps) proto.add_all_model_checkpoint_timestamps(ToSeconds(t));
  proto.set_last_preserved_timestamp(ToSeconds(state.last_preserved_timestamp));
  std::string text;
  if (!google::protobuf::TextFormat::PrintToString(proto, &text)) return Internal("cannot print the checkpoint state");
  return text;
}

}  // namespace

bool CheckpointExists(const std::string& prefix) {
  return FileExists(BundleIndexName(prefix)) || V1CheckpointExists(prefix);
}

Status RemoveCheckpoint(const std::string& prefix) {
  if (!FileExists(BundleIndexName(prefix)) && V1CheckpointExists(prefix)) {
    TF_ASSIGN_OR_RETURN(const auto files, MatchingPaths(prefix));
    for (const std::string& file : files) TF_RETURN_IF_ERROR(RemoveFile(file));
    return FileExists(prefix + ".meta") ? RemoveFile(prefix + ".meta") : OkStatus();
  }
  int shards = 0;
  if (auto bundle = BundleReader::Open(prefix); bundle.ok()) shards = (*bundle)->num_shards();
  // The index goes first: without it, the files are no checkpoint any more.
  Status first = RemoveFile(BundleIndexName(prefix));
  for (int i = 0; i < shards; ++i) {
    const std::string file = BundleDataName(prefix, i, shards);
    if (!FileExists(file)) break;
    if (const Status s = RemoveFile(file); first.ok()) first = s;
  }
  if (const Status s = RemoveFile(prefix + ".meta"); first.ok()) first = s;
  return first;
}

StatusOr<CheckpointState> GetCheckpointState(const std::string& directory, const std::string& latest_filename) {
  const std::string path = JoinPath(directory, latest_filename);
  TF_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  proto::CheckpointState proto;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  DropErrors errors;
  parser.RecordErrorsTo(&errors);
  if (!parser.ParseFromString(text, &proto)) return DataLoss(path, " is not a list of checkpoints");
  CheckpointState state;
  if (!proto.model_checkpoint_path().empty()) {
    state.model_checkpoint_path = Absolute(directory, proto.model_checkpoint_path());
  }
  for (const auto& p : proto.all_model_checkpoint_paths()) {
    state.all_model_checkpoint_paths.push_back(Absolute(directory, p));
  }
  const auto& times = proto.all_model_checkpoint_timestamps();
  if (times.size() == proto.all_model_checkpoint_paths_size()) {
    for (const double t : times) state.all_model_checkpoint_timestamps.push_back(FromSeconds(t));
  }
  state.last_preserved_timestamp = FromSeconds(proto.last_preserved_timestamp());
  return state;
}

Status UpdateCheckpointState(const std::string& directory, const CheckpointState& state,
                             const std::string& latest_filename) {
  const std::string path = JoinPath(directory, latest_filename);
  TF_ASSIGN_OR_RETURN(const std::string text, StateText(directory, state));
  // NotFound: the directory is missing, or ReplaceCheckpointState in another process has removed the temporary file.
  Status written = WriteFileAtomically(path, text);
  for (int i = 1; i < kMostTries && absl::IsNotFound(written); ++i) written = WriteFileAtomically(path, text);
  return written;
}

Status ReplaceCheckpointState(const std::string& directory, const CheckpointState& state,
                              const std::string& latest_filename, const std::function<Status()>& is_allowed) {
  const std::string path = JoinPath(directory, latest_filename);
  TF_ASSIGN_OR_RETURN(const std::string text, StateText(directory, state));
  for (int i = 0; i < kMostTries; ++i) {
    TF_ASSIGN_OR_RETURN(const auto file, AtomicFile::Create(path));
    TF_RETURN_IF_ERROR(file->Append(text));
    TF_RETURN_IF_ERROR(file->Sync());
    TF_RETURN_IF_ERROR(is_allowed());
    const Status renamed = file->Commit();
    if (!file->renamed() && absl::IsNotFound(renamed)) continue;  // another process has removed it
    TF_RETURN_IF_ERROR(renamed);
    TF_RETURN_IF_ERROR(AtomicFile::RemoveTemporaryFiles(path));
    const auto now = ReadWholeFile(path);
    if (now.ok() && *now == text) return OkStatus();
    if (!now.ok() && !absl::IsNotFound(now.status())) return now.status();
  }
  return Aborted("other processes replace ", path, " all the time");
}

StatusOr<std::string> LatestCheckpoint(const std::string& directory, const std::string& latest_filename) {
  TF_ASSIGN_OR_RETURN(const CheckpointState state, GetCheckpointState(directory, latest_filename));
  if (state.model_checkpoint_path.empty()) return NotFound("no checkpoint in '", directory, "'");
  if (!CheckpointExists(state.model_checkpoint_path)) {
    return NotFound("the checkpoint ", state.model_checkpoint_path, ", which is named in '", directory, "/",
                    latest_filename, "', does not exist");
  }
  return state.model_checkpoint_path;
}

struct CheckpointReader::Impl {
  // One of them is set.
  std::unique_ptr<BundleReader> bundle;
  std::unique_ptr<V1Reader> v1;
};

CheckpointReader::CheckpointReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CheckpointReader::~CheckpointReader() = default;

StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::Open(const std::string& prefix) {
  auto impl = std::make_unique<Impl>();
  if (!FileExists(BundleIndexName(prefix)) && V1CheckpointExists(prefix)) {
    TF_ASSIGN_OR_RETURN(impl->v1, V1Reader::Open(prefix));
    std::unique_ptr<CheckpointReader> reader(new CheckpointReader(std::move(impl)));
    for (const std::string& name : reader->impl_->v1->Names()) {
      TF_ASSIGN_OR_RETURN(auto info, reader->impl_->v1->Find(name));
      reader->tensors_.push_back({.name = name, .dtype = info.dtype, .shape = std::move(info.shape)});
    }
    return reader;
  }
  TF_ASSIGN_OR_RETURN(impl->bundle, BundleReader::Open(prefix));
  TF_ASSIGN_OR_RETURN(auto tensors, impl->bundle->List());
  std::unique_ptr<CheckpointReader> reader(new CheckpointReader(std::move(impl)));
  for (auto& t : tensors) {
    reader->tensors_.push_back({.name = std::move(t.name), .dtype = t.dtype, .shape = std::move(t.shape)});
  }
  return reader;
}

bool CheckpointReader::HasTensor(const std::string& name) const {
  return std::any_of(tensors_.begin(), tensors_.end(), [&](const TensorInfo& t) { return t.name == name; });
}

StatusOr<Tensor> CheckpointReader::GetTensor(const std::string& name) {
  if (impl_->v1 == nullptr) return impl_->bundle->Read(name);
  TF_ASSIGN_OR_RETURN(const auto info, impl_->v1->Find(name));
  return impl_->v1->ReadSlice(name, TensorSlice(info.shape.rank()));
}

}  // namespace tensorbraid
