#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/commands.h"
#include "launch/credentials/certificates.h"

namespace tensorbraid {
namespace {

Status Certs(const CertsOptions& options, const std::vector<std::string>& requests) {
  const char* directory = options.directory.c_str();
  const bool certifies = !options.hosts.empty() || !options.clients.empty();
  if (certifies == !requests.empty()) {
    return absl::InvalidArgumentError(
        "give --hosts, --clients or both: the names that get certificates; or --requests "
        "alone");
  }
  TF_ASSIGN_OR_RETURN(const auto written,
                      certifies ? WriteCertificates(options) : WriteRequests(options.directory, requests));
  for (const std::string& path : written) std::printf("%s\n", path.c_str());
  if (!certifies) {
    std::fprintf(stderr,
                 "Copy each NAME-request.pem to the directory of the authority, and run there 'tensorbraid certs DIR\n"
                 "--hosts=NAME'. Copy NAME.pem and ca.pem back. The key stays here.\n");
    return OkStatus();
  }
  std::fprintf(
      stderr,
      "Copy %s/ca.pem and the two files of a host to that host. Keep %s/ca-key.pem here: anyone who has it can\n"
      "make certificates that the cluster accepts.\n",
      directory, directory);
  return OkStatus();
}

}  // namespace

void AddCertsCommand(CLI::App& app, Invocation* invocation) {
  auto options = std::make_shared<CertsOptions>();
  auto requests = std::make_shared<std::vector<std::string>>();
  CLI::App* certs = app.add_subcommand("certs", "Make the certificates with which the hosts of a cluster use TLS");
  certs->add_option("directory", options->directory, "where the files are written")->required()->type_name("DIR");
  certs
      ->add_option(
          "--hosts", options->hosts,
          "names or IP addresses of the hosts, as in the addresses of the cluster; *.NAME.NAME is for all hosts "
          "beneath NAME.NAME")
      ->delimiter(',');
  certs
      ->add_option("--clients", options->clients,
                   "names of clients, which may run sessions, but not be tasks or reset the cluster")
      ->delimiter(',');
  certs
      ->add_option("--requests", *requests,
                   "make only the key of each of these hosts or clients, and DIR/NAME-request.pem; where the authority "
                   "is, --hosts or --clients makes the certificate for the request, so that the key need not be copied")
      ->delimiter(',');
  certs->add_option("--days", options->days, "how long the certificates of hosts and clients are valid")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  certs->footer(
      "\nMakes an authority that is valid for ten years, DIR/ca.pem and DIR/ca-key.pem, unless these files exist.\n"
      "Makes NAME.pem and NAME-key.pem for each host and each client. Existing files are not overwritten: to renew a\n"
      "certificate, remove its two files. Servers read changed files without a restart.\n\n"
      "Example, which writes to the directory 'certs':\n"
      "  tensorbraid certs certs --hosts=alpha,beta\n"
      "  tensorbraid serve --tls_cert=certs/alpha.pem --tls_key=certs/alpha-key.pem --tls_ca=certs/ca.pem ...");
  certs->callback([options, requests, invocation] {
    invocation->run = [options, requests] { return ExitCode(Certs(*options, *requests)); };
  });
}

}  // namespace tensorbraid
