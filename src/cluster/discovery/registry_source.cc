// The source for engines that we do not know: a registry, and the name of the task.
#include "cluster/discovery/registry_exchange.h"
#include "cluster/discovery/source.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<Claim> LookAtRegistry(const TaskArguments& arguments, VariableReader& reader) {
  const auto address = reader.Get("TENSORBRAID_REGISTRY");
  if (!address.has_value()) return Claim::NotMine("TENSORBRAID_REGISTRY is not set");
  if (const auto where = ParseHostPort(*address); !where.ok()) return Annotate(where.status(), "TENSORBRAID_REGISTRY");
  const auto name = reader.Get("TENSORBRAID_TASK");
  if (!name.has_value()) {
    return InvalidArgument("TENSORBRAID_TASK is missing; TENSORBRAID_REGISTRY needs the name of this task, such as ",
                           "worker/0");
  }
  if (const auto task = ParseTaskName(*name); !task.ok()) return Annotate(task.status(), "TENSORBRAID_TASK");
  if (arguments.token_file.empty()) {
    return InvalidArgument("TENSORBRAID_REGISTRY needs the secret of the job: give --token_file, or set ",
                           "TENSORBRAID_TOKEN_FILE to the name of its file");
  }
  const auto job = reader.Get("TENSORBRAID_JOB_ID");
  Participant participant{.name = *name};
  // A registry needs a token, and a server with a token listens for other machines only with TLS.
  participant.may_move = !arguments.tls.cert.empty();
  participant.exchange = [address = *address, job = job.value_or("job"), tls = arguments.tls,
                          token_file = arguments.token_file](
                             std::chrono::milliseconds timeout) -> StatusOr<std::unique_ptr<RecordExchange>> {
    TF_ASSIGN_OR_RETURN(auto seal, NewTokenSeal(token_file));
    return std::make_unique<RegistryExchange>(
        RegistryClientOptions{.job = job, .addresses = {address}, .tls = tls, .timeout = timeout}, std::move(seal));
  };
  return Claim{.participant = std::move(participant), .why = StrCat("the registry at ", *address, " has the cluster")};
}

}  // namespace tensorbraid
