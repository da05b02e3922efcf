// The source for a step of Slurm (srun) without PMIx and PMI: rank 0 serves a registry at a port that all can compute.
#include <algorithm>

#include "cluster/discovery/node_list.h"
#include "cluster/discovery/registry_exchange.h"
#include "cluster/discovery/source.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "core/values/fingerprint.h"

namespace tensorbraid {
namespace {

// The ports from which those of a step's registry are computed. They are below those that Linux gives to programs which
// ask for any free port (32768 and up).
constexpr int kFirstPort = 20000;
constexpr int kNumPorts = 12000;
// Other programs may have some of the ports.
constexpr int kCandidates = 4;
constexpr int kMostReservedPorts = 64;

std::vector<int> ComputedPorts(const std::string& job) {
  const uint64_t hash = Fingerprint64(job);
  std::vector<int> ports;
  for (int i = 0; i < kCandidates; ++i) ports.push_back(kFirstPort + static_cast<int>((hash + 997 * i) % kNumPorts));
  return ports;
}

// "12000-12003,12010" as numbers.
StatusOr<std::vector<int>> ReservedPorts(const std::string& list) {
  std::vector<int> ports;
  const auto numbers = ExpandNodeList(StrCat("[", list, "]"));
  if (numbers.ok()) {
    for (const std::string& number : *numbers) {
      const int port = number.size() <= 5 ? std::stoi(number) : 0;
      if (port < 1 || port > 65535) return InvalidArgument("SLURM_STEP_RESV_PORTS='", list, "' has no ports");
      if (ports.size() < kMostReservedPorts) ports.push_back(port);
    }
    return ports;
  }
  return InvalidArgument("SLURM_STEP_RESV_PORTS='", list, "' is not a list of ports such as 12000-12003");
}

StatusOr<std::shared_ptr<Seal>> SealOfStep(const std::string& token_file) {
  if (!token_file.empty()) return NewTokenSeal(token_file);
  auto seal = NewMungeSeal();
  if (seal.ok()) return seal;
  return FailedPrecondition("the registry of a Slurm step needs a secret: ", std::string(seal.status().message()),
                            "; or give --token_file=FILE (or TENSORBRAID_TOKEN_FILE), a file in a directory that all ",
                            "nodes share; or start the step with srun --mpi=pmix");
}

}  // namespace

StatusOr<Claim> LookAtSlurm(const TaskArguments& arguments, VariableReader& reader) {
  const auto job = reader.Get("SLURM_JOB_ID");
  if (!job.has_value()) return Claim::NotMine("SLURM_JOB_ID is not set");
  // In a batch script and in a shell of salloc there is no step, or the number of a special one.
  const auto step = reader.Get("SLURM_STEP_ID");
  if (!step.has_value() || step->size() > 9) {
    return Claim::NotMine("this process is not a step of the Slurm job; srun starts steps");
  }
  Participant participant;
  TF_ASSIGN_OR_RETURN(participant.rank, reader.NeedNumber("SLURM_PROCID", 0, "srun sets it"));
  TF_ASSIGN_OR_RETURN(auto size, reader.GetNumber("SLURM_STEP_NUM_TASKS", 1));
  if (!size.has_value()) {
    TF_ASSIGN_OR_RETURN(size, reader.GetNumber("SLURM_NTASKS", 1));
  }
  if (!size.has_value()) return InvalidArgument("SLURM_NTASKS is missing; srun sets it");
  if (participant.rank >= *size) {
    return InvalidArgument("SLURM_PROCID=", participant.rank, " does not fit ", *size, " tasks (SLURM_NTASKS)");
  }
  participant.size = *size;
  participant.name = StrCat("rank ", participant.rank);

  auto node_list = reader.Get("SLURM_STEP_NODELIST");
  const char* list_name = "SLURM_STEP_NODELIST";
  if (!node_list.has_value()) {
    node_list = reader.Get("SLURM_JOB_NODELIST");
    list_name = "SLURM_JOB_NODELIST";
  }
  if (!node_list.has_value()) return InvalidArgument("SLURM_JOB_NODELIST is missing; srun sets it");
  const auto nodes = ExpandNodeList(*node_list);
  if (!nodes.ok()) return Annotate(nodes.status(), list_name);
  participant.host = reader.Get("SLURMD_NODENAME").value_or("");
  if (participant.rank == 0 && !participant.host.empty() && participant.host != nodes->front()) {
    return InvalidArgument("rank 0 runs on ", participant.host, " (SLURMD_NODENAME), but ", list_name, "=", *node_list,
                           " begins with ", nodes->front(), ", where the others look for its registry; start the step ",
                           "with srun --mpi=pmix, or without --distribution=arbitrary");
  }
  TF_RETURN_IF_ERROR(SetTasksOfRanks(reader, &participant));

  const std::string job_name = StrCat("Slurm step ", *job, ".", *step);
  std::vector<int> ports = ComputedPorts(job_name);
  if (const auto reserved = reader.Get("SLURM_STEP_RESV_PORTS"); reserved.has_value()) {
    TF_ASSIGN_OR_RETURN(ports, ReservedPorts(*reserved));
  }
  const std::string host = nodes->size() == 1 ? "127.0.0.1" : nodes->front();
  std::vector<std::string> addresses;
  for (const int port : ports) addresses.push_back(HostPort{host, port}.ToString());
  participant.exchange =
      [job_name, addresses, tls = arguments.tls, token_file = arguments.token_file, rank = participant.rank,
       size = participant.size](std::chrono::milliseconds timeout) -> StatusOr<std::unique_ptr<RecordExchange>> {
    TF_ASSIGN_OR_RETURN(auto seal, SealOfStep(token_file));
    std::vector<std::string> serve;
    for (int i = 0; rank == 0 && i < size; ++i) serve.push_back(StrCat("rank ", i));
    return std::make_unique<RegistryExchange>(
        RegistryClientOptions{.job = job_name, .addresses = addresses, .tls = tls, .timeout = timeout}, std::move(seal),
        std::move(serve));
  };
  const std::string why = StrCat("this is rank ", participant.rank, " of ", *size, "; rank 0 serves a registry at ",
                                 StrJoin(addresses, " or "));
  return Claim{.participant = std::move(participant), .why = why};
}

}  // namespace tensorbraid
