// The options of commands that connect to a cluster, which may use TLS or require a token.
#ifndef TENSORBRAID_CLI_CLIENT_OPTIONS_H_
#define TENSORBRAID_CLI_CLIENT_OPTIONS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

inline void AddClientOptions(CLI::App* command, TlsOptions* tls, std::string* token_file, bool* insecure = nullptr) {
  command->add_option("--tls_cert", tls->cert, "certificate of this host, if the cluster asks for one")
      ->type_name("FILE");
  command->add_option("--tls_key", tls->key, "private key of --tls_cert")->type_name("FILE");
  command->add_option("--tls_ca", tls->ca, "authority that the task's certificate comes from")->type_name("FILE");
  command->add_option("--token_file", *token_file, "token that the cluster asks for")->type_name("FILE");
  if (insecure == nullptr) return;
  command->add_flag("--insecure", *insecure, "also use a task on loopback that runs as another user of this machine");
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_CLIENT_OPTIONS_H_
