#include "cluster/spec/tf_config.h"

#include <charconv>

#include "core/text/json.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using Json = nlohmann::json;

StatusOr<Json> ParseObject(const std::string& text) {
  Json json = ParseJsonOrDiscard(text);
  if (json.is_discarded()) return InvalidArgument("not JSON: ", text.substr(0, 80));
  if (!json.is_object()) return InvalidArgument("not a JSON object: ", text.substr(0, 80));
  return json;
}

StatusOr<int> ParseIndex(const std::string& digits) {
  int index = 0;
  const char* end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, index);
  if (error != std::errc() || last != end || index < 0) {
    return InvalidArgument("'", digits, "' is not a task index");
  }
  return index;
}

StatusOr<ClusterSpec::Tasks> ParseTasks(const Json& json) {
  ClusterSpec::Tasks tasks;
  if (!json.is_array() && !json.is_object()) {
    return InvalidArgument("must be a list of addresses, or an object that maps indices to addresses");
  }
  for (const auto& item : json.items()) {  // an array's keys are its indices
    TF_ASSIGN_OR_RETURN(const int index, ParseIndex(item.key()));
    if (!item.value().is_string()) return InvalidArgument("task ", index, ": the address is not a string");
    if (!tasks.emplace(index, item.value().get<std::string>()).second) {
      return InvalidArgument("task ", index, " appears twice");
    }
  }
  return tasks;
}

StatusOr<ClusterSpec> ParseCluster(const Json& json) {
  if (!json.is_object()) return InvalidArgument("the cluster must be an object that maps jobs to addresses");
  std::map<std::string, ClusterSpec::Tasks> jobs;
  for (const auto& item : json.items()) {
    auto tasks = ParseTasks(item.value());
    if (!tasks.ok()) return Annotate(tasks.status(), StrCat("job '", item.key(), "'"));
    jobs[item.key()] = *std::move(tasks);
  }
  return ClusterSpec::Sparse(std::move(jobs));
}

}  // namespace

StatusOr<TfConfig> ParseTfConfig(const std::string& text) {
  TF_ASSIGN_OR_RETURN(const Json json, ParseObject(text));
  TfConfig config;
  const auto cluster = json.find("cluster");
  if (cluster == json.end()) return InvalidArgument("no \"cluster\"");
  TF_ASSIGN_OR_RETURN(config.cluster, ParseCluster(*cluster));

  const auto task = json.find("task");
  if (task == json.end() || !task->is_object()) return InvalidArgument("\"task\" is missing or is not an object");
  const auto type = task->find("type");
  if (type == task->end() || !type->is_string())
    return InvalidArgument("\"type\" of the task is missing or is not a string");
  config.task_type = type->get<std::string>();
  const auto index = task->find("index");
  if (index == task->end() || !(index->is_number_integer() || index->is_string())) {
    return InvalidArgument("\"index\" of the task is missing or is not an integer");
  }
  TF_ASSIGN_OR_RETURN(config.task_index, ParseIndex(index->is_string() ? index->get<std::string>() : index->dump()));
  return config;
}

StatusOr<ClusterSpec> ParseClusterJson(const std::string& text) {
  TF_ASSIGN_OR_RETURN(const Json json, ParseObject(text));
  return ParseCluster(json);
}

std::string ToTfConfigJson(const TfConfig& config) {
  nlohmann::ordered_json json;
  json["cluster"] = ParseOrderedJson(config.cluster.ToString());
  json["task"] = {{"type", config.task_type}, {"index", config.task_index}};
  return JsonText(json);
}

}  // namespace tensorbraid
