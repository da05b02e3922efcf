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

// Does what the launcher asks until the requests end, or SIGTERM or SIGHUP arrives. Then the tasks get SIGTERM, and
// those that still run 1.5 s later are killed. The same happens when the launcher has said nothing for a while, which
// it chooses (PrepareNode; before that, 120 s): it does so regularly, and its silence means that its machine or the
// network is gone. The tasks then have as long to save as the launcher would give them. (An agent with a rank only
// reports the two signals: an engine sends them to all processes, and the launcher decides what they mean. If that is
// SIGTERM, a task that has got it from the engine, or gets it within a second, does not get it again.) Nothing is left
// of them, nor of their keys: these are in a folder of mode 0700, which is removed at the end. (Folders of agents that
// were killed are removed by the next agent of the same user.) Blocks the three signals SIGINT, SIGTERM and SIGHUP, and
// ignores SIGPIPE. Call from a program with one thread.
//
// The system's error if signals cannot be watched. Everything else is told to the launcher.
Status RunAgent(const AgentOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_AGENT_H_
