// Runs the tasks of a job on machines where an agent starts them (agent.h).
#ifndef TENSORBRAID_CLI_LAUNCH_AGENT_ENGINE_H_
#define TENSORBRAID_CLI_LAUNCH_AGENT_ENGINE_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch/agent_messages.h"
#include "cli/launch/engine.h"
#include "cli/launch/line_splitter.h"

namespace tensorbraid {

// A machine of the job.
struct AgentNode {
  std::string name;  // as the user calls it
  std::string host;  // how the other machines reach it
  int slots = 0;     // how many tasks it may run; 0: any number
};

// For each of `tasks` tasks, the node that runs it. Each task goes to the node that has the fewest so far, among those
// with a free slot; the first of them if there are several. So parameter servers, which come first, are spread.
// InvalidArgument if there are fewer slots than tasks.
StatusOr<std::vector<size_t>> AssignNodes(const std::vector<AgentNode>& nodes, size_t tasks);

struct AgentEngineOptions {
  std::vector<AgentNode> nodes;
  // The command that starts the agent of a node, and passes its standard input and output on.
  std::function<std::vector<std::string>(const AgentNode&)> command;
  std::string version;    // of this program
  std::string directory;  // the working directory of the tasks; "" for that of the agents
  // Files that must be the same on all machines where they exist, such as the program.
  std::vector<std::string> checked_files = {};
  // The contents of files for the tasks of a node, by the flag that tells a task their path: tls_key, token_file. Null:
  // none.
  std::function<StatusOr<std::map<std::string, std::string>>(const AgentNode&)> files = nullptr;
  // What a user can try when a machine cannot be reached, with the node's name in place of NODE.
  std::string hint = "";
};

// An agent for each node that runs tasks, over a child process of this one. When an agent's connection ends, its tasks
// count as lost. To start one of them again, the engine first starts an agent again, which takes the same ports.
class AgentEngine final : public Engine {
 public:
  explicit AgentEngine(AgentEngineOptions options);
  ~AgentEngine() override;

  StatusOr<std::string> Describe(const std::vector<std::string>& tasks) const override;
  void Place(const std::vector<std::string>& tasks, EngineListener* listener) override;
  void Start(size_t task, const ProgramCall& call, bool knows_flags) override;
  void Signal(size_t task, int signal) override;
  void CloseOutput(size_t task) override;
  void AddEvents(std::vector<pollfd>* events) override;
  void Handle() override;

 private:
  struct Node;

  void Connect(Node& node);
  // The agent's connection has ended, or the agent has refused the node. Its tasks are lost.
  void Disconnect(Node& node, const std::string& why, absl::StatusCode code = absl::StatusCode::kUnavailable);
  void Send(Node& node, const AgentRequest& request);
  void Write(Node& node);
  void Read(Node& node);
  void OnMessage(Node& node, const AgentEvent& event);
  void OnPrepared(Node& node, const NodePrepared& prepared);
  Status CheckNodes() const;

  const AgentEngineOptions options_;
  EngineListener* listener_ = nullptr;
  std::deque<Node> nodes_;           // those that run tasks
  std::vector<Node*> node_of_task_;  // by number
  std::vector<std::string> names_;   // of the tasks
  // Of each task. A task is running from Start on, also while its node is connected again.
  std::vector<bool> is_running_, has_started_, has_output_;
  bool placed_ = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_AGENT_ENGINE_H_
