// Tests MonitoredSession, QueueRunner and the hooks.
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_format.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "train/sessions/session_testutil.h"

namespace tensorbraid {
namespace {

TEST(MonitoredSession, TrainsUntilTheLastStepAndNotBeyond) {
  DescentModel m;
  auto session = m.Start({StopAtStep(100)});
  ASSERT_TRUE(session.ok()) << session.status();
  int runs = 0;
  while (!(*session)->ShouldStop()) {
    ASSERT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
    ++runs;
  }
  EXPECT_EQ(runs, 100);
  const auto end = (*session)->Run({m.global_step, m.weight});
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ((*end)[0].scalar<int64_t>(), 100);
  EXPECT_NEAR((*end)[1].scalar<float>(), 3.0f, 1e-5);
  EXPECT_TRUE((*session)->Close().ok());
}

TEST(MonitoredSession, StartingReturnsTheGraphsFirstError) {
  DescentModel m;
  MatMul(m.target, m.target);
  EXPECT_TRUE(absl::IsInvalidArgument(m.Start().status()));
}

TEST(MonitoredSession, AnErrorSaysWhatHasFinalizedTheGraph) {
  DescentModel m;
  auto session = m.Start();
  ASSERT_TRUE(session.ok());
  Square(m.target);
  EXPECT_NE(std::string(m.g.status().message()).find("MonitoredTrainingSession"), std::string::npos) << m.g.status();
}

TEST(MonitoredSession, TheGraphCanChangeAgainAfterTheTraining) {
  DescentModel m;
  ASSERT_TRUE((*m.Start())->Close().ok());
  const Output square = Square(m.loss);
  ASSERT_TRUE(m.g.status().ok()) << m.g.status();
  auto evaluation = m.Start();
  ASSERT_TRUE(evaluation.ok()) << evaluation.status();
  EXPECT_TRUE((*evaluation)->Run({square}, m.Feeds()).ok());
}

TEST(MonitoredSession, AGraphThatWasFinalizedBeforeStaysSo) {
  DescentModel m;
  (void)m.Start();  // adds its operations
  m.g.Finalize("the test uses it");
  ASSERT_TRUE((*m.Start())->Close().ok());
  EXPECT_TRUE(m.g.finalized());
}

TEST(MonitoredSession, RunsFailOnceTheGraphIsDestroyed) {
  TempDir dir;
  auto m = std::make_unique<DescentModel>();
  const auto feeds = m->Feeds();
  const Operation train = m->train;
  auto session = MonitoredTrainingSession(m->g, {.hooks = {StopAtStep(10), ShowProgress(m->loss), NanCheck(m->loss)},
                                                 .checkpoint_dir = dir.path(),
                                                 .summary_dir = dir.path()});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({train}, feeds).ok());
  m.reset();
  const Status run = (*session)->Run({train}, feeds).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(run)) << run;
  EXPECT_NE(run.message().find("MonitoredSession::Run: the Graph has been destroyed"), std::string::npos) << run;
  EXPECT_FALSE((*session)->Close().ok());
}

TEST(MonitoredSession, ATensorOfAnotherGraphIsRefused) {
  DescentModel m, other;
  auto session = m.Start();
  ASSERT_TRUE(session.ok());
  const Status run = (*session)->Run({other.loss}, m.Feeds()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(run)) << run;
  EXPECT_NE(run.message().find("belongs to another graph"), std::string::npos) << run;
}

TEST(MonitoredSession, HooksTakePartInEveryRun) {
  DescentModel m;
  auto hook = std::make_shared<RecordingHook>(m.target);
  auto session = m.Start({hook});
  ASSERT_TRUE(session.ok());
  for (int step = 1; step <= 3; ++step) {
    ASSERT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
    EXPECT_EQ(hook->last.global_step, step) << "the step must be read after the training operation";
    EXPECT_EQ(hook->last.results.at(0).scalar<float>(), 3.0f);
  }
  ASSERT_TRUE((*session)->Run({m.loss}, m.Feeds()).ok());
  EXPECT_EQ(hook->last.global_step, 3);
  ASSERT_TRUE((*session)->Close().ok());
  EXPECT_EQ(hook->calls, (std::vector<std::string>{"begin", "created", "before", "after", "before", "after", "before",
                                                   "after", "before evaluation", "after", "end"}));
}

