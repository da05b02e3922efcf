#include "launch/launcher/task_call.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "absl/strings/ascii.h"
#include "cluster/spec/tf_config.h"
#include "core/text/strings.h"
#include "launch/bring/python_environment.h"
#include "launch/launcher/job_names.h"

namespace tensorbraid {

StatusOr<std::pair<std::string, std::string>> ParseEnvironment(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool is_name = std::all_of(
      name.begin(), name.end(), [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  if (name.empty() || !is_name || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) {
    return InvalidArgument("'", name, "' is no name of a variable; expected NAME=VALUE or NAME");
  }
  static constexpr std::array<std::string_view, 9> kOurs = {"TF_CONFIG",
                                                            kGpusVariable,
                                                            "TENSORBRAID_INSECURE",
                                                            "TENSORBRAID_MOVES_FILE",
                                                            "TENSORBRAID_REPORT_FILE",
                                                            "TENSORBRAID_TLS_CA",
                                                            "TENSORBRAID_TLS_CERT",
                                                            "TENSORBRAID_TLS_KEY",
                                                            "TENSORBRAID_TOKEN_FILE"};
  if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) {
    return InvalidArgument("'", name, "' is set by the launcher itself");
  }
  if (equals != std::string::npos) return std::pair(name, text.substr(equals + 1));
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) return InvalidArgument("'", name, "' is not set here; give it a value: ", name, "=VALUE");
  return std::pair(name, std::string(value));
}

std::vector<std::pair<std::string, int>> TasksOf(const LaunchOptions& options) {
  std::vector<std::pair<std::string, int>> tasks;
  for (int i = 0; i < options.ps; ++i) tasks.emplace_back("ps", i);
  const int chiefs = options.style == TaskStyle::kTfConfig ? 1 : 0;
  for (int i = 0; i < chiefs; ++i) tasks.emplace_back("chief", i);
  for (int i = 0; i < options.workers - chiefs; ++i) tasks.emplace_back("worker", i);
  if (options.evaluator) tasks.emplace_back("evaluator", 0);
  return tasks;
}

bool KnowsAccessFlags(const LaunchOptions& options) {
  return options.style == TaskStyle::kFlags && !IsPython(options.command.front());
}

ProgramCall CallOf(const std::string& job, int index, Addresses addresses, const LaunchOptions& options) {
  ProgramCall call{.command = options.command};
  const bool knows_flags = options.style == TaskStyle::kFlags;
  std::string tf_config;  // empty unsets it: a TF_CONFIG of the launcher is for another cluster
  if (knows_flags) {
    call.command.push_back("--ps_hosts=" + StrJoin(addresses["ps"], ","));
    call.command.push_back("--worker_hosts=" + StrJoin(addresses["worker"], ","));
    call.command.push_back("--job_name=" + job);
    call.command.push_back(StrCat("--task_index=", index));
  } else if (options.style == TaskStyle::kTfConfig) {
    std::erase_if(addresses, [](const auto& tasks) { return !IsInCluster(tasks.first); });
    tf_config = ToTfConfigJson({ClusterSpec(addresses), job, index});
  }
  const bool is_first = std::pair(job, index) == TasksOf(options).front();
  if (options.metrics_port > 0 && is_first) call.command.push_back(StrCat("--metrics_port=", options.metrics_port));
  // TERM=dumb keeps programs from colouring or redrawing lines, as they would on a terminal.
  call.environment = options.environment;
  if (std::none_of(call.environment.begin(), call.environment.end(), [](const auto& e) { return e.first == "TERM"; })) {
    call.environment.emplace_back("TERM", "dumb");
  }
  call.environment.emplace_back("TF_CONFIG", tf_config);
  if (options.gpus_per_worker > 0) {
    call.environment.emplace_back(kGpusVariable, job == "ps" ? "0" : StrCat(options.gpus_per_worker));
  }
  if (options.insecure) {
    if (KnowsAccessFlags(options)) call.command.push_back("--insecure");
    call.environment.emplace_back("TENSORBRAID_INSECURE", "1");
  }
  if (!options.token_file.empty()) AddFile("token_file", options.token_file, KnowsAccessFlags(options), &call);
  return call;
}

}  // namespace tensorbraid
