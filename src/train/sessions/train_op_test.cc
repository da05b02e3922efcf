// Tests which runs train, and what hooks see of them.
#include <gtest/gtest.h>

#include <functional>

#include "tensorbraid/tensorbraid.h"
#include "train/sessions/session_testutil.h"

namespace tensorbraid {
namespace {

// Runs `fetch` until the session stops. Returns the number of runs.
int RunUntilStop(MonitoredSession& session, const Fetch& fetch, const std::vector<Feed>& feeds) {
  int runs = 0;
  while (!session.ShouldStop() && runs < 100) {
    const auto result = session.Run({fetch}, feeds);
    EXPECT_TRUE(result.ok()) << result.status();
    ++runs;
  }
  return runs;
}

// Fetches that train although they are not the optimizer's operation.
struct IndirectTraining {
  const char* name;
  std::function<Fetch(DescentModel& m)> fetch;
};
const IndirectTraining kIndirectTrainings[] = {
    {"a group", [](DescentModel& m) { return Fetch(Group(m.g, {m.train}, "all")); }},
    {"a group by name", [](DescentModel& m) { return Fetch(Group(m.g, {m.train}, "all").name()); }},
    {"moving averages",
     [](DescentModel& m) {
       ExponentialMovingAverage ema(0.999, {.num_updates = m.global_step});
       auto after = m.g.ControlDependencies({m.train});
       return Fetch(ema.Apply(m.g.trainable_variables()));
     }},
    {"a tensor", [](DescentModel& m) { return Fetch(WithDependencies({m.train}, m.target)); }},
    {"two optimizers with one step", [](DescentModel& m) {
       const Operation second = GradientDescentOptimizer(0.1).Minimize(m.loss, {.global_step = m.global_step});
       return Fetch(Group(m.g, {m.train, second}, "both"));
     }}};

TEST(TrainOp, ARunTrainsIfItsFetchDependsOnATrainingOperation) {
  for (const IndirectTraining& indirect : kIndirectTrainings) {
    SCOPED_TRACE(indirect.name);
    DescentModel m;
    const Fetch fetch = indirect.fetch(m);
    std::vector<std::string> lines;
    auto session = m.Start(
        {StopAtStep(10), LoggingHook({{"loss", m.loss}}, {.every_n_steps = 1, .sink = [&](const std::string& line) {
                                                            lines.push_back(line.substr(0, line.find(':')));
                                                          }})});
    ASSERT_TRUE(session.ok()) << session.status();
    const int per_run = indirect.name == std::string("two optimizers with one step") ? 2 : 1;
    EXPECT_EQ(RunUntilStop(**session, fetch, m.Feeds()), 10 / per_run);
    ASSERT_EQ(lines.size(), 10u / per_run);
    EXPECT_EQ(lines.back(), "step 10");
    EXPECT_TRUE((*session)->Close().ok());
  }
}

TEST(TrainOp, HooksSeeTheNanOfARunThatTrainsIndirectly) {
  for (const auto& hook : {NanCheckOptions{}, NanCheckOptions{.stop_only = true}}) {
    DescentModel m(/*rate=*/1e30);
    const Operation all = Group(m.g, {m.train}, "all");
    auto session = m.Start({NanCheck(m.loss, hook)});
    ASSERT_TRUE(session.ok()) << session.status();
    for (int i = 0; i < 10 && !(*session)->ShouldStop(); ++i) (void)(*session)->Run({all}, m.Feeds());
    EXPECT_TRUE((*session)->ShouldStop());
  }
  DescentModel m(/*rate=*/1e30);
  const Operation all = Group(m.g, {m.train}, "all");
  auto session = m.Start({CheckNumericsHook()});
  ASSERT_TRUE(session.ok()) << session.status();
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = (*session)->Run({all}, m.Feeds()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST(TrainOp, ARunOfAnOptimizerWithoutAGlobalStepIsTrainingNotEvaluation) {
  DescentModel m;
  const Operation other = GradientDescentOptimizer(0.1).Minimize(m.loss);
  auto hook = std::make_shared<RecordingHook>(m.target);
  auto session = m.Start({hook});
  ASSERT_TRUE(session.ok()) << session.status();
  for (const Fetch& fetch : {Fetch(m.train), Fetch(other), Fetch(m.loss)}) {
    ASSERT_TRUE((*session)->Run({fetch}, m.Feeds()).ok());
  }
  EXPECT_EQ(hook->calls, (std::vector<std::string>{"begin", "created", "before", "after", "before", "after",
                                                   "before evaluation", "after"}));
}

TEST(TrainOp, TheStepOfAnotherOptimizerIsNotTheGlobalStep) {
  DescentModel m;
  const Variable other_step(m.g, {}, Constant(100), {.name = "other_step", .dtype = kInt64, .trainable = false});
  const Operation other = GradientDescentOptimizer(0.1).Minimize(m.loss, {.global_step = other_step});
  const Operation both = Group(m.g, {m.train, other}, "both");
  auto session = m.Start({StopAtStep(10)});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(RunUntilStop(**session, both, m.Feeds()), 10);
}

TEST(TrainOp, AGlobalStepThatTheProgramIncrementsIsReadAfterTheIncrement) {
  Graph g;
  Variable w(g, {}, Ones(), {.name = "w"});
  const Variable step = GetOrCreateGlobalStep(g);
  const Operation update = GradientDescentOptimizer(0.1).Minimize(w * w);
  auto after = g.ControlDependencies({update});
  const Operation train = Group(g, {step.AssignAdd(int64_t{1})}, "train");
  auto session = MonitoredTrainingSession(g, {.hooks = {StopAtStep(10)}});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(RunUntilStop(**session, train, {}), 10);
}

TEST(TrainOp, AHookCanAskWhetherARunExecutesAnOperation) {
  struct Asks final : SessionRunHook {
    explicit Asks(Operation op) : op(op) {}
    SessionRunArgs BeforeRun(SessionRunContext& context) override {
      answers.push_back(context.Runs(op));
      return {};
    }
    Operation op;
    std::vector<bool> answers;
  };
  DescentModel m;
  const Output doubled = m.loss * 2.0f;
  auto hook = std::make_shared<Asks>(m.loss.op());
  auto session = m.Start({hook});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({doubled}, m.Feeds()).ok());
  ASSERT_TRUE((*session)->Run({m.weight}).ok());
  ASSERT_TRUE((*session)->Run({doubled}, {{m.loss, Tensor::Scalar(1.0f)}}).ok());
  EXPECT_EQ(hook->answers, (std::vector<bool>{true, false, false}));  // the last run feeds the loss
}

}  // namespace
}  // namespace tensorbraid
