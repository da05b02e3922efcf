#include "pjrt/program_dump.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

Status WriteProgram(const std::string& directory, const std::string& name, const std::string& text) {
  static std::atomic<int> written{0};
  TF_RETURN_IF_ERROR(MakeDirectories(directory));
  const std::string path =
      JoinPath(directory, StrCat("program_", static_cast<int64_t>(getpid()), "_", written++, ".mlir"));
  TF_RETURN_IF_ERROR(WriteFile(path, StrCat("// ", name, "\n", text)));
  TB_LOG(Debug, "accelerators") << name << " is in " << path;
  return OkStatus();
}

}  // namespace

void DumpProgram(const std::string& name, const std::string& text) {
  const char* const directory = std::getenv(kDumpProgramsVariable);
  if (directory == nullptr || *directory == '\0') return;
  const Status status = WriteProgram(directory, name, text);
  if (!status.ok()) {
    TB_LOG(Warning, "accelerators") << kDumpProgramsVariable << ": " << name << " is not written: " << status;
  }
}

}  // namespace tensorbraid
