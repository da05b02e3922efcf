// Command-line flags for programs, in the manner of tf.app.flags.
#ifndef TENSORBRAID_FLAGS_H_
#define TENSORBRAID_FLAGS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tensorbraid/cluster_spec.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// Which task of which cluster this process is: --ps_hosts, --worker_hosts, --job_name, --task_index, --issync; or,
// when none of the first four is given, the environment variable TF_CONFIG. Checked by Parse, plain values after it.
struct TaskFlags {
  // Addresses of the parameter servers and of the tasks that train. Of a TF_CONFIG with a job "chief" (or "master",
  // its older name), that task comes first in worker_hosts, so worker_hosts.size() is the number of replicas.
  std::vector<std::string> ps_hosts;
  std::vector<std::string> worker_hosts;
  // Names a task of cluster().
  std::string job_name;
  int task_index = 0;
  // Whether the replicas apply their gradients together. The program decides what it does with it.
  bool issync = false;

  const ClusterSpec& cluster() const { return cluster_; }
  // "/job:worker/task:1".
  std::string device() const;
  // The task that initialises variables: chief/0 or master/0 where such a job exists, else worker/0.
  bool is_chief() const;

 private:
  friend class TaskFlagsParser;
  ClusterSpec cluster_;
};

// Defines flags, then fills them from a command line: --name=value, --name value, --flag and --noflag for booleans,
// with one dash or two; the last one of a name wins. Types: bool, int, int64_t, float, double, std::string,
// std::vector<std::string> (separated by commas). Not thread-safe.
//
//   tf::Flags flags("Trains a model.");
//   auto& steps = flags.Define("train_steps", 2000, "stop at this global step");
//   flags.ParseOrExit(argc, argv);
class Flags {
 public:
  // `doc` says what the program does; --help begins with it.
  explicit Flags(std::string doc);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // The reference stays valid as long as this object and holds the default until Parse.
  // REQUIRES: a name of letters, digits, '_' and '-', not defined before (checked).
  template <typename T>
  T& Define(const std::string& name, T default_value, const std::string& help);
  std::string& Define(const std::string& name, const char* default_value, const std::string& help) {
    return Define<std::string>(name, default_value, help);
  }

  // The flags of a task in a cluster; Parse checks them. REQUIRES: at most one call (checked).
  TaskFlags& DefineTask();

  // InvalidArgument, naming the flag, for an unknown one (with the nearest known), a value that does not fit, anything
  // that is no flag, and a task that does not fit its cluster. After --help: OK, help_requested(), nothing checked.
  // Call once.
  Status Parse(int argc, const char* const* argv);
  // As Parse; prints the help and ends the program with 0 after --help, prints the error and ends it with 2 otherwise.
  void ParseOrExit(int argc, const char* const* argv);

  bool help_requested() const;
  // What --help prints.
  std::string Help() const;
  // Whether the command line gave this flag a value.
  bool WasGiven(const std::string& name) const;

 private:
  friend class TaskFlagsParser;
  struct Impl;

  // Adds a flag that writes to `target`, listed under `group`.
  template <typename T>
  void Bind(const std::string& name, T* target, const std::string& help, const std::string& group);
  // Keeps `object` as long as this.
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

#endif  // TENSORBRAID_FLAGS_H_
