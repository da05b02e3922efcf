// What a process can see of its surroundings: its environment variables and its machine. The sources of discovery read
// these alone, so that tests can make them.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_SURROUNDINGS_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_SURROUNDINGS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct Surroundings {
  // Those of this process. Asks the system, but does not block on the network.
  static Surroundings OfProcess();

  std::map<std::string, std::string> variables;  // the environment
  std::string host_name;
  // Equal for processes that reach each other over loopback: the same machine, host name and network namespace.
  std::string node;
  // The addresses of this machine, in numeric form and without loopback and link-local ones. The address from which
  // this machine reaches others comes first.
  std::vector<std::string> addresses;
  // The file of the program, which must be the same for all processes of a job.
  std::string program;
  // The numeric addresses of a name, or an error. May block on DNS.
  std::function<StatusOr<std::vector<std::string>>(const std::string& host)> resolve;
};

// The name or address under which other machines reach this one: the variable TENSORBRAID_HOST; else `engine_name`, the
// name that the engine has for this machine, or the host name, if it resolves to an address of this machine other than
// loopback; else the first address. The host name if there is nothing else. May block on DNS.
std::string ReachableHost(const Surroundings& around, const std::string& engine_name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_SURROUNDINGS_H_
