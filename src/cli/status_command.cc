#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/ask_report.h"
#include "cli/at_least.h"
#include "cli/client_options.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/status_text.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/status/metrics.h"
#include "core/system/clock.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "tensorbraid/transport/tls_options.h"
#include "transport/grpc/call_client.h"

namespace tensorbraid {
namespace {

struct StatusFlags {
  std::string address;
  bool watch = false;
  bool json = false;
  double interval = 1;
  double timeout = 2;
  TlsOptions tls;
  std::string token_file;
  bool insecure = false;
};

void Print(const std::string& text, bool clear) {
  if (clear) std::fputs("\033[H\033[2J", stdout);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

StatusOr<int> ShowStatus(const StatusFlags& flags) {
  const std::string scheme = "grpc://";
  const std::string address = flags.address.starts_with(scheme) ? flags.address.substr(scheme.size()) : flags.address;
  TF_RETURN_IF_ERROR(ParseHostPort(address).status());
  TF_ASSIGN_OR_RETURN(const auto client,
                      NewGrpcCallClient(address, kConnectPatience, flags.tls, flags.token_file, flags.insecure));
  const auto pause = Milliseconds(flags.interval);
  TF_ASSIGN_OR_RETURN(proto::ClusterReport report, AskForReport(*client, flags.address, flags.timeout));
  if (flags.json) {
    while (true) {
      Print(ReportJson(report) + "\n", /*clear=*/false);
      if (!flags.watch) return EveryTaskAnswers(report) ? 0 : 1;
      SleepFor(pause);
      TF_ASSIGN_OR_RETURN(report, AskForReport(*client, flags.address, flags.timeout));
    }
  }
  const bool clear = flags.watch && ::isatty(STDOUT_FILENO) == 1;
  while (true) {
    SleepFor(pause);
    TF_ASSIGN_OR_RETURN(proto::ClusterReport next, AskForReport(*client, flags.address, flags.timeout));
    Print(StatusText(report, next), clear);
    if (!flags.watch) return EveryTaskAnswers(next) ? 0 : 1;
    if (!clear) std::fputs("\n", stdout);
    report = std::move(next);
  }
}

}  // namespace

void AddStatusCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<StatusFlags>();
  CLI::App* status = app.add_subcommand("status", "Show what the tasks of a running cluster do, and wait for");
  status->add_option("ADDRESS", flags->address, "any task of the cluster, host:port; it asks the others")->required();
  status->add_flag("--watch", flags->watch, "show it again and again, until Ctrl-C");
  status->add_flag("--json", flags->json, "print the whole report as one line of JSON");
  status->add_option("--interval", flags->interval, "seconds over which rates are measured, and between two reports")
      ->check(AtLeast(0.1))
      ->type_name("SECONDS")
      ->capture_default_str();
  status->add_option("--timeout", flags->timeout, "seconds that the tasks have to answer")
      ->check(AtLeast(0.1))
      ->type_name("SECONDS")
      ->capture_default_str();
  AddClientOptions(status, &flags->tls, &flags->token_file, &flags->insecure);
  status->footer(
      "\nThe columns:\n"
      "  state         up; straggler: makes less than half as many steps as the other workers; no answer: the process\n"
      "                is stopped, overloaded or unreachable; lost: unreachable for long; left: has ended its work\n"
      "  steps         of the task's own clients; steps/s: over the last ten seconds\n"
      "  busy          time that threads worked on steps that span several tasks; 100 % is one core\n"
      "  CPU           time of all threads, including those that poll for messages\n"
      "  received      bytes of tensors from other tasks; sent: to other tasks\n"
      "  gradient age  updates by others between reading a variable and applying its gradient, on average; with ~, "
      "the\n"
      "                number of other steps that ended on the parameter server while a step ran\n"
      "Growing tables follow, a line for each part: rows; memory of rows and indices; by how many rows it has grown\n"
      "in the last minute; rows that updates have made and that were evicted, since the task has started; the share\n"
      "of looked up keys that had a row; keys that have not occurred often enough for a row.\n"
      "Then come the steps that have run for more than a second, with the operations that they wait for on\n"
      "every task. A task that does not answer is named as their cause if they may wait for it.\n"
      "Clusters that sessions brought (cluster_def of a ConfigProto) follow, each with a table of its own. Their tasks "
      "have\n"
      "the names that the session gave them; busy, CPU, memory and up are those of the whole process. A task that the\n"
      "session has not used yet is 'not connected', which does not change the exit code.\n\n"
      "Exits with 0 if all tasks answer or have left, with 1 if one does not, with 2 if ADDRESS cannot be asked.\n\n"
      "Examples:\n"
      "  tensorbraid status localhost:2222\n"
      "  tensorbraid status alpha:2222 --watch --tls_cert=certs/beta.pem --tls_key=certs/beta-key.pem "
      "--tls_ca=certs/ca.pem\n"
      "  tensorbraid status localhost:2222 --json | jq '.blocked'");
  status->callback([flags, invocation] {
    invocation->run = [flags] {
      const StatusOr<int> code = ShowStatus(*flags);
      if (code.ok()) return *code;
      std::fprintf(stderr, "tensorbraid: %s\n", std::string(code.status().message()).c_str());
      return 2;
    };
  });
}

}  // namespace tensorbraid