TEST(MonitoredSession, RunReturnsTensorsInTheOrderOfTheFetches) {
  DescentModel m;
  auto hook = std::make_shared<RecordingHook>(m.loss);
  auto session = m.Start({StopAtStep(10), hook});
  ASSERT_TRUE(session.ok());
  const auto r = (*session)->Run({m.global_step, m.train, m.target, m.loss.name(), m.target}, m.Feeds());
  ASSERT_TRUE(r.ok()) << r.status();
  ASSERT_EQ(r->size(), 5u);
  EXPECT_EQ((*r)[0].dtype(), kInt64);
  EXPECT_FALSE((*r)[1].is_valid()) << "an operation has no value";
  EXPECT_EQ((*r)[2].scalar<float>(), 3);
  EXPECT_EQ((*r)[3].scalar<float>(), hook->last.results.at(0).scalar<float>());
  EXPECT_NE((*r)[3].scalar<float>(), 3);
  EXPECT_EQ((*r)[4].scalar<float>(), 3);
  // The same tensors in another order.
  const auto s = (*session)->Run({m.target, m.global_step, m.target}, m.Feeds());
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ((*s)[0].scalar<float>(), 3);
  EXPECT_EQ((*s)[1].scalar<int64_t>(), 1);
  EXPECT_EQ((*s)[2].scalar<float>(), 3);
}

TEST(MonitoredSession, FetchingANameThatTheGraphDoesNotHaveIsNotFound) {
  DescentModel m;
  auto session = m.Start();
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE(absl::IsNotFound((*session)->Run({m.train, "no such tensor:0"}, m.Feeds()).status()));
}

TEST(MonitoredSession, ALossThatIsNotFiniteFailsTheRun) {
  DescentModel m(/*rate=*/1e30);
  auto session = m.Start({NanCheck(m.loss)});
  ASSERT_TRUE(session.ok());
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = (*session)->Run({m.train}, m.Feeds()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE((*session)->ShouldStop());
  EXPECT_EQ((*session)->Close(), status);
}

TEST(MonitoredSession, ARunThatDoesNotTrainNeedsNoFeedsForTheHooks) {
  DescentModel m;
  auto session = m.Start({NanCheck(m.loss), ShowProgress(m.loss), LoggingHook({{"loss", m.loss}})});
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE((*session)->Run({m.weight}).ok());
}

TEST(MonitoredSession, AnErrorStopsTrainingAndCloseReturnsIt) {
  DescentModel m;
  auto session = m.Start();
  ASSERT_TRUE(session.ok());
  const Status status = (*session)->Run({m.train}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE((*session)->ShouldStop());
  EXPECT_EQ((*session)->Close(), status);
  EXPECT_TRUE(absl::IsFailedPrecondition((*session)->Run({m.weight}).status()));
}

// Its first End fails as if a connection had broken.
class InterruptedEnd final : public SessionRunHook {
 public:
  Status End(SessionRunContext&, const Status&) override {
    return ++ends == 1 ? Status(absl::UnavailableError("ps/0 is gone")) : OkStatus();
  }
  int ends = 0;
};

TEST(MonitoredSession, AConnectionThatBreaksAtTheEndDoesNotFailTrainingWithCheckpoints) {
  const TempDir dir;
  DescentModel m;
  auto end = std::make_shared<InterruptedEnd>();
  auto session = MonitoredTrainingSession(m.g, {.hooks = {StopAtStep(3), end}, .checkpoint_dir = dir.path()});
  ASSERT_TRUE(session.ok()) << session.status();
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
  EXPECT_EQ((*session)->Close(), OkStatus());
  EXPECT_EQ(end->ends, 2);
  EXPECT_EQ(LatestCheckpoint(dir.path()).value(), dir.path() + "/model.ckpt-3");
}

TEST(MonitoredSession, AConnectionThatBreaksAtTheEndFailsTrainingWithoutCheckpoints) {
  DescentModel m;
  auto end = std::make_shared<InterruptedEnd>();
  auto session = m.Start({StopAtStep(3), end});
  ASSERT_TRUE(session.ok()) << session.status();
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
  EXPECT_EQ((*session)->Close().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(end->ends, 1);
}

TEST(MonitoredSession, AnEmptyClosedQueueEndsTrainingWithoutAnError) {
  Graph g;
  const FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}, .name = "input"});
  const auto value = queue.Dequeue();
  const Operation consume = Group(g, {value[0].op()}, "consume");
  const Output other = Const(g, Tensor::Scalar(7.0f));
  const Operation close = queue.Close();
  auto session = MonitoredTrainingSession(g);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->session().Run({close}).ok());
  const auto last = (*session)->Run({consume, other});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->at(1).scalar<float>(), 7.0f) << "a tensor that does not depend on the queue must still be computed";
  EXPECT_TRUE((*session)->ShouldStop());
  EXPECT_TRUE((*session)->Close().ok());
}

