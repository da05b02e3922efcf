// Keeps others from speaking in the name of a launcher or of an agent, where the channel between them does not.
#ifndef TENSORBRAID_LAUNCH_AGENT_AGENT_SEAL_H_
#define TENSORBRAID_LAUNCH_AGENT_AGENT_SEAL_H_

#include <memory>
#include <string>
#include <string_view>

#include "cluster/registry/seal.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

enum class AgentSide { kLauncher, kAgent };

// A line of a channel: a message (agent_messages.h), and its proof after a tab, if it has one.
struct SealedLine {
  std::string_view message;
  std::string_view proof;
};
SealedLine SplitLine(std::string_view line);

// A proof says which side has made a message, and for which launch. A Seal keeps it from being used twice, or late.
// Thread-safe.
class AgentSeal {
 public:
  // `launch` is a random text that both sides know otherwise than through the channel.
  AgentSeal(std::unique_ptr<Seal> seal, std::string launch);
  // The line with its proof. `line` ends with its only newline. The errors of Seal::Prove.
  StatusOr<std::string> Close(AgentSide sender, std::string_view line);
  // Unauthenticated unless the proof is this sender's for the message.
  Status Check(AgentSide sender, const SealedLine& line);

 private:
  const std::unique_ptr<Seal> seal_;
  const std::string launch_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_AGENT_SEAL_H_
