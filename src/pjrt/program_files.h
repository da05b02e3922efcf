// Compiled programs that later processes use again.
#ifndef TENSORBRAID_PJRT_PROGRAM_FILES_H_
#define TENSORBRAID_PJRT_PROGRAM_FILES_H_

#include <memory>
#include <string>
#include <string_view>

#include "pjrt/client.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A directory of compiled programs, one file for each (the environment variable TENSORBRAID_COMPILE_CACHE). A program
// is found by its text and by the compiler: the plugin's file, the kind of device, the driver or processor, and
// XLA_FLAGS. Processes may share the directory. Nothing is ever removed from it. Thread-safe; functions block for as
// long as the file system does.
class ProgramFiles {
 public:
  // The environment variable that names the directory.
  static constexpr const char* kVariable = "TENSORBRAID_COMPILE_CACHE";

  // Makes the directory if it does not exist. The errors of MakePrivateDirectory: a program is code, so files that
  // other users could write are not loaded. `compiler` is what the programs depend on besides their texts.
  static StatusOr<std::unique_ptr<ProgramFiles>> Open(const std::string& directory, std::string compiler);

  // The compiled program that Write was given for this text. NotFound if there is none; DataLoss if the file is
  // damaged.
  StatusOr<std::string> Read(std::string_view text) const;
  Status Write(std::string_view text, std::string_view compiled) const;

 private:
  ProgramFiles(std::string directory, std::string compiler)
      : directory_(std::move(directory)), compiler_(std::move(compiler)) {}
  std::string PathOf(std::string_view key) const;

  const std::string directory_;
  const std::string compiler_;
};

// Sets the environment variable of ProgramFiles, for this process and those that it starts. No other thread may read
// the environment meanwhile. Programs that exist are not written.
void KeepPrograms(const std::string& directory);

// What programs of this client depend on besides their texts. Reads the plugin's file.
StatusOr<std::string> CompilerOf(const pjrt::Client& client);

}  // namespace tensorbraid

#endif  // TENSORBRAID_PJRT_PROGRAM_FILES_H_
