// What the launcher and its agents tell each other (docs/design/0026): one line of JSON for each message. Each message
// names the node of its agent, because several agents may share one channel. There, lines are cut into pieces
// (message_pieces.h). No message has a secret, since not every channel is encrypted.
#ifndef TENSORBRAID_LAUNCH_AGENT_AGENT_MESSAGES_H_
#define TENSORBRAID_LAUNCH_AGENT_AGENT_MESSAGES_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cluster/discovery/cluster_watch.h"
#include "launch/engines/engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// From the launcher.

// The first message to an agent: it holds ports for its tasks, makes a key and enters the working directory.
struct PrepareNode {
  std::string version = "";             // of the launcher
  std::string directory = "";           // the working directory of the tasks; "" for the agent's own
  std::vector<std::string> tasks = {};  // names
  std::vector<size_t> numbers = {};     // the tasks' numbers in the job
  std::vector<int> ports = {};          // of the tasks; empty for any free ones
  bool makes_key = false;               // a private key for the tasks, whose certificate follows (NodeCertificate)
  std::vector<std::string> checked_files = {};  // whose checksums the launcher wants
  // The period in which the agent sends NodeAlive and the launcher LauncherAlive; 0: never.
  int alive_ms = 0;
  int silence_ms = 0;              // the agent ends its tasks after so long without a message; 0: never
  int stop_grace_ms = 0;           // how long after SIGTERM the tasks are then killed
  bool tasks_get_signals = false;  // the engine's signals reach the tasks as well as the agent
  bool tasks_move = false;         // tasks of the job may move, and TellMoves will say where
};
// The answer to the request for a certificate in NodePrepared. Tasks that are started later get it, with the key and
// the authority, as files that only the user can read.
struct NodeCertificate {
  std::string certificate;  // PEM
  std::string authority;    // its certificate
};
// The new addresses of all tasks of the job that have moved so far. Replaces what an earlier TellMoves said.
struct TellMoves {
  AddressMoves moves;
};
// To the channel, not to the agent, which is lost: start another agent for its tasks, which says hello with the same
// rank. If there is no room for it, the channel says NodeRefused of the lost node.
struct ReplaceNode {};
// The launcher still runs. Needs no proof (agent_seal.h), because every other message of the launcher means the same.
struct LauncherAlive {};
struct StartTask {
  size_t task = 0;
  ProgramCall call;
  bool knows_flags = true;  // see AddFile
};
struct SignalTask {
  size_t task = 0;
  int signal = 0;
};
struct CloseTaskOutput {
  size_t task = 0;
};
using AgentRequest = std::variant<PrepareNode, NodeCertificate, TellMoves, ReplaceNode, LauncherAlive, StartTask,
                                  SignalTask, CloseTaskOutput>;

// From an agent.

// The first message of an agent that shares its channel with others: the launcher does not know its node before.
struct NodeHello {
  int rank = 0;          // among the agents of the channel
  std::string host;      // how other machines reach the node
  std::string job = "";  // what the engine calls the job, if it has a name for it
};
// The agent still runs.
struct NodeAlive {};
// The engine has sent this signal to the agent: the job is to end. The agent goes on until its channel ends.
struct NodeStopping {
  int signal = 0;
};
struct NodePrepared {
  std::vector<int> ports;                        // of the tasks
  int64_t time_ms = 0;                           // since 1970, by the node's clock
  std::map<std::string, std::string> checksums;  // SHA-256 of the checked files that exist, by path
  std::string certificate_request = {};          // PEM; for the key, if one was to be made
};
struct NodeRefused {
  Status why;
};
struct TaskStarted {
  size_t task = 0;
  pid_t pid = 0;
};
struct TaskStartFailed {
  size_t task = 0;
  Status why;
};
struct TaskLine {
  size_t task = 0;
  OutputStream stream = OutputStream::kOut;
  std::string line;
};
// Lines of the node's tasks that are not sent, because the channel did not take them in time.
struct LinesLeftOut {
  size_t count = 0;
};
struct TaskEnded {
  size_t task = 0;
  ProcessEnd end;
  std::string report;  // see TaskEnd
};
struct TaskOutputEnded {
  size_t task = 0;
};
using AgentEvent = std::variant<NodeHello, NodeAlive, NodeStopping, NodePrepared, NodeRefused, TaskStarted,
                                TaskStartFailed, TaskLine, LinesLeftOut, TaskEnded, TaskOutputEnded>;

// A message with the node of its agent.
template <typename Message>
struct Addressed {
  std::string node;
  Message message;
};

// A line of JSON, with its newline.
std::string ToLine(const std::string& node, const AgentRequest& request);
std::string ToLine(const std::string& node, const AgentEvent& event);
// InvalidArgument for anything that ToLine does not write.
StatusOr<Addressed<AgentRequest>> ParseAgentRequest(std::string_view line);
StatusOr<Addressed<AgentEvent>> ParseAgentEvent(std::string_view line);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_AGENT_MESSAGES_H_
