// Which error a step reports when the loss of a task cancels its other parts.
#include <gtest/gtest.h>

#include <thread>

#include "cluster/master_step.h"
#include "cluster/worker.h"
#include "core/device_name.h"
#include "core/error_rank.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/data_flow_ops.h"

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

class StepErrorsTest : public ::testing::Test {
 protected:
  static constexpr StepId kStep{7, 1};
  static constexpr SessionId kSession{7, 1};

  const DeviceName cpu_ = *DeviceName::Parse("/job:ps/replica:0/task:0/device:CPU:0");
  ResourceManager resources_;
  ThreadPool pool_{"test", 2};
  Exchange exchange_{{}, [](const std::string&, auto done) { done(Unavailable("no links")); }};
  const std::unique_ptr<DeviceSet> devices_ = *DeviceSet::Create({});
  Worker worker_{{cpu_}, devices_.get(), &resources_, &pool_, &exchange_};
  Master master_{"/job:worker/replica:0/task:0", 7, &worker_, &exchange_, nullptr, {}, {}, std::chrono::seconds(5)};
  std::shared_ptr<StoringLink> ps0_ = std::make_shared<StoringLink>("/job:ps/replica:0/task:0");
  std::shared_ptr<StoringLink> ps1_ = std::make_shared<StoringLink>("/job:ps/replica:0/task:1");

  std::shared_ptr<MasterSession::Step> NewStep() {
    exchange_.Begin(kStep);
    return std::make_shared<MasterSession::Step>(&master_, kStep, kSession,
                                                 std::vector<std::shared_ptr<Link>>{ps0_, ps1_}, StepOptions{});
  }
};

TEST_F(StepErrorsTest, AWaitInAQueueThatTheLossOfATaskCancelsReportsTheLoss) {
  auto partition = std::make_unique<Graph>();
  {
    auto device = partition->Device(cpu_.ToString());
    FIFOQueue(*partition, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "tokens"}).Dequeue();
  }
  ASSERT_TRUE(partition->status().ok()) << partition->status();
  const auto master = std::make_shared<StoringLink>("/job:worker/replica:0/task:0", kStep.master);
  ASSERT_TRUE(worker_.Register(kSession, 1, std::move(partition), false).ok());
  ASSERT_TRUE(worker_.OnMessage(master, RunGraph{.step = kStep, .session = kSession, .handle = 1}));
  // Another node of the step uses the task that is lost.
  exchange_.Find(kStep)->Recv({.number = 0, .peer = ps1_->peer().task}, {}, [](const StatusOr<Tensor>&) {});
  exchange_.OnLinkDown(*ps1_, Unavailable("ps/1 is gone"));
  const Status reported = master->WaitForMessage<StepDone>().status;
  EXPECT_EQ(reported.code(), StatusCode::kUnavailable) << reported;
  exchange_.End(kStep);
}

TEST_F(StepErrorsTest, TheLossOfATaskReplacesTheCancellationThatItHasCausedElsewhere) {
  const auto step = NewStep();
  step->OnRemoteDone(ps0_, Cancelled("queue 'tokens': the step ended: ps/1 is gone"), "");
  step->OnLocalDone(Cancelled("queue 'tokens': the step ended: ps/1 is gone"), {});
  step->OnLinkDown(ps1_, Unavailable("ps/1 is gone"));
  EXPECT_EQ(step->TakeResult().status(), Unavailable("ps/1 is gone"));
}

TEST_F(StepErrorsTest, AnAbortByTheClientIsNotReplacedByTheErrorsThatItCauses) {
  const auto step = NewStep();
  step->Abort(DeadlineExceeded("late"));
  step->OnRemoteDone(ps0_, InvalidArgument("ps/0 has failed"), "");
  step->OnLinkDown(ps1_, Unavailable("ps/1 is gone"));
  step->OnLocalDone(Cancelled("the step was cancelled"), {});
  EXPECT_EQ(step->TakeResult().status(), DeadlineExceeded("late"));
}

TEST_F(StepErrorsTest, AnAbortByTheClientDoesNotReplaceAnEarlierError) {
  const auto step = NewStep();
  step->OnLinkDown(ps1_, Unavailable("ps/1 is gone"));
  step->Abort(DeadlineExceeded("late"));
  step->OnRemoteDone(ps0_, Cancelled("the step was cancelled"), "");
  step->OnLocalDone(Cancelled("the step was cancelled"), {});
  EXPECT_EQ(step->TakeResult().status(), Unavailable("ps/1 is gone"));
}

}  // namespace
}  // namespace tensorbraid
