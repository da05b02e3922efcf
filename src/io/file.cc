#include "io/file.h"

#include "core/system/env.h"
#include "core/system/file_access.h"
#include "core/text/strings.h"
#include "io/input_stream.h"

namespace tensorbraid {

StatusOr<std::string> ReadFile(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const auto stream, InputStream::Open(path));
  std::string bytes;
  TF_RETURN_IF_ERROR(stream->ReadAll(&bytes));
  return bytes;
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  TF_RETURN_IF_ERROR(MakeDirectories(DirectoryOf(LocalPath(path))));
  TF_ASSIGN_OR_RETURN(const auto file, Env::Default().OpenWritable(path, Env::WriteMode::kReplace));
  TF_RETURN_IF_ERROR(file->Append(bytes));
  return file->Close();
}

StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern) {
  return Env::Default().MatchingPaths(pattern);
}

Status MakeDirectories(const std::string& path) {
  const std::string directory = LocalPath(path);
  if (directory.empty()) return OkStatus();
  if (const auto info = Env::Default().Stat(directory); info.ok()) {
    if (info->is_directory) return OkStatus();
    return FailedPrecondition("cannot make the directory ", directory, ": it is a file");
  } else if (CurrentFileAccess() != nullptr && absl::IsPermissionDenied(info.status())) {
    return info.status();  // the directories above it cannot be accessed either
  }
  TF_RETURN_IF_ERROR(MakeDirectories(DirectoryOf(directory)));
  return MakeDirectory(directory);
}

Status MakeDirectory(const std::string& path) {
  if (path.empty()) return OkStatus();
  const Status made = Env::Default().MakeDirectory(path);
  if (!made.ok()) return absl::IsAlreadyExists(made) ? OkStatus() : made;  // Another process may have made it.
  const std::string parent = DirectoryOf(LocalPath(path));
  const Status synced = Env::Default().SyncDirectory(parent.empty() ? "." : parent);
  // A process may be allowed to create directories in a directory that it must not open.
  return absl::IsPermissionDenied(synced) ? OkStatus() : synced;
}

bool FileExists(const std::string& path) { return Env::Default().Stat(path).ok(); }

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string JoinPath(const std::string& directory, const std::string& name) {
  if (directory.empty() || name.starts_with('/')) return name;
  return directory.ends_with('/') ? directory + name : StrCat(directory, "/", name);
}

}  // namespace tensorbraid
