// Trains a model with dropout, a shuffled input and Adam's slots, in this process or, with the flags of a cluster, as a
// task of that cluster. It saves a checkpoint every 4 steps. At the step --hold_at it prints "holds" and makes no
// further step until it is killed, or until its parameter server has come back with the values of a checkpoint.
#include <chrono>
#include <cstdio>

#include "tensorbraid/tensorbraid.h"
#include "train/checkpoints/random_training_testutil.h"

namespace tensorbraid {
namespace {

struct ResumeFlags {
  std::string checkpoint_dir;
  bool save_random_state;
  int64_t steps;
  int64_t hold_at;
};

Status Train(const ResumeFlags& flags, const ClusterSpec* cluster, const std::string& master) {
  RandomTraining training(/*seeded=*/true, cluster);
  TF_ASSIGN_OR_RETURN(auto session,
                      MonitoredTrainingSession(training.g, {.master = master,
                                                            .hooks = {StopAtStep(flags.steps)},
                                                            .checkpoint_dir = flags.checkpoint_dir,
                                                            .save_checkpoint_every_steps = 4,
                                                            .save_random_state = flags.save_random_state,
                                                            .input_initializers = {training.start_input}}));
  bool has_held = false;
  while (!session->ShouldStop()) {
    TF_RETURN_IF_ERROR(session->Run({training.train}).status());
    TF_ASSIGN_OR_RETURN(auto values, session->Run({training.global_step}));
    if (has_held || values[0].scalar<int64_t>() != flags.hold_at) continue;
    has_held = true;
    std::printf("holds\n");
    std::fflush(stdout);
    while (values[0].scalar<int64_t>() >= flags.hold_at) {
      TF_ASSIGN_OR_RETURN(values, session->Run({training.global_step}));
    }
  }
  return session->Close();
}

Status Main(int argc, char** argv) {
  Flags flags("A task for tests of resuming.");
  auto& task = flags.DefineTask(/*required=*/false);
  auto& checkpoint_dir = flags.Define("checkpoint_dir", "", "directory of the checkpoints");
  auto& save_random_state =
      flags.Define("save_random_state", true, "whether checkpoints have the states of random ops");
  auto& steps = flags.Define("steps", 15, "the last step");
  auto& hold_at = flags.Define("hold_at", 0, "the step to hold at; 0: none");
  flags.ParseOrExit(argc, argv);
  const ResumeFlags resume{checkpoint_dir, save_random_state, steps, hold_at};
  if (!task.has_cluster()) return Train(resume, nullptr, "");
  auto options = task.server_options();
  options.heartbeat_interval = std::chrono::milliseconds(100);
  options.heartbeat_timeout = std::chrono::milliseconds(2000);
  // The test starts a killed task again, so the others must not give it up for lost.
  options.lost_after = std::chrono::milliseconds(600'000);
  TF_ASSIGN_OR_RETURN(auto server, Server::Create(task.cluster(), options));
  return task.job_name == "ps" ? server->Join() : Train(resume, &task.cluster(), server->target());
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) { return tensorbraid::ExitCode(tensorbraid::Main(argc, argv)); }
