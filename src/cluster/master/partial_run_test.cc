// Tests partial runs: steps that are fed and fetched in several calls.
#include "cluster/master/partial_run.h"

#include <gtest/gtest.h>

#include <optional>

#include "cluster/master/master_step.h"
#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "graph/model/node_status.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

constexpr const char* kPs = "/job:ps/task:0";
constexpr const char* kWorker = "/job:worker/task:0";
using Result = StatusOr<std::vector<Tensor>>;

bool Contains(const Status& status, const std::string& part) {
  return std::string(status.message()).find(part) != std::string::npos;
}

// The result of one call, once it has come.
struct Answer {
  Mutex mu;
  CondVar cv;
  std::optional<Result> result TB_GUARDED_BY(mu);

  bool has_come() {
    MutexLock lock(mu);
    return result.has_value();
  }
  Result Wait() {
    MutexLock lock(mu);
    cv.Wait(mu, [this]() TB_REQUIRES(mu) { return result.has_value(); });
    return *result;
  }
};

class PartialRunTest : public ::testing::Test {
 protected:
  // (a + b) on the parameter server, times c on the worker.
  PartialRunTest() {
    a_ = Placeholder(g_, kFloat32, {}, "a");
    b_ = Placeholder(g_, kFloat32, {}, "b");
    c_ = Placeholder(g_, kFloat32, {}, "c");
    {
      auto scope = g_.Device(kPs);
      sum_ = a_ + b_;
    }
    auto scope = g_.Device(kWorker);
    product_ = sum_ * c_;
  }

  std::shared_ptr<PartialRun> SetUpRun(std::vector<Output> feeds, std::vector<Output> fetches,
                                       const std::string& job = "worker") {
    session_ = cluster_.task(job, 0).master().NewSession(&g_, {});
    const RunSignature signature{
        .feeds = std::move(feeds), .fetches = std::move(fetches), .targets = {}, .by_client_edges = true};
    return std::make_shared<PartialRun>(session_, signature,
                                        session_->Prepare(signature, MasterSession::Deadline::max()));
  }
  static std::shared_ptr<Answer> Start(PartialRun& run, const std::vector<std::pair<Output, float>>& feeds,
                                       std::vector<Output> fetches) {
    PartialRun::Part part{.feeds = {}, .values = {}, .fetches = std::move(fetches)};
    for (const auto& [output, value] : feeds) {
      part.feeds.push_back(output);
      part.values.push_back(Tensor::Scalar(value));
    }
    auto answer = std::make_shared<Answer>();
    const auto done = [answer](Result result) {
      MutexLock lock(answer->mu);
      answer->result = std::move(result);
      answer->cv.NotifyAll();
    };
    if (const Status accepted = run.Accept(part); !accepted.ok()) {
      done(accepted);
    } else if (const auto step = run.Begin(MasterSession::Deadline::max()); !step.ok()) {
      done(step.status());
    } else {
      run.Continue(std::move(part), done);
    }
    return answer;
  }
  static Result Call(PartialRun& run, const std::vector<std::pair<Output, float>>& feeds, std::vector<Output> fetches) {
    return Start(run, feeds, std::move(fetches))->Wait();
  }
  static float Value(const Result& result) {
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)[0].scalar<float>() : -1;
  }

  TestCluster cluster_{1, 1};
  Graph g_;
  Output a_, b_, c_, sum_, product_;
  std::shared_ptr<MasterSession> session_;
};

TEST_F(PartialRunTest, FeedsAndFetchesComeInSeveralCallsAcrossTasks) {
  for (const char* master : {"worker", "ps"}) {
    auto run = SetUpRun({a_, b_, c_}, {sum_, product_}, master);
    EXPECT_EQ(Value(Call(*run, {{a_, 1}, {b_, 2}}, {sum_})), 3);
    EXPECT_FALSE(run->is_over());
    EXPECT_EQ(Value(Call(*run, {{c_, 5}}, {product_})), 15);
    EXPECT_TRUE(run->is_over());
  }
}

TEST_F(PartialRunTest, ACallMayFetchWhatEarlierCallsMadeComputable) {
  auto run = SetUpRun({a_, b_}, {sum_, a_});
  EXPECT_TRUE(Call(*run, {{a_, 1}}, {}).ok());
  EXPECT_TRUE(Call(*run, {{b_, 2}}, {}).ok());
  EXPECT_EQ(Value(Call(*run, {}, {a_})), 1);
  EXPECT_EQ(Value(Call(*run, {}, {sum_})), 3);
  EXPECT_TRUE(run->is_over());
}

TEST_F(PartialRunTest, RunsOfOneSignatureAreIndependent) {
  auto one = SetUpRun({a_, b_, c_}, {sum_, product_});
  const RunSignature signature{
      .feeds = {a_, b_, c_}, .fetches = {sum_, product_}, .targets = {}, .by_client_edges = true};
  auto other =
      std::make_shared<PartialRun>(session_, signature, session_->Prepare(signature, MasterSession::Deadline::max()));
  EXPECT_EQ(Value(Call(*one, {{a_, 1}, {b_, 1}}, {sum_})), 2);
  EXPECT_EQ(Value(Call(*other, {{a_, 2}, {b_, 2}}, {sum_})), 4);
  EXPECT_EQ(Value(Call(*one, {{c_, 10}}, {product_})), 20);
  EXPECT_EQ(Value(Call(*other, {{c_, 10}}, {product_})), 40);
}

