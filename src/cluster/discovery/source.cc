#include "cluster/discovery/source.h"

#include <charconv>

#include "core/text/strings.h"

namespace tensorbraid {

std::optional<std::string> VariableReader::Get(const std::string& name) {
  const auto found = around_.variables.find(name);
  std::optional<std::string> value;
  if (found != around_.variables.end() && !found->second.empty()) value = found->second;
  read_.emplace_back(name, value);
  return value;
}

StatusOr<std::optional<int>> VariableReader::GetNumber(const std::string& name, int least) {
  const auto text = Get(name);
  if (!text.has_value()) return std::optional<int>();
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < least) {
    return InvalidArgument(name, "='", *text, "' is not a number of at least ", least);
  }
  return std::optional<int>(number);
}

StatusOr<int> VariableReader::NeedNumber(const std::string& name, int least, const std::string& needed_for) {
  TF_ASSIGN_OR_RETURN(const auto number, GetNumber(name, least));
  if (!number.has_value()) return InvalidArgument(name, " is missing; ", needed_for);
  return *number;
}

const std::vector<Source>& Sources() {
  static const auto& sources = *new std::vector<Source>{
      {"flags", "flags", &LookAtFlags},
      {"tf_config", "TF_CONFIG", &LookAtTfConfig},
      {"registry", "registry", &LookAtRegistry},
      {"kubernetes", "Kubernetes", &LookAtKubernetes},
      {"mpi", "MPI", &LookAtMpi},
      {"slurm", "Slurm", &LookAtSlurm},
  };
  return sources;
}

Status SetTasksOfRanks(VariableReader& reader, Participant* participant) {
  TF_ASSIGN_OR_RETURN(const auto ps, reader.GetNumber("TENSORBRAID_PS"));
  TF_ASSIGN_OR_RETURN(const auto workers, reader.GetNumber("TENSORBRAID_WORKERS"));
  const auto number = [p = ps.value_or(-1), w = workers.value_or(-1)](int size) {
    return NumParameterServers(size, p, w);
  };
  if (participant->size > 0) TF_RETURN_IF_ERROR(number(participant->size));
  participant->tasks = [number](const std::vector<std::string>& nodes) -> StatusOr<std::vector<TaskName>> {
    TF_ASSIGN_OR_RETURN(const int num_ps, number(static_cast<int>(nodes.size())));
    return TasksOfRanks(nodes, num_ps);
  };
  return OkStatus();
}

StatusOr<TaskName> ParseTaskName(const std::string& text) {
  const size_t slash = text.find('/');
  TaskName task{text.substr(0, slash), -1};
  if (slash != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + slash + 1, end, task.index);
    if (error != std::errc() || last != end) task.index = -1;
  }
  if (task.job.empty() || task.index < 0) return InvalidArgument("'", text, "' is not a task such as worker/0");
  return task;
}

}  // namespace tensorbraid
