#include <signal.h>

#include <cstdio>
#include <memory>

#include "CLI/CLI.hpp"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "cluster/discovery/discover.h"
#include "cluster/registry/registry.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

struct RegistryFlags {
  int ps = 0;
  int workers = 0;
  std::string host = "localhost";
  int port = 0;
  std::string job_id = "job";
  TlsOptions tls;
  std::string token_file;
};

Status ServeRegistry(RegistryFlags flags) {
  // As in `tensorbraid serve`: blocked before any thread starts, so that only sigwait receives them.
  sigset_t stop;
  sigemptyset(&stop);
  for (int signal : {SIGINT, SIGTERM}) sigaddset(&stop, signal);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  ReadAccess(Surroundings::OfProcess(), &flags.tls, &flags.token_file);
  if (flags.token_file.empty()) {
    return InvalidArgument("--token_file is missing: a registry needs the secret of the job; ",
                           "'openssl rand -hex 32' makes one");
  }
  TF_ASSIGN_OR_RETURN(std::shared_ptr<Seal> seal, NewTokenSeal(flags.token_file));
  RegistryServerOptions options{.job = flags.job_id, .tls = flags.tls};
  for (int i = 0; i < flags.ps; ++i) options.names.push_back(StrCat("ps/", i));
  for (int i = 0; i < flags.workers; ++i) options.names.push_back(StrCat("worker/", i));
  options.address = HostPort{flags.host, flags.port}.ToString();
  TF_ASSIGN_OR_RETURN(const auto server, RegistryServer::Start(std::move(options), std::move(seal)));
  std::printf("registry of %d ps and %d worker tasks at %s\n", flags.ps, flags.workers,
              HostPort{flags.host, server->port()}.ToString().c_str());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stop, &signal);
  const std::vector<std::string> missing = server->Missing();
  if (!missing.empty()) return Unavailable("stopped before these tasks registered: ", StrJoin(missing, ", "));
  return OkStatus();
}

}  // namespace

void AddRegistryCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<RegistryFlags>();
  CLI::App* registry = app.add_subcommand("registry", "Let the tasks of a job find each other, under any engine");
  registry->add_option("--ps", flags->ps, "number of parameter servers")->check(AtLeast(0))->type_name("NUMBER");
  registry->add_option("--workers", flags->workers, "number of workers")
      ->check(AtLeast(1))
      ->type_name("NUMBER")
      ->required();
  registry
      ->add_option("--host", flags->host,
                   "name of this host for the other tasks; localhost: only tasks of this machine")
      ->capture_default_str();
  registry->add_option("--port", flags->port, "port to listen on; 0: any free port")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  registry
      ->add_option("--job_id", flags->job_id, "name of the job; tasks of other jobs are refused (TENSORBRAID_JOB_ID)")
      ->capture_default_str();
  registry->add_option("--tls_cert", flags->tls.cert, "certificate of this host")->type_name("FILE");
  registry->add_option("--tls_key", flags->tls.key, "private key of --tls_cert")->type_name("FILE");
  registry->add_option("--tls_ca", flags->tls.ca, "authority that the tasks' certificates come from")
      ->type_name("FILE");
  registry->add_option("--token_file", flags->token_file, "secret of the job; it is never sent")->type_name("FILE");
  registry->footer(
      "\nEach task needs the environment variables TENSORBRAID_REGISTRY, with the address that this command prints, "
      "and\n"
      "TENSORBRAID_TASK, such as worker/1 (docs/discovery.md). The registry runs until SIGINT or SIGTERM. A task that "
      "is\n"
      "started again elsewhere replaces its address.\n\n"
      "Example:\n"
      "  openssl rand -hex 32 > job.token && chmod 600 job.token\n"
      "  tensorbraid registry --ps=1 --workers=2 --host=alpha --port=7000 --token_file=job.token");
  registry->callback([flags, invocation] { invocation->run = [flags] { return ExitCode(ServeRegistry(*flags)); }; });
}

}  // namespace tensorbraid