TEST(MonitoredSession, TheEndOfTheInputIsKept) {
  Graph g;
  const FIFOQueue queue(g, {kInt64}, {.shapes = {Shape()}});
  const std::vector<Output> next = queue.Dequeue();
  const Operation close = queue.Close();
  auto session = MonitoredTrainingSession(g);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->end_of_training().ok());
  ASSERT_TRUE((*session)->Run({close}).ok());
  EXPECT_TRUE((*session)->end_of_training().ok());
  EXPECT_TRUE((*session)->Run({next[0]}).ok());
  EXPECT_TRUE(absl::IsOutOfRange((*session)->end_of_training())) << (*session)->end_of_training();
}

TEST(MonitoredSession, TheProgramMaySayHowTheModelIsMadeReady) {
  Graph g;
  const Output start = Placeholder(g, kFloat32, {}, "start");
  const Variable weight(g, {}, Zeros(), {.name = "weight"});
  const Variable local(g, {}, Zeros(), {.name = "local", .trainable = false, .local = true});
  float seen = 0;
  auto session = MonitoredTrainingSession(g, {.init_op = weight.Assign(start),
                                              .init_feed = {{start, Tensor::Scalar(4.0f)}},
                                              .init_fn = [&](Session& s) -> Status {
                                                TF_ASSIGN_OR_RETURN(const auto value, s.Run({weight}));
                                                seen = value[0].scalar<float>();
                                                return OkStatus();
                                              },
                                              .local_init_op = local.Assign(3.0f)});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(seen, 4.0f);
  const auto values = (*session)->Run({weight, local});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].scalar<float>(), 4.0f);
  EXPECT_EQ((*values)[1].scalar<float>(), 3.0f);
}

TEST(MonitoredSession, AModelThatIsNotReadyIsAnError) {
  Graph g;
  const Variable weight(g, {}, Zeros(), {.name = "forgotten"});
  const Operation nothing = NodeBuilder(g, "NoOp").Finish();
  const Status status = MonitoredTrainingSession(g, {.init_op = nothing}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_NE(status.message().find("forgotten"), std::string::npos) << status;
}

TEST(MonitoredSession, SavesNoCheckpointsIfTheProgramSavesThem) {
  TempDir dir;
  DescentModel m;
  auto session = MonitoredTrainingSession(m.g, {.checkpoint_dir = dir.path(), .save_checkpoints = false});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
  ASSERT_TRUE((*session)->Close().ok());
  EXPECT_TRUE(absl::IsNotFound(LatestCheckpoint(dir.path()).status()));
}

TEST(QueueRunner, FillsAQueueAndClosesItAtTheEndOfItsInput) {
  Graph g;
  const FIFOQueue source(g, {kFloat32}, {.shapes = {Shape()}, .name = "source"});
  const FIFOQueue sink(g, {kFloat32}, {.shapes = {Shape()}, .name = "sink"});
  const Operation give = source.EnqueueMany({Tensor::Vector<float>({1, 2, 3})});
  const Operation end = source.Close();
  const Operation pass = sink.Enqueue({source.Dequeue()[0]});
  const Operation close = sink.Close();
  const Output take = sink.Dequeue()[0];
  auto session = Session::Create(g);
  ASSERT_TRUE(session.ok()) << session.status();
  Coordinator coordinator;
  ASSERT_TRUE((*session)->Run({give}).ok());
  ASSERT_TRUE((*session)->Run({end}).ok());
  ASSERT_TRUE(QueueRunner({pass, pass}, close).Start(**session, coordinator).ok());
  float sum = 0;
  Status status;
  while (status.ok()) {
    const auto got = (*session)->Run({take});
    status = got.status();
    if (got.ok()) sum += (*got)[0].scalar<float>();
  }
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
  EXPECT_EQ(sum, 6);
  EXPECT_TRUE(coordinator.Join().ok());
}

TEST(Hooks, ProgressShowsTheStepTheLastStepAndTheLoss) {
  DescentModel m;
  std::vector<std::string> lines;
  auto session =
      m.Start({StopAtStep(5), ShowProgress(m.loss, {.interval = std::chrono::milliseconds(0),
                                                    .sink = [&](const std::string& line) { lines.push_back(line); }})});
  ASSERT_TRUE(session.ok());
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
  ASSERT_TRUE((*session)->Close().ok());
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines.back().starts_with("step 5/5")) << lines.back();
  EXPECT_NE(lines.back().find("loss"), std::string::npos) << lines.back();
}

TEST(Hooks, TheLastLineOfProgressShowsTheLossOfTheLastRun) {
  DescentModel m;
  std::vector<std::string> lines;
  auto session =
      m.Start({StopAtStep(5), ShowProgress(m.loss, {.interval = std::chrono::hours(1),
                                                    .sink = [&](const std::string& line) { lines.push_back(line); }})});
  ASSERT_TRUE(session.ok());
  Tensor loss;
  while (!(*session)->ShouldStop()) {
    auto r = (*session)->Run({m.train, m.loss}, m.Feeds());
    ASSERT_TRUE(r.ok()) << r.status();
    loss = (*r)[1];
  }
  ASSERT_TRUE((*session)->Close().ok());
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines.back().ends_with(absl::StrFormat("  loss %.4g", loss.scalar<float>()))) << lines.back();
}

