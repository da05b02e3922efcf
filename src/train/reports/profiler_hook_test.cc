// Tests that hooks choose the options of runs, and the hook that records runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "train/reports/event_testutil.h"
#include "train/sessions/session_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Asks for these options, and keeps what it gets.
class OptionsHook final : public SessionRunHook {
 public:
  explicit OptionsHook(RunOptions options) : options_(options) {}
  SessionRunArgs BeforeRun(SessionRunContext&) override {
    SessionRunArgs args;
    args.options = options_;
    return args;
  }
  Status AfterRun(SessionRunContext&, const SessionRunValues& values) override {
    got = values;
    return OkStatus();
  }
  SessionRunValues got;

 private:
  const RunOptions options_;
};

// The files and folders without event files.
std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("events.out.tfevents.")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status TrainSteps(DescentModel& m, MonitoredSession& session, int steps) {
  for (int i = 0; i < steps; ++i) TF_RETURN_IF_ERROR(session.Run({m.train}, m.Feeds()).status());
  return OkStatus();
}

TEST(RunOptions, AreJoinedOverTheHooks) {
  DescentModel m;
  const auto slow = std::make_shared<OptionsHook>(RunOptions{.timeout = std::chrono::seconds(50)});
  const auto traces =
      std::make_shared<OptionsHook>(RunOptions{.timeout = std::chrono::seconds(20), .trace_level = TraceLevel::kFull});
  const auto graphs = std::make_shared<OptionsHook>(RunOptions{.output_partition_graphs = true});
  auto session = m.Start({slow, traces, graphs});
  ASSERT_TRUE(session.ok()) << session.status();
  RunMetadata metadata;
  const auto loss = (*session)->Run({m.train, m.loss}, m.Feeds(), {.timeout = std::chrono::seconds(30)}, &metadata);
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_FLOAT_EQ((*loss)[1].scalar<float>(), 9.0f);
  for (const auto& hook : {slow, traces, graphs}) {
    EXPECT_EQ(hook->got.options.timeout, std::chrono::seconds(50));
    EXPECT_EQ(hook->got.options.trace_level, TraceLevel::kFull);
    EXPECT_TRUE(hook->got.options.output_partition_graphs);
    ASSERT_NE(hook->got.metadata, nullptr);
    EXPECT_EQ(hook->got.metadata->serialized(), metadata.serialized());
  }
  EXPECT_THAT(metadata.ToChromeTrace().value(), HasSubstr("\"op\":\"ResourceApplyGradientDescent\""));
}

TEST(RunOptions, RecordNothingByDefault) {
  DescentModel m;
  const auto hook = std::make_shared<OptionsHook>(RunOptions{});
  auto session = m.Start({hook});
  ASSERT_TRUE(session.ok()) << session.status();
  RunMetadata metadata("before");
  ASSERT_TRUE((*session)->Run({m.train}, m.Feeds(), {}, &metadata).ok());
  EXPECT_EQ(hook->got.metadata, nullptr);
  EXPECT_EQ(metadata.serialized(), "before");
}

// As TensorFlow's hook with save_steps=2.
TEST(ProfilerHook, RecordsEveryNthStepExceptForTheFirstRun) {
  TempDir dir;
  const std::string traces = JoinPath(dir.path(), "new/traces");
  DescentModel m;
  auto session = m.Start({ProfilerHook(traces, {.every_n_steps = 2})});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(TrainSteps(m, **session, 1).ok());
  ASSERT_TRUE((*session)->Run({m.loss}, m.Feeds()).ok());  // does not train
  ASSERT_TRUE(TrainSteps(m, **session, 4).ok());
  EXPECT_THAT(FilesIn(traces), ElementsAre("timeline-2.json", "timeline-4.json"));
  const auto json = ReadFile(JoinPath(traces, "timeline-4.json"));
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_THAT(*json, HasSubstr("\"op\":\"ResourceApplyGradientDescent\""));
  EXPECT_THAT(*json, HasSubstr("\"cat\":\"DataFlow\""));
  EXPECT_THAT(*json, Not(HasSubstr("\"cat\":\"Memory\"")));
}

TEST(ProfilerHook, WritesTheRecordsForTensorBoard) {
  TempDir dir;
  DescentModel m;
  {
    auto session = m.Start({ProfilerHook(dir.path(), {.every_n_steps = 2})});
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE(TrainSteps(m, **session, 5).ok());
    ASSERT_TRUE((*session)->Close().ok());
  }
  std::vector<std::string> tags;
  for (const proto::Event& event : ReadEvents(dir.path())) {
    EXPECT_EQ(StrCat("step_", event.step()), event.tagged_run_metadata().tag());
    EXPECT_THAT(event.tagged_run_metadata().run_metadata(), HasSubstr("ResourceApplyGradientDescent"));
    tags.push_back(event.tagged_run_metadata().tag());
  }
  EXPECT_THAT(tags, ElementsAre("step_2", "step_4"));
}

TEST(ProfilerHook, ShowsWhatTheOptionsSay) {
  TempDir dir;
  DescentModel m;
  auto session =
      m.Start({ProfilerHook(dir.path(), {.every_n_steps = 1, .trace = {.show_dataflow = false, .show_memory = true}})});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(TrainSteps(m, **session, 2).ok());
  EXPECT_THAT(FilesIn(dir.path()), ElementsAre("timeline-2.json"));
  const auto json = ReadFile(JoinPath(dir.path(), "timeline-2.json"));
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_THAT(*json, Not(HasSubstr("\"cat\":\"DataFlow\"")));
  EXPECT_THAT(*json, HasSubstr("\"cat\":\"Memory\",\"ph\":\"C\""));
}

TEST(ProfilerHook, RecordsByTime) {
  TempDir dir;
  DescentModel m;
  auto session = m.Start({ProfilerHook(dir.path(), {.every = std::chrono::hours(1)}),
                          ProfilerHook(JoinPath(dir.path(), "all"), {.every = std::chrono::milliseconds(0)})});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(TrainSteps(m, **session, 3).ok());
  EXPECT_THAT(FilesIn(dir.path()), ElementsAre("all"));
  EXPECT_THAT(FilesIn(JoinPath(dir.path(), "all")), ElementsAre("timeline-2.json", "timeline-3.json"));
}

TEST(ProfilerHook, ReportsMistakes) {
  TempDir dir;
  {
    DescentModel m;
    EXPECT_TRUE(absl::IsInvalidArgument(m.Start({ProfilerHook(dir.path(), {.every_n_steps = 0})}).status()));
  }
  Graph g;
  Variable v(g, {}, Zeros());
  const auto session = MonitoredTrainingSession(g, {.hooks = {ProfilerHook(dir.path())}});
  EXPECT_TRUE(absl::IsFailedPrecondition(session.status())) << session.status();
}

}  // namespace
}  // namespace tensorbraid
