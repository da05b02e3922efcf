// The addresses of tasks that a launcher has started again on other machines, from a file that the launcher writes.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_MOVES_FILE_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_MOVES_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "cluster/discovery/cluster_watch.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Looks at the file twice a second. A file that does not exist has no moves; one that cannot be read or understood is
// logged once, and changes nothing. Thread-safe.
class MovesFile final : public ClusterWatch {
 public:
  // The environment variable that names the file. `tensorbraid launch` sets it (docs/design/0026).
  static constexpr char kVariable[] = "TENSORBRAID_MOVES_FILE";

  // Null if the variable is not set.
  static std::shared_ptr<MovesFile> FromEnvironment();
  explicit MovesFile(std::string path);

  std::unique_ptr<RunningWatch> Start(Changed changed) override;

 private:
  const std::string path_;
};

// The text of the file: {"alpha:4001":"gamma:4711"} says that the task which was at alpha:4001 is at gamma:4711 now.
std::string MovesToJson(const AddressMoves& moves);
// InvalidArgument for anything that MovesToJson does not write.
StatusOr<AddressMoves> ParseMoves(std::string_view json);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_MOVES_FILE_H_
