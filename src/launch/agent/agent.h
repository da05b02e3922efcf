// The part of a job on one machine: starts and watches tasks for a launcher elsewhere (`tensorbraid agent`).
#ifndef TENSORBRAID_LAUNCH_AGENT_AGENT_H_
#define TENSORBRAID_LAUNCH_AGENT_AGENT_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct AgentOptions {
  std::string node;     // requests for other nodes are ignored
  std::string version;  // of this program; a launcher with another one is refused
  // Several agents share the channel: the agent announces itself (NodeHello) as the one with this rank, cuts its lines
  // into pieces (message_pieces.h), and says regularly that it is there. -1: it has a channel of its own.
  int rank = -1;
  // Requests must carry proofs of MUNGE for the launch of this name (agent_seal.h), and the answer that asks for a
  // certificate gets one. "": the channel keeps others out itself.
  std::string munge = "";
  // File descriptors of requests and events (agent_messages.h). RunAgent does not close them.
  int in_fd = 0;
  int out_fd = 1;
};

// Does what the launcher asks, until its requests end or SIGTERM or SIGHUP arrives. Then sends SIGTERM to the tasks,
// and kills those that still run 1.5 s later. An agent with a rank only reports the two signals: an engine sends them
// to all processes, and the launcher decides what they mean. If it decides for SIGTERM, a task that has got this signal
// from the engine, or gets it within a second, does not get it again.
//
// Also ends the tasks when the launcher has been silent for the time in PrepareNode (before that message, for 120 s):
// its machine or the network is gone then. These tasks have as long to save as after a SIGTERM of the launcher.
//
// Leaves neither tasks nor keys behind: the keys are in a folder of mode 0700, which is removed at the end. Also
// removes the folders that killed agents of the same user have left. Blocks the signals SIGINT, SIGTERM and SIGHUP, and
// ignores SIGPIPE. Call from a program with one thread.
//
// The system's error if signals cannot be watched. Everything else is told to the launcher.
Status RunAgent(const AgentOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_AGENT_H_
