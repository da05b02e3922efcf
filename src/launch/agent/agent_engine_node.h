// A place for tasks, as an AgentEngine sees it.
#ifndef TENSORBRAID_LAUNCH_AGENT_AGENT_ENGINE_NODE_H_
#define TENSORBRAID_LAUNCH_AGENT_AGENT_ENGINE_NODE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launch/agent/agent_channel.h"
#include "launch/agent/agent_engine.h"
#include "launch/agent/agent_nodes.h"

namespace tensorbraid {

// The tasks stay; the machine may become another one.
struct AgentEngine::Node {
  AgentNode what;
  std::vector<size_t> tasks = {};  // their numbers
  std::vector<int> ports = {};     // of the tasks, once they are known
  std::map<std::string, std::string> checksums = {};
  std::unique_ptr<AgentChannel> channel = nullptr;  // if it has one of its own
  bool is_prepared = false;
  std::vector<size_t> awaiting = {};  // tasks for which the launcher has asked for a place
  bool is_coming = false;             // the agent for them is on its way
  int tries = 0;                      // how many further machines it is looked for on
  // Of a node of a shared channel.
  int rank = 0;
  int silent = 0;  // how often it was looked at since it has said something
  bool is_gone = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_AGENT_ENGINE_NODE_H_
