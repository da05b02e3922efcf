// Command-line flags for programs, in the manner of tf.app.flags.
#ifndef TENSORBRAID_CORE_FLAGS_H_
#define TENSORBRAID_CORE_FLAGS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct TaskFlags;  // cluster/task_flags.h

// Defines flags, then sets them from a command line. Accepted forms are --name=value, --name value, and --flag and
// --noflag for booleans, with one dash or two. If a flag occurs several times, the last occurrence counts. The type of
// a flag is bool, int, int64_t, float, double, std::string, std::vector<std::string> (separated by commas). Not
// thread-safe.
//
//   tf::Flags flags("Trains a model.");
//   auto& steps = flags.Define("train_steps", 2000, "stop at this global step");
//   flags.ParseOrExit(argc, argv);
class Flags {
 public:
  // `doc` describes the program; --help prints it first.
  explicit Flags(std::string doc);
  // Logs an error if flags were defined but never parsed.
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // Returns a reference that is valid as long as this object. The reference holds the default until Parse, so copy the
  // value (`const int n = steps;`) only after Parse. REQUIRES: `name` consists of letters, digits, '_' and '-', and is
  // not defined yet (checked).
  template <typename T>
  T& Define(const std::string& name, T default_value, const std::string& help);
  std::string& Define(const std::string& name, const char* default_value, const std::string& help) {
    return Define<std::string>(name, default_value, help);
  }
  int64_t& Define(const std::string& name, long long default_value, const std::string& help) {
    return Define<int64_t>(name, default_value, help);
  }

  // Makes Parse refuse values below `least` for the flag `name`. REQUIRES: the value of this flag is a number
  // (checked).
  void AtLeast(const std::string& name, double least);

  // Defines the flags of a task in a cluster; Parse checks them. Unless `required`, a program that is given no cluster
  // runs by itself. REQUIRES: at most one call (checked).
  TaskFlags& DefineTask(bool required = true);

  // Returns InvalidArgument, naming the flag, for an unknown flag (with the nearest known one), a value of the wrong
  // type or below its least value, an argument that is not a flag, or a task that does not fit its cluster. With --help
  // it returns OK without checking anything, and help_requested() is true. Call once.
  Status Parse(int argc, const char* const* argv);
  // Like Parse, but prints the help and exits with 0 on --help, and prints the error and exits with 2 on an error.
  void ParseOrExit(int argc, const char* const* argv);

  bool help_requested() const;
  // The text that --help prints.
  std::string Help() const;
  // Whether the command line gave this flag a value. Logs an error before Parse.
  bool WasGiven(const std::string& name) const;

 private:
  friend class TaskFlagsParser;
  struct Impl;

  // Adds a flag that writes to `target`, listed under `group`.
  template <typename T>
  void Bind(const std::string& name, T* target, const std::string& help, const std::string& group);
  // Keeps `object` alive as long as this object lives.
  void Keep(std::shared_ptr<void> object);
  // Runs `check` at the end of Parse.
  void AddCheck(std::function<Status()> check);

  std::unique_ptr<Impl> impl_;
};

template <typename T>
T& Flags::Define(const std::string& name, T default_value, const std::string& help) {
  static_assert(std::is_same_v<T, bool> || std::is_same_v<T, int> || std::is_same_v<T, int64_t> ||
                    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::string> ||
                    std::is_same_v<T, std::vector<std::string>>,
                "a flag is a bool, int, int64_t, float, double, std::string or std::vector<std::string>");
  auto value = std::make_shared<T>(std::move(default_value));
  Keep(value);
  Bind(name, value.get(), help, "Flags");
  return *value;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_FLAGS_H_
