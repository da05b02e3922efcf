#include "launch/processes/cannot_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The interpreter in the first line of a script: "/bin/sh" of "#!/bin/sh -e". "" if the file is no script.
std::string InterpreterOf(const std::string& path) {
  constexpr size_t kMostBytes = 256;  // the kernel reads no more
  std::ifstream file(path, std::ios::binary);
  std::string line(kMostBytes, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  if (!line.starts_with("#!")) return "";
  line = line.substr(2, line.find('\n') - 2);
  const size_t begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : line.substr(begin, line.find_first_of(" \t", begin) - begin);
}

// What is wrong with a file that exists and was not found by exec.
std::string MissingInterpreter(const std::string& path) {
  std::string interpreter = InterpreterOf(path);
  if (interpreter.empty()) return "it was built for another system, whose loader of shared libraries this one lacks";
  if (interpreter.ends_with('\r')) {
    return "its first line ends with a carriage return, as on Windows; 'sed -i \"s/\\r$//\" FILE' removes them";
  }
  return StrCat("the interpreter '", interpreter, "', which its first line names, does not exist");
}

std::string Reason(const std::string& program, int error) {
  if (program.empty()) return "the name of the program is empty";
  struct stat info {};
  const bool exists = ::stat(program.c_str(), &info) == 0;
  if (program.find('/') == std::string::npos) {
    if (error != ENOENT) return "";
    if (!exists) return "there is no such program in PATH";
    return StrCat("there is no such program in PATH; './", program, "' is the one in this directory");
  }
  if (exists && error == ENOENT) return MissingInterpreter(program);
  if (exists && error == EACCES) {
    if (S_ISDIR(info.st_mode)) return "it is a directory";
    if (::access(program.c_str(), X_OK) != 0) {
      return StrCat("it is not executable; 'chmod +x ", program,
                    "' makes it so, or call its interpreter, as in 'python ", program, "'");
    }
  }
  return "";
}

}  // namespace

Status CannotRun(const std::string& program, int error) {
  const std::string what = StrCat("cannot run '", program, "'");
  const std::string reason = Reason(program, error);
  const Status status = absl::ErrnoToStatus(error, what);
  return reason.empty() ? status : Status(status.code(), StrCat(what, ": ", reason));
}

}  // namespace tensorbraid
