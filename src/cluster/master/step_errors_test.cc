// Tests which error a step reports when the loss of a task cancels the step's other parts.
#include <gtest/gtest.h>

#include <thread>

#include "cluster/master/master_step.h"
#include "cluster/peer/link_worker.h"
#include "cluster/worker/worker.h"
#include "core/errors/error_rank.h"
#include "core/errors/interruption.h"
#include "core/system/clock.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "graph/model/node_status.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

// A link that stores the messages sent on it. Thread-safe.
class StoringLink final : public Link {
 public:
  explicit StoringLink(const std::string& peer, uint64_t incarnation = 0) {
    hello_.task = peer;
    hello_.incarnation = incarnation;
  }
  const Hello& peer() const override { return hello_; }
  void Send(Message message) override {
    MutexLock lock(mu_);
    sent_.push_back(std::move(message));
    cv_.NotifyAll();
  }
  void Close(Status) override {}

  template <typename M>
  M WaitForMessage() {
    MutexLock lock(mu_);
    const M* found = nullptr;
    cv_.Wait(mu_, [&]() TB_REQUIRES(mu_) {
      for (const Message& m : sent_) {
        if ((found = std::get_if<M>(&m)) != nullptr) return true;
      }
      return false;
    });
    return *found;
  }

 private:
  Hello hello_;
  Mutex mu_;
  CondVar cv_;
  std::vector<Message> sent_ TB_GUARDED_BY(mu_);
};

TEST(ErrorRankTest, ACauseReplacesItsConsequencesAndTheFirstOfEqualsStays) {
  // Each error is more likely to be the cause than those before it (core/errors/error_rank.h).
  const Status errors[] = {Cancelled("cancelled"), Aborted("aborted"), Unavailable("lost"), InvalidArgument("wrong")};
  for (size_t i = 0; i < std::size(errors); ++i) {
    for (size_t j = 0; j < std::size(errors); ++j) {
      Status kept = errors[i];
      KeepCause(errors[j], &kept);
      EXPECT_EQ(kept, errors[std::max(i, j)]);
    }
    Status kept = errors[i];
    KeepCause(OkStatus(), &kept);
    EXPECT_EQ(kept, errors[i]);
    KeepCause(Status(errors[i].code(), "later"), &kept);
    EXPECT_EQ(kept, errors[i]);
  }
}

// Numbers each parameter server by its index, and has no links.
class NoLinks final : public PeerLinks {
 public:
  StatusOr<uint32_t> NumberOf(const std::string& task) override { return static_cast<uint32_t>(task.back() - '0'); }
  void GetConnection(uint32_t, ConnectionDone done) override { done(Unavailable("no links")); }
};

class StepErrorsTest : public ::testing::Test {
 protected:
  static constexpr StepId kStep{7, 1};
  static constexpr SessionId kSession{7, 1};

  const DeviceName cpu_ = *DeviceName::Parse("/job:ps/replica:0/task:0/device:CPU:0");
  NoLinks links_;
  Exchange exchange_{{}, kStep.master, &links_};
  const std::unique_ptr<WorkerEnv> worker_env_ = WorkerEnv::Create({.num_threads = 2}).value();
  Worker worker_{{cpu_}, worker_env_.get(), &exchange_};
  MasterEnv env_{{.task = "/job:worker/replica:0/task:0",
                  .incarnation = kStep.master,
                  .worker = &worker_,
                  .exchange = &exchange_}};
  std::shared_ptr<StoringLink> ps1_link_ = std::make_shared<StoringLink>("/job:ps/replica:0/task:1");
  std::shared_ptr<LinkWorker> ps0_ =
      std::make_shared<LinkWorker>(std::make_shared<StoringLink>("/job:ps/replica:0/task:0"));
  std::shared_ptr<LinkWorker> ps1_ = std::make_shared<LinkWorker>(ps1_link_);

  std::shared_ptr<MasterStep> NewStep() {
    auto step = std::make_shared<MasterStep>(&env_, kSession, /*local=*/nullptr,
                                             std::vector<std::shared_ptr<RemoteWorker>>{ps0_, ps1_}, StepOptions{});
    exchange_.Begin(step->id);
    return step;
  }
};

TEST_F(StepErrorsTest, WhenATaskIsLostAWaitInAQueueFailsWithTheLoss) {
  auto partition = std::make_unique<Graph>();
  {
    auto device = partition->Device(cpu_.ToString());
    FIFOQueue(*partition, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "tokens"}).Dequeue();
  }
  ASSERT_TRUE(partition->status().ok()) << partition->status();
  const auto master = std::make_shared<StoringLink>("/job:worker/replica:0/task:0", kStep.master);
  ASSERT_TRUE(
      worker_.Register(kSession, 1, std::move(partition), /*isolated_state=*/false, /*limited_files=*/false).ok());
  worker_.OnRunGraph(master, RunGraph{.step = kStep, .session = kSession, .handle = 1});
  // Another node of the step uses the task that is lost.
  exchange_.Find(kStep)->Recv({.number = 0, .peer = 1}, {}, [](const StatusOr<Tensor>&) {});
  exchange_.OnLinkDown(ps1_link_->peer(), Unavailable("ps/1 is gone"));
  const Status reported = master->WaitForMessage<StepDone>().status;
  EXPECT_EQ(reported.code(), StatusCode::kUnavailable) << reported;
  exchange_.End(kStep);
}

