// The sources that give a process its whole cluster: flags and TF_CONFIG.
#include "cluster/discovery/source.h"
#include "cluster/spec/tf_config.h"
#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<Claim> LookAtFlags(const TaskArguments& arguments, VariableReader&) {
  if (!arguments.given) {
    return Claim::NotMine("none of --ps_hosts, --worker_hosts, --job_name, --task_index is given");
  }
  std::map<std::string, std::vector<std::string>> jobs;
  if (!arguments.ps_hosts.empty()) jobs["ps"] = arguments.ps_hosts;
  if (!arguments.worker_hosts.empty()) jobs["worker"] = arguments.worker_hosts;
  const ClusterSpec cluster(jobs);
  if (jobs.empty()) return InvalidArgument("the cluster is empty: give --worker_hosts (and --ps_hosts)");
  if (arguments.worker_hosts.empty()) return InvalidArgument("the cluster has no workers: give --worker_hosts");
  TF_RETURN_IF_ERROR(Annotate(cluster.Validate(), "--ps_hosts, --worker_hosts"));
  if (arguments.job_name.empty()) {
    return InvalidArgument("--job_name is missing; must be one of: ", StrJoin(cluster.jobs(), ", "));
  }
  const auto address = cluster.task_address(arguments.job_name, arguments.task_index);
  if (!address.ok()) return Annotate(address.status(), "--job_name, --task_index");
  return Claim{.known = KnownTask{{arguments.job_name, arguments.task_index}, cluster}, .why = "they give the cluster"};
}

namespace {

StatusOr<Claim> ClaimOfTfConfig(const std::string& json) {
  TF_ASSIGN_OR_RETURN(TfConfig config, ParseTfConfig(json));
  TF_RETURN_IF_ERROR(config.cluster.Validate());
  TF_RETURN_IF_ERROR(config.cluster.task_address(config.task_type, config.task_index).status());
  int workers = 0;
  for (const char* job : {"chief", "master", "worker"}) workers += config.cluster.num_tasks(job);
  if (workers == 0) return InvalidArgument("the cluster has neither a chief nor workers");
  return Claim{.known = KnownTask{{std::move(config.task_type), config.task_index}, std::move(config.cluster)},
               .why = "it gives the cluster"};
}

}  // namespace

StatusOr<Claim> LookAtTfConfig(const TaskArguments&, VariableReader& reader) {
  const auto json = reader.Get("TF_CONFIG");
  if (!json.has_value()) return Claim::NotMine("TF_CONFIG is not set");
  auto claim = ClaimOfTfConfig(*json);
  if (!claim.ok()) return Annotate(claim.status(), "TF_CONFIG");
  return claim;
}

}  // namespace tensorbraid
