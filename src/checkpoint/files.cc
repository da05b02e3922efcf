#include "checkpoint/files.h"

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr size_t kBufferSize = 1 << 18;

}  // namespace

StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(const std::string& path) {
  while (true) {
    std::string temporary = StrCat(path, kTemporarySuffix, RandomSeed());
    auto file = Env::Default().OpenWritable(temporary, Env::WriteMode::kCreate);
    if (file.ok()) return std::unique_ptr<AtomicFile>(new AtomicFile(path, std::move(temporary), *std::move(file)));
    if (!absl::IsAlreadyExists(file.status())) return file.status();
  }
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) RemoveFile(temporary_).IgnoreError();
}

Status AtomicFile::RemoveTemporaryFiles(const std::string& path) {
  const std::string directory = DirectoryOf(path);
  const auto name_of = [](const std::string& file) { return file.substr(file.rfind('/') + 1); };  // npos + 1 is 0
  const std::string prefix = StrCat(name_of(path), kTemporarySuffix);
  TF_ASSIGN_OR_RETURN(const auto files, MatchingPaths(JoinPath(directory, "*")));
  for (const std::string& file : files) {
    const std::string name = name_of(file);
    if (name.starts_with(prefix)) TF_RETURN_IF_ERROR(RemoveFile(JoinPath(directory, name)));
  }
  return OkStatus();
}

Status AtomicFile::Append(std::string_view bytes) {
  synced_ = false;
  if (buffer_.size() + bytes.size() < kBufferSize) {
    buffer_.append(bytes);
    return OkStatus();
  }
  TF_RETURN_IF_ERROR(Flush());
  return file_->Append(bytes);
}

Status AtomicFile::Flush() {
  if (buffer_.empty()) return OkStatus();
  const Status status = file_->Append(buffer_);
  buffer_.clear();
  return status;
}

Status AtomicFile::Sync() {
  TF_RETURN_IF_ERROR(Flush());
  TF_RETURN_IF_ERROR(file_->Sync());
  synced_ = true;
  return OkStatus();
}

Status AtomicFile::CommitAs(const std::string& path) {
  if (!synced_) TF_RETURN_IF_ERROR(Sync());
  TF_RETURN_IF_ERROR(RenameFile(temporary_, path));
  file_ = nullptr;
  return SyncDirectory(DirectoryOf(path));
}

StatusOr<std::string> ReadWholeFile(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  std::string bytes(file->size(), '\0');
  TF_RETURN_IF_ERROR(file->Read(0, bytes.size(), bytes.data()));
  return bytes;
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  TF_ASSIGN_OR_RETURN(const auto file, AtomicFile::Create(path));
  TF_RETURN_IF_ERROR(file->Append(bytes));
  return file->Commit();
}

Status RenameFile(const std::string& from, const std::string& to) { return Env::Default().RenameFile(from, to); }

Status RemoveFile(const std::string& path) {
  const Status removed = Env::Default().RemoveFile(path);
  return absl::IsNotFound(removed) ? OkStatus() : removed;
}

Status RemoveDirectory(const std::string& path) {
  const Status removed = Env::Default().RemoveDirectory(path);
  return absl::IsNotFound(removed) ? OkStatus() : removed;
}

Status SyncDirectory(const std::string& path) { return Env::Default().SyncDirectory(path.empty() ? "." : path); }

}  // namespace tensorbraid