TEST_F(PartialRunTest, SurvivesEvictionOfItsSignatureFromTheCache) {
  auto run = SetUpRun({a_, b_, c_}, {sum_, product_});
  std::vector<Output> shifted;
  for (int i = 0; i < 130; ++i) {  // more signatures than a session keeps (kMaxCached in master_session.cc)
    auto scope = g_.Device(kPs);
    shifted.push_back(a_ + static_cast<float>(i));
  }
  for (const Output& fetch : shifted) {
    const RunSignature signature{.feeds = {a_}, .fetches = {fetch}, .targets = {}};
    ASSERT_TRUE(session_->Prepare(signature, MasterSession::Deadline::max()).ok());
  }
  EXPECT_EQ(Value(Call(*run, {{a_, 1}, {b_, 2}}, {sum_})), 3);
  EXPECT_EQ(Value(Call(*run, {{c_, 5}}, {product_})), 15);
}

TEST_F(PartialRunTest, AnInvalidCallIsRefusedAndChangesNothing) {
  auto run = SetUpRun({a_, b_, c_}, {sum_, product_});
  const auto refused = [&](const std::vector<std::pair<Output, float>>& feeds, std::vector<Output> fetches,
                           const std::string& text) {
    const Status status = Call(*run, feeds, std::move(fetches)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status) && Contains(status, text)) << status;
  };
  refused({{a_, 1}}, {product_}, "cannot be computed yet: it needs");
  refused({{sum_, 1}}, {}, "not specified");
  refused({}, {a_}, "not specified");
  refused({{a_, 1}, {a_, 1}}, {}, "already been fed");
  EXPECT_EQ(Value(Call(*run, {{a_, 1}, {b_, 2}}, {sum_})), 3);
  refused({{a_, 1}}, {}, "already been fed");
  refused({{c_, 1}}, {sum_}, "already been fetched");
  PartialRun::Part wrong{.feeds = {c_}, .values = {Tensor::Scalar(int32_t{1})}, .fetches = {}};
  EXPECT_TRUE(absl::IsInvalidArgument(run->Accept(wrong)));
  EXPECT_EQ(Value(Call(*run, {{c_, 2}}, {product_})), 6);
}

TEST_F(PartialRunTest, TheFirstCallReportsErrorsOfTheGraph) {
  auto run = SetUpRun({}, {sum_});
  const Status status = Call(*run, {}, {sum_}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(Contains(status, "'a'") || Contains(status, "'b'")) << status;
}

TEST_F(PartialRunTest, AFailedStepFailsItsCallAndLaterCalls) {
  Output quotient, x = Placeholder(g_, kInt32, {}, "x"), y = Placeholder(g_, kInt32, {}, "y");
  {
    auto scope = g_.Device(kPs);
    quotient = FloorDiv(x, y);
  }
  auto run = SetUpRun({x, y, a_}, {quotient, a_});
  PartialRun::Part part{
      .feeds = {x, y}, .values = {Tensor::Scalar(int32_t{1}), Tensor::Scalar(int32_t{0})}, .fetches = {quotient}};
  ASSERT_TRUE(run->Accept(part).ok());
  ASSERT_TRUE(run->Begin(MasterSession::Deadline::max()).ok());
  Answer answer;
  run->Continue(part, [&](Result result) {
    MutexLock lock(answer.mu);
    answer.result = std::move(result);
    answer.cv.NotifyAll();
  });
  const Status status = answer.Wait().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(NodeNameOf(status), quotient.op().name());
  EXPECT_TRUE(run->is_over());
  EXPECT_EQ(Call(*run, {{a_, 1}}, {a_}).status().code(), status.code());
}

TEST_F(PartialRunTest, ClosingTheSessionCancelsAWaitingCall) {
  Output taken;
  {
    auto scope = g_.Device(kPs);
    FIFOQueue queue(g_, {kFloat32}, {.shapes = {Shape()}});
    taken = queue.Dequeue()[0] + a_;
  }
  auto run = SetUpRun({a_, b_}, {taken, b_});
  const auto waiting = Start(*run, {{a_, 1}}, {taken});
  EXPECT_FALSE(waiting->has_come());
  session_->Close();
  EXPECT_TRUE(absl::IsCancelled(waiting->Wait().status()));
  EXPECT_FALSE(Call(*run, {{b_, 7}}, {b_}).ok());
}

TEST_F(PartialRunTest, AMissingFeedKeepsTheStepRunningUntilItIsAborted) {
  auto run = SetUpRun({a_, b_, c_}, {sum_, product_});
  EXPECT_EQ(Value(Call(*run, {{a_, 1}, {b_, 2}}, {sum_})), 3);
  const auto step = run->Begin(MasterSession::Deadline::max());
  ASSERT_TRUE(step.ok());
  EXPECT_FALSE((*step)->WaitUntil(std::chrono::steady_clock::now()));
  (*step)->Abort(LateStep());
  EXPECT_TRUE((*step)->WaitUntil(MasterSession::Deadline::max()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Call(*run, {{c_, 1}}, {product_}).status()));
}

TEST_F(PartialRunTest, LosingATaskFailsTheCallThatWaitsForIt) {
  Output taken;
  {
    auto scope = g_.Device(kPs);
    FIFOQueue queue(g_, {kFloat32}, {.shapes = {Shape()}});
    taken = queue.Dequeue()[0] + a_;
  }
  auto run = SetUpRun({a_, b_}, {taken, b_});
  const auto waiting = Start(*run, {{a_, 1}}, {taken});
  EXPECT_FALSE(waiting->has_come());
  cluster_.Stop("ps", 0);
  EXPECT_FALSE(waiting->Wait().ok());
  EXPECT_TRUE(run->is_over());
}

}  // namespace
}  // namespace tensorbraid