TEST_F(StepErrorsTest, TheLossOfATaskReplacesTheCancellationThatItHasCausedElsewhere) {
  const auto step = NewStep();
  step->OnPartDone(*ps0_, Cancelled("queue 'tokens': the step ended: ps/1 is gone"), "");
  step->OnLocalDone(Cancelled("queue 'tokens': the step ended: ps/1 is gone"), {});
  step->OnPartDone(*ps1_, Unavailable("ps/1 is gone"), "");
  EXPECT_EQ(step->TakeResult().status(), Unavailable("ps/1 is gone"));
}

TEST_F(StepErrorsTest, AnAbortByTheClientIsNotReplacedByTheErrorsThatItCauses) {
  const auto step = NewStep();
  step->Abort(DeadlineExceeded("late"));
  step->OnPartDone(*ps0_, InvalidArgument("ps/0 has failed"), "");
  step->OnPartDone(*ps1_, Unavailable("ps/1 is gone"), "");
  step->OnLocalDone(Cancelled("the step was cancelled"), {});
  EXPECT_EQ(step->TakeResult().status(), DeadlineExceeded("late"));
}

TEST_F(StepErrorsTest, AnAbortByTheClientDoesNotReplaceAnEarlierError) {
  const auto step = NewStep();
  step->OnPartDone(*ps1_, Unavailable("ps/1 is gone"), "");
  step->Abort(DeadlineExceeded("late"));
  step->OnPartDone(*ps0_, Cancelled("the step was cancelled"), "");
  step->OnLocalDone(Cancelled("the step was cancelled"), {});
  EXPECT_EQ(step->TakeResult().status(), Unavailable("ps/1 is gone"));
}

TEST_F(StepErrorsTest, AStepThatIsLateNamesTheNodesThatWereWaitingAndWhatFor) {
  const auto step = NewStep();
  step->Abort(LateStep());
  Graph graph;
  const Output tokens = FIFOQueue(graph, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "tokens"}).Dequeue()[0];
  const Node& node = *NodeOf(tokens);
  const Status waited = Interrupted("queue 'tokens'", "the step ended: too late");
  step->OnPartDone(*ps0_, Annotate(AtNode(waited, node), "ps/0"), "");
  step->OnPartDone(*ps1_, Annotate(AtNode(Cancelled("the words: the step was cancelled"), node), "ps/1"), "");
  EXPECT_EQ(step->LateStatus(), Annotate(LateStep(), StrCat("waiting in ps/0: ", node.Describe(),
                                                            ": queue 'tokens', ps/1: ", node.Describe(),
                                                            ": the words: the step was cancelled")));
}

// A worker that is reached without a link. It records what it is told, and fails a step at once if `error` is set.
class RecordingWorker final : public RemoteWorker {
 public:
  explicit RecordingWorker(std::string task, Status error = OkStatus())
      : task_(std::move(task)), error_(std::move(error)) {}
  const std::string& task() const override { return task_; }
  uint64_t incarnation() const override { return 1; }
  Status state() const override { return OkStatus(); }
  void RegisterGraph(SessionId, uint64_t, const std::string&, bool, bool, Done done) override { done(OkStatus()); }
  void DeregisterGraph(SessionId, uint64_t) override {}
  void CloseSession(SessionId) override {}
  void ResetContainers(const std::vector<std::string>&, Done done) override { done(OkStatus()); }
  void GetReport(tensorbraid::GetReport, ReportDone done) override { done(OkStatus(), ""); }
  void RunGraph(StepId, SessionId, uint64_t, bool, std::shared_ptr<StepListener> listener) override {
    calls.emplace_back("run");
    listener_ = std::move(listener);
    if (!error_.ok()) End(error_);
  }
  void AbortStep(StepId, const Status&) override { calls.emplace_back("abort"); }
  void EndStep(StepId) override {
    calls.emplace_back("end");
    listener_ = nullptr;
  }
  void End(const Status& status) {
    const auto listener = listener_;  // EndStep drops it
    listener->OnPartDone(*this, status, "");
  }
  std::vector<std::string> calls;

 private:
  const std::string task_;
  const Status error_;
  std::shared_ptr<StepListener> listener_;
};

TEST_F(StepErrorsTest, AWorkerThatIsStartedAfterTheStepHasFailedIsToldToStop) {
  const auto failing = std::make_shared<RecordingWorker>("/job:ps/replica:0/task:0", Unavailable("ps/0 is gone"));
  const auto second = std::make_shared<RecordingWorker>("/job:ps/replica:0/task:1");
  const auto local =
      worker_.Register(kSession, 1, std::make_unique<Graph>(), /*isolated_state=*/false, /*limited_files=*/false)
          .value();
  const auto step = std::make_shared<MasterStep>(
      &env_, kSession, local->executor(), std::vector<std::shared_ptr<RemoteWorker>>{failing, second}, StepOptions{});
  step->Run(1, {});
  // The first abort comes before the step has begun on this worker, so it does not reach the step.
  EXPECT_EQ(second->calls, (std::vector<std::string>{"abort", "run", "abort"}));
  second->End(Cancelled("the step was aborted"));
  EXPECT_TRUE(step->WaitUntil(MonotonicClock::now() + std::chrono::seconds(30)));
  EXPECT_EQ(step->TakeResult().status(), Unavailable("ps/0 is gone"));
  EXPECT_EQ(second->calls.back(), "end");
}

}  // namespace
}  // namespace tensorbraid
