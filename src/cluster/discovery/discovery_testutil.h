// Surroundings for tests of discovery.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_DISCOVERY_TESTUTIL_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_DISCOVERY_TESTUTIL_H_

#include <map>
#include <string>
#include <vector>

#include "cluster/discovery/surroundings.h"
#include "core/text/strings.h"

namespace tensorbraid {

// A machine with one address, whose name resolves to it. This process is the program.
inline Surroundings MakeSurroundings(std::map<std::string, std::string> variables, std::string host_name = "alpha") {
  Surroundings around;
  around.variables = std::move(variables);
  around.host_name = host_name;
  around.node = host_name;
  around.addresses = {"10.0.0.1"};
  around.program = "/proc/self/exe";
  around.resolve = [host_name](const std::string& host) -> StatusOr<std::vector<std::string>> {
    if (host != host_name) return NotFound(host, ": Name or service not known");
    return std::vector<std::string>{"10.0.0.1"};
  };
  return around;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_DISCOVERY_TESTUTIL_H_
