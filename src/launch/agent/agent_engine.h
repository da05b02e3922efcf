// Runs the tasks of a job on machines where an agent starts them (agent.h).
#ifndef TENSORBRAID_LAUNCH_AGENT_AGENT_ENGINE_H_
#define TENSORBRAID_LAUNCH_AGENT_AGENT_ENGINE_H_

#include <chrono>
#include <csignal>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/system/fd.h"
#include "launch/agent/agent_channel.h"
#include "launch/agent/agent_messages.h"
#include "launch/agent/agent_nodes.h"
#include "launch/agent/agent_seal.h"
#include "launch/agent/message_pieces.h"
#include "launch/credentials/job_credentials.h"
#include "launch/engines/engine.h"

namespace tensorbraid {

// One command that starts the agents of all nodes (`tensorbraid agent --shared`), gives its standard input to each of
// them and merges their output, line by line. It may also say hello for its agents, and refuse the job: by a
// NodeRefused of the node "".
struct SharedChannel {
  std::string engine;                // "Slurm"
  std::vector<std::string> command;  // "srun" ...
  std::string speaker = "";          // whose words its standard error is; "": those of command[0]
  int agents = 1;
  int spares = 0;  // how many of them, the last ones, run nothing until another one is lost
  // The channel starts another agent in place of one that is lost (ReplaceNode).
  bool replaces = false;
  std::string request = "";  // what the engine is asked for; "": as many nodes
  // How many tasks each node may run, in the order of their agents' ranks; 0: any number. The last one counts for all
  // further nodes; empty: any number.
  std::vector<int> slots = {};
  int SlotsOf(int node) const;
  std::string room_hint = "";  // how the user gets room for more tasks
  // What a user can try when the command fails with an error, by a part of its text.
  std::vector<std::pair<std::string, std::string>> error_hints = {};
  // The engine's signals reach the agents only, and not all processes.
  bool signals_agents_only = false;
  // Requests carry proofs, and so do the agents' requests for certificates. Null: the channel keeps others out itself.
  std::shared_ptr<AgentSeal> seal = nullptr;
  // How often agents say that they are there. One that says nothing for six times as long is lost.
  std::chrono::milliseconds alive{5000};
  // Prints the state of the engine's job of this number. It is asked before a silent agent counts as lost; null: not. A
  // job in the state `suspended_state` is silent, but not lost; `resume_command` and the number end that.
  std::function<std::vector<std::string>(const std::string&)> state_command = nullptr;
  std::string suspended_state = "";
  std::string resume_command = "";
};

struct AgentEngineOptions {
  std::vector<AgentNode> nodes;
  // Machines in place of those that cannot be reached again, if they have as many slots as tasks ran there.
  std::vector<AgentNode> spares = {};
  // The command that starts the agent of a node, and passes its standard input and output on.
  std::function<std::vector<std::string>(const AgentNode&)> command;
  // Instead of both: the agents tell which nodes there are.
  std::optional<SharedChannel> shared = std::nullopt;
  std::string version;    // of this program
  std::string directory;  // the working directory of the tasks; "" for that of the agents
  // Files that must be the same on all machines where they exist, such as the program.
  std::vector<std::string> checked_files = {};
  // Signs the certificates of the nodes, whose tasks get them as files. Null: the tasks get none.
  std::shared_ptr<const JobCredentials> credentials = nullptr;
  // The signal that a command gets when this process is killed (AgentChannel::Open). The agents end in any case,
  // because their input ends.
  int death_signal = SIGKILL;
  // What a user can try when a machine cannot be reached, with the node's name in place of NODE.
  std::string hint = "";
  // If each agent has a channel of its own: the period in which an agent sends NodeAlive. An agent that sends no
  // message for six periods is lost, and so is an agent that is started again and does not answer for so long. 0: an
  // agent is lost only when its channel ends. (A shared channel has its own value.)
  std::chrono::milliseconds alive{0};
  // The launcher sends LauncherAlive in the same periods. An agent that has received no message for `silence` ends its
  // tasks: by SIGTERM, and after `stop_grace` by SIGKILL. 0: never. A short `silence` shortens the periods.
  std::chrono::milliseconds silence{120'000};
  std::chrono::milliseconds stop_grace{30'000};
};

// Sets `credentials` to those of a new authority.
Status AddJobCredentials(AgentEngineOptions* options);

// Makes the last `count` of the nodes spares. InvalidArgument if no other one is left.
Status SetSpares(int count, AgentEngineOptions* options);

// An agent for each node that runs tasks. When an agent is lost, its tasks are.
//
// If each agent has a channel of its own, an agent is lost when its channel ends or, with AgentEngineOptions::alive,
// when it is silent. The engine starts the agent again, with the same ports, when one of its tasks is to be started
// again; if that fails, it tries the spare machines. If all agents share a channel, an agent is lost when it is silent
// or the channel reports the loss. The loss is final, unless there is a spare agent or the channel starts another one.
// All tasks of a machine go to the same other one, and the tasks that run are told their new addresses (MovesFile).
class AgentEngine final : public Engine {
 public:
  explicit AgentEngine(AgentEngineOptions options);
  ~AgentEngine() override;

  StatusOr<std::string> Describe(const std::vector<std::string>& tasks) const override;
  void Place(const std::vector<std::string>& tasks, EngineListener* listener) override;
  bool PlaceAgain(size_t task) override;
  void Start(size_t task, const ProgramCall& call, bool knows_flags) override;
  void Signal(size_t task, int signal) override;
  void CloseOutput(size_t task) override;
  void AddEvents(std::vector<pollfd>* events) override;
  void Handle() override;

 private:
  struct Node;

  // A channel that all share (agent_engine_shared.cc).
  void OpenShared();
  void OnHello(const std::string& name, const NodeHello& hello);
  void OnSharedLine(std::string_view line);
  void OnSharedEnd(const std::string& how);

  // Where the nodes and their channels come from.
  StatusOr<std::vector<size_t>> Assign(const std::vector<AgentNode>& nodes, size_t tasks) const;
  void Connect(Node& node);
  void Prepare(Node& node);

  // The agent's channel has ended, or it says nothing, or has refused the node. Its tasks are lost.
  void Disconnect(Node& node, const std::string& why, absl::StatusCode code = absl::StatusCode::kUnavailable);
  void Send(Node& node, const AgentRequest& request);
  AgentChannel& ChannelOf(Node& node);
  void OnLine(Node& node, std::string_view line);
  // Silent agents (agent_engine_silence.cc).
  std::chrono::milliseconds alive() const;  // how often agents say that they are there; 0: never
  Status StartAliveTimer();
  void OnAliveTimer();
  void TellThatItIsThere();
  bool IsSilent(const Node& node) const;
  void AskForState();
  void OnState();
  void LoseSilentNodes();
  void OnMessage(Node& node, const AgentEvent& event);
  void OnPrepared(Node& node, const NodePrepared& prepared);
  TaskPlace PlaceOf(const Node& node, size_t nth) const;  // of its n-th task

  // Other machines (agent_engine_moves.cc).
  bool tasks_move() const;
  // The tasks of this node that was lost could run on another one.
  bool CanReplace(const Node& node) const;
  // Turns to the next machine for the tasks of a node that was lost. False if there is none.
  bool Replace(Node& node);
  std::optional<size_t> SpareFor(const Node& node) const;  // a node of a shared channel
  void FinishAwaiting(Node& node, const std::string& why);
  // The node is prepared anew, so its tasks can be started again.
  void OnPreparedAgain(Node& node);
  Status CheckNodes() const;
  bool IsReady(const Node& node) const;

  const AgentEngineOptions options_;
  EngineListener* listener_ = nullptr;
  std::optional<AgentChannel> shared_;
  PieceJoiner pieces_;
  Fd alive_timer_;
  std::string job_;  // what the engine calls the job; "" if no agent has told
  AgentChannel state_;
  std::string state_text_;  // what it has printed
  bool is_suspended_ = false;
  std::deque<Node> nodes_;           // those that run tasks; of a shared channel, all that have said hello
  std::vector<AgentNode> spares_;    // without a connection
  std::vector<Node*> node_of_task_;  // by number
  std::vector<TaskPlace> places_;    // of the tasks
  AddressMoves moves_;
  std::vector<std::string> names_;  // of the tasks
  // Of each task. A task is running from Start on, also while its node is connected again.
  std::vector<bool> is_running_, has_started_, has_output_;
  bool placed_ = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_AGENT_ENGINE_H_
