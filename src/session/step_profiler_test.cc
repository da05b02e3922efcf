#include "session/step_profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "core/system/clock.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr int kSteps = StepProfiler::kWarmUp.steps + StepProfiler::kTimed.steps + StepProfiler::kTraced.steps;
// Fewer are never enough, however slow this machine is.
constexpr int kFewestSteps = StepProfiler::kWarmUp.least + StepProfiler::kTimed.least + StepProfiler::kTraced.least;

// Sets the environment variable for sessions that are created meanwhile.
class ProfiledSessions {
 public:
  explicit ProfiledSessions(const std::string& directory) {
    ::setenv(StepProfiler::kVariable, directory.c_str(), /*overwrite=*/1);
  }
  ~ProfiledSessions() { ::unsetenv(StepProfiler::kVariable); }
};

TEST(StepProfilerTest, WritesASignatureThatHasRunOftenEnough) {
  const TempDir temporary;
  const std::string directory = temporary.path();
  Graph g;
  auto x = Placeholder(g, kFloat32, {-1, 3}, "x");
  auto often = ReduceSum(x * 2.0f), prepared = ReduceSum(x), seldom = ReduceSum(x * 3.0f);
  std::unique_ptr<Session> session;
  {
    const ProfiledSessions profiled(directory);
    session = *Session::Create(g);
  }
  const Tensor value = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto again = session->Prepare({prepared}, {x});
  ASSERT_TRUE(again.ok()) << again.status();
  // Short steps are timed for longer.
  const auto written = [&](int n) { return FileExists(StrCat(directory, "/step-", n, ".json")); };
  for (int i = 0; i < kSteps || !written(0) || !written(1); ++i) {
    if (i < kFewestSteps) {
      EXPECT_FALSE(FileExists(directory + "/step-0.json"));
    }
    const auto run = session->Run({often}, {{x, value}});
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ((*run)[0].scalar<float>(), 42);
    ASSERT_EQ((*again->Run({value}))[0].scalar<float>(), 21);
    if (i >= kFewestSteps - 1) continue;
    ASSERT_TRUE(session->Run({seldom}, {{x, value}}).ok());
  }
  for (const int n : {0, 1}) {
    const auto text = ReadFile(StrCat(directory, "/step-", n, ".json"));
    ASSERT_TRUE(text.ok()) << text.status();
    const auto json = nlohmann::json::parse(*text);
    EXPECT_EQ(json["feeds"].dump(), R"([{"shape":[2,3],"tensor":"x:0"}])");
    EXPECT_EQ(json["fetches"].dump(), StrCat("[\"", (n == 0 ? often : prepared).name(), "\"]"));
    EXPECT_GE(json["traces"], StepProfiler::kTraced.least);
    EXPECT_LE(json["traces"], StepProfiler::kTraced.steps);
    EXPECT_GT(json["run_ms"], 0);
    EXPECT_GE(json["interval_ms"], json["run_ms"]);
    EXPECT_EQ(json["interval_parts_ms"].size(), StepProfiler::kParts);
    const auto trace = ReadFile(StrCat(directory, "/step-", n, ".trace-0.pb"));
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_THAT(*trace, testing::HasSubstr("Sum"));
    Graph copy;
    EXPECT_TRUE(copy.ImportGraphDef(*ReadFile(StrCat(directory, "/step-", n, ".graph.pb"))).ok());
  }
  EXPECT_FALSE(FileExists(directory + "/step-2.json")) << "one step is missing";
}

TEST(StepProfilerTest, ASessionThatIsClosedEarlyWritesWhatWasTimed) {
  const TempDir temporary;
  Graph g;
  auto x = Placeholder(g, kFloat32, {-1, 3}, "x");
  auto often = ReduceSum(x * 2.0f), seldom = ReduceSum(x * 3.0f);
  std::unique_ptr<Session> session;
  {
    const ProfiledSessions profiled(temporary.path());
    session = *Session::Create(g);
  }
  const Tensor value = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  // The stages begin with the first step. The warm-up is much shorter than the time for which short steps are timed.
  ASSERT_TRUE(session->Run({often}, {{x, value}}).ok());
  const auto warm = MonotonicClock::now() + StepProfiler::kWarmUp.time;
  int steps = 1;
  while (steps < kSteps || MonotonicClock::now() < warm) {
    ASSERT_TRUE(session->Run({often}, {{x, value}}).ok());
    ++steps;
  }
  for (int i = 0; i < StepProfiler::kTimed.least + StepProfiler::kTraced.steps + 10; ++i) {
    ASSERT_TRUE(session->Run({often}, {{x, value}}).ok());
  }
  ASSERT_TRUE(session->Run({seldom}, {{x, value}}).ok());
  ASSERT_TRUE(session->Close().ok());
  const auto text = ReadFile(temporary.path() + "/step-0.json");
  ASSERT_TRUE(text.ok()) << text.status();
  const auto json = nlohmann::json::parse(*text);
  EXPECT_EQ(json["local"], true);
  EXPECT_GT(json["interval_ms"], 0);
  EXPECT_GT(json["traces"], 0);
  EXPECT_FALSE(FileExists(temporary.path() + "/step-1.json"));
}

TEST(StepProfilerTest, DoesNotHinderStepsIfItCannotWrite) {
  Graph g;
  auto one = ReduceSum(Operand(1.0f).ToOutput(g));
  std::unique_ptr<Session> session;
  {
    const ProfiledSessions profiled("/proc/no/such/directory");
    session = *Session::Create(g);
  }
  const auto end = MonotonicClock::now() + StepProfiler::kWarmUp.time + StepProfiler::kTimed.time;
  for (int i = 0; i < kSteps + 2 || MonotonicClock::now() < end; ++i) ASSERT_TRUE(session->Run({one}).ok());
}

}  // namespace
}  // namespace tensorbraid