TEST(Hooks, ProgressDoesNotPassTheLastStepWhenOtherWorkersDo) {
  DescentModel m;
  const Operation other_workers = m.global_step.AssignAdd(int64_t{10});
  std::vector<std::string> lines;
  auto session =
      m.Start({StopAtStep(5), ShowProgress({}, {.interval = std::chrono::milliseconds(0),
                                                .sink = [&](const std::string& line) { lines.push_back(line); }})});
  ASSERT_TRUE(session.ok());
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run({m.train, other_workers}, m.Feeds()).ok());
  ASSERT_TRUE((*session)->Close().ok());
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines.back().starts_with("step 5/5")) << lines.back();
}

TEST(Hooks, StepCounterReportsEveryNSteps) {
  DescentModel m;
  std::vector<int64_t> steps;
  auto session = m.Start({StopAtStep(10), StepCounter({.every_n_steps = 3, .sink = [&](int64_t step, double rate) {
                                                         EXPECT_GT(rate, 0);
                                                         steps.push_back(step);
                                                       }})});
  ASSERT_TRUE(session.ok());
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
  EXPECT_EQ(steps, (std::vector<int64_t>{4, 7, 10}));  // counted from the first run, which ends at step 1
}

TEST(Hooks, LoggedValuesHaveTheFormThatTheProgramWants) {
  DescentModel m;
  const Output twice = 2.0f * m.weight;
  std::vector<std::string> lines;
  LoggingOptions options = {.every_n_steps = 2};
  options.sink = [&](const std::string& line) { lines.push_back(line); };
  options.format = [](const auto& values) -> StatusOr<std::string> {
    return absl::StrFormat("%s is %g", values[0].first, values[0].second.template scalar<float>());
  };
  LoggingOptions at_end = {.every_n_steps = -1, .at_end = true};
  at_end.sink = [&](const std::string& line) { lines.push_back("end: " + line); };
  auto session = m.Start({LoggingHook({{"twice", twice}}, options), LoggingHook({{"twice", twice}}, at_end)});
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].rfind("twice is ", 0), 0u) << lines[0];
  ASSERT_TRUE((*session)->Close().ok());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2].rfind("end: at the end: twice = ", 0), 0u) << lines[2];
}

TEST(Hooks, AnErrorOfTheLoggedFormFailsTheRun) {
  DescentModel m;
  LoggingOptions options = {.every_n_steps = 1};
  options.format = [](const auto&) -> StatusOr<std::string> { return absl::UnknownError("no form"); };
  auto session = m.Start({LoggingHook({{"loss", m.loss}}, options)});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->Run({m.train}, m.Feeds()).status().message(), "no form");
}

TEST(Hooks, AStepCounterLetsAnOptimizerTrainWithoutTheGlobalStep) {
  Graph g;
  Variable w(g, {}, Ones(), {.name = "w"});
  const Variable step = GetOrCreateGlobalStep(g);
  const Operation train = GradientDescentOptimizer(0.25).Minimize(w * w);
  testing::internal::CaptureStderr();
  const auto session = MonitoredTrainingSession(g, {.hooks = {StepCounter({.every_n_steps = 1})}});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the global step 'global_step' would never change"),
            std::string::npos);
  ASSERT_TRUE((*session)->Run({train}).ok());
  EXPECT_EQ((*session)->session().Run({w}).value()[0].scalar<float>(), 0.5f);
}

TEST(Hooks, StopAtStepNeedsAnOptimizerThatChangesTheGlobalStep) {
  Graph g;
  Variable w(g, {}, Ones(), {.name = "w"});
  const Variable step = GetOrCreateGlobalStep(g);
  GradientDescentOptimizer(0.1).Minimize(w * w);
  const auto session = MonitoredTrainingSession(g, {.hooks = {StopAtStep(5)}});
  ASSERT_FALSE(session.ok());
  const std::string message(session.status().message());
  EXPECT_TRUE(absl::IsFailedPrecondition(session.status())) << session.status();
  EXPECT_NE(message.find("'GradientDescent' (monitored_session_test.cc:"), std::string::npos) << message;
  EXPECT_NE(message.find("Minimize(loss, {.global_step ="), std::string::npos) << message;
  step.AssignAdd(1);  // the program counts the steps itself
  EXPECT_TRUE(MonitoredTrainingSession(g, {.hooks = {StopAtStep(5)}}).ok());
}

}  // namespace
}  // namespace tensorbraid
