#include "planner/model/machine.h"

#include "core/text/json.h"
#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid::planner {
namespace {

std::string PathIn(const std::string& directory) { return JoinPath(directory, "machine.json"); }

}  // namespace

Status WriteMachine(const std::string& directory, const MeasuredMachine& machine) {
  const WakeUpCost& wake = machine.wake;
  const nlohmann::ordered_json json = {{"others_share", machine.others_share},
                                       {"wake_busy_us", wake.busy_ns / 1e3},
                                       {"lowest_wake_busy_us", wake.lowest_busy_ns / 1e3},
                                       {"highest_wake_busy_us", wake.highest_busy_ns / 1e3},
                                       {"wake_idle_us", wake.idle_ns / 1e3}};
  return WriteFile(PathIn(directory), JsonText(json) + "\n");
}

StatusOr<MeasuredMachine> ReadMachine(const std::string& directory) {
  const std::string path = PathIn(directory);
  if (!FileExists(path)) return MeasuredMachine{};
  TF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  try {
    const auto json = ParseJson(text);
    const auto ns = [&json](const char* key) { return json.at(key).get<double>() * 1e3; };
    return MeasuredMachine{.wake = {.busy_ns = ns("wake_busy_us"),
                                    .lowest_busy_ns = ns("lowest_wake_busy_us"),
                                    .highest_busy_ns = ns("highest_wake_busy_us"),
                                    .idle_ns = ns("wake_idle_us"),
                                    .measured = true},
                           .others_share = json.at("others_share").get<double>()};
  } catch (const nlohmann::json::exception& error) {
    return InvalidArgument("'", path, "' does not describe a machine: ", error.what(), "; measure the program again");
  }
}

}  // namespace tensorbraid::planner
