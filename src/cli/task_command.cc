#include <cstdio>
#include <map>
#include <memory>

#include "CLI/CLI.hpp"
#include "cli/client_options.h"
#include "cli/commands.h"
#include "cluster/discovery/discover.h"
#include "core/text/json.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using Json = nlohmann::ordered_json;

struct TaskCommandFlags {
  bool explain = false;
  bool json = false;
  TaskArguments access;  // certificates and token for a registry
};

constexpr size_t kMostValueBytes = 200;

std::string Shortened(const std::string& value) {
  return value.size() <= kMostValueBytes ? value : value.substr(0, kMostValueBytes) + "...";
}

Json TaskAsJson(const FoundTask& task) {
  return {{"job", task.job},
          {"index", task.index},
          {"address", *task.cluster.task_address(task.job, task.index)},
          {"source", task.source},
          {"cluster", ParseOrderedJson(task.cluster.ToString())}};
}

Json DiscoveryAsJson(const Discovery& discovery) {
  Json sources = Json::array();
  for (const SourceReport& source : discovery.sources) {
    Json read = Json::object();
    for (const auto& [name, value] : source.read) read[name] = value.has_value() ? Json(*value) : Json();
    sources.push_back({{"name", source.name},
                       {"asked", source.asked},
                       {"responsible", source.responsible},
                       {"why", source.why},
                       {"read", std::move(read)}});
  }
  Json all = {{"sources", std::move(sources)}, {"task", nullptr}, {"error", nullptr}};
  if (!discovery.task.ok()) {
    all["error"] = std::string(discovery.task.status().message());
  } else if (discovery.task->has_value()) {
    all["task"] = TaskAsJson(**discovery.task);
  }
  return all;
}

std::string Explanation(const Discovery& discovery) {
  std::string text;
  for (const SourceReport& source : discovery.sources) {
    const char* const verdict = !source.asked ? "not asked" : source.responsible ? "responsible" : "not responsible";
    text += StrCat(source.title, ": ", verdict, ": ", source.why, "\n");
    for (const auto& [name, value] : source.read) {
      text += StrCat("    ", name, value.has_value() ? "=" + Shortened(*value) : " is not set", "\n");
    }
  }
  return text;
}

// One line for each fact, so that scripts can read them.
std::string TaskAsText(const FoundTask& task) {
  std::string text =
      StrCat("job=", task.job, "\nindex=", task.index, "\naddress=", *task.cluster.task_address(task.job, task.index),
             "\nsource=", task.source, "\n");
  for (const std::string& job : task.cluster.jobs()) {
    std::vector<std::string> addresses;
    for (const int index : task.cluster.task_indices(job)) {
      addresses.push_back(*task.cluster.task_address(job, index));
    }
    text += StrCat(job, "_hosts=", StrJoin(addresses, ","), "\n");
  }
  return text;
}

// Exits with 0 if there is a task, with 1 if this process belongs to no cluster, and with 2 if what it read is wrong.
int ShowTask(TaskCommandFlags flags) {
  const Surroundings around = Surroundings::OfProcess();
  ReadAccess(around, &flags.access.tls, &flags.access.token_file);
  const Discovery discovery = Discover(flags.access, around);
  const bool found = discovery.task.ok() && discovery.task->has_value();
  std::string text;
  if (flags.json) {
    text = JsonText(flags.explain ? DiscoveryAsJson(discovery) : found ? TaskAsJson(**discovery.task) : Json()) + "\n";
  } else {
    if (flags.explain) text = Explanation(discovery) + (found ? "\n" : "");
    if (found) text += TaskAsText(**discovery.task);
  }
  // In one piece, since the output of many tasks may be merged.
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!discovery.task.ok()) {
    std::fprintf(stderr, "tensorbraid: %s\n", std::string(discovery.task.status().message()).c_str());
    return 2;
  }
  if (!found) {
    std::fprintf(stderr, "tensorbraid: this process belongs to no cluster%s\n",
                 flags.explain ? "" : "; --explain says what was looked at");
  }
  return found ? 0 : 1;
}

}  // namespace

void AddTaskCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<TaskCommandFlags>();
  CLI::App* task = app.add_subcommand("task", "Print which task of which cluster a process that is started here is");
  task->add_flag("--explain", flags->explain, "print each source, what it read, and why it is responsible or not");
  task->add_flag("--json", flags->json, "print JSON, in one line");
  AddClientOptions(task, &flags->access.tls, &flags->access.token_file);
  task->footer(
      "\nPrograms that call Flags::DefineTask, or tf.train.find_task() in Python, find their task in the same way\n"
      "(docs/discovery.md). Under MPI and Slurm, all tasks must run this command together, since they tell each other\n"
      "where they listen.\n\n"
      "Exits with 0 if there is a task, with 1 if there is none, with 2 if a variable is wrong.\n\n"
      "Examples:\n"
      "  tensorbraid task --explain\n"
      "  srun --ntasks=4 tensorbraid task --explain --json | jq .task\n"
      "  mpirun -n 4 tensorbraid task");
  task->callback([flags, invocation] { invocation->run = [flags] { return ShowTask(*flags); }; });
}

}  // namespace tensorbraid
