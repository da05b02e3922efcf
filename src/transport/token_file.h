// A file with the tokens that a process sends or accepts.
//
// A token is a line of 16 to 1024 printable ASCII characters without spaces. Blank lines are ignored. A process sends
// the first token of its file and accepts every one, so that a token can be replaced without a pause.
#ifndef TENSORBRAID_TRANSPORT_TOKEN_FILE_H_
#define TENSORBRAID_TRANSPORT_TOKEN_FILE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/clock.h"
#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Reads the file again when it is used a second or more after the last reading. If it cannot be used then, the tokens
// that were read before stay valid and a warning is logged. Thread-safe.
class TokenFile {
 public:
  // `flag` names the file in errors and warnings ("--token_file"). InvalidArgument if the file contains no token, or a
  // line that is neither blank nor a token, or if other users can read it (CheckIsSecret); the system's error if the
  // file cannot be read.
  static StatusOr<std::unique_ptr<TokenFile>> Open(std::string flag, std::string path);

  // The token that this process sends.
  std::string token() TB_EXCLUDES(mu_);
  // All tokens that it accepts; the first is the one that it sends.
  std::vector<std::string> tokens() TB_EXCLUDES(mu_);
  // Whether `token` is one of the tokens of the file. The time that this takes does not depend on how many characters
  // are right.
  bool Accepts(std::string_view token) TB_EXCLUDES(mu_);

 private:
  TokenFile(std::string flag, std::string path, std::vector<std::string> tokens);
  void Refresh() TB_REQUIRES(mu_);

  const std::string flag_;
  const std::string path_;
  Mutex mu_;
  std::vector<std::string> tokens_ TB_GUARDED_BY(mu_);  // never empty
  MonotonicClock::time_point looked_ TB_GUARDED_BY(mu_);
  bool warned_ TB_GUARDED_BY(mu_) = false;
};

// Whether the two texts are equal. The time depends on their lengths only.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_TOKEN_FILE_H_
