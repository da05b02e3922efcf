// Tests summaries: the ops, the writer of event files, and the hooks.
#include "tensorbraid/ops/summary.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "tensorbraid/train/file_writer.h"
#include "train/reports/event_testutil.h"

namespace tensorbraid {
namespace {

using Scalars = std::vector<std::pair<int64_t, float>>;

proto::Summary Compute(Graph& g, const Output& summary) {
  proto::Summary message;
  const auto values = Session::Create(g).value()->Run({summary});
  EXPECT_TRUE(values.ok()) << values.status();
  if (!values.ok()) return message;
  EXPECT_TRUE(message.ParseFromString((*values)[0].scalar<std::string>()));
  return message;
}

TEST(Summary, TheTagIsTheUniqueNameWithinTheScope) {
  Graph g;
  const Output x = Const(g, Tensor::Scalar(2.0f));
  Output first, second, grouped;
  {
    auto scope = g.NameScope("train");
    first = summary::Scalar("loss", x);
    second = summary::Scalar("loss", x);
    grouped = summary::Scalar("rate of w", x, {.family = "speed"});
  }
  EXPECT_EQ(first.op().name(), "train/loss");
  EXPECT_EQ(Compute(g, first).value(0).tag(), "train/loss");
  EXPECT_EQ(Compute(g, first).value(0).simple_value(), 2);
  EXPECT_EQ(Compute(g, second).value(0).tag(), "train/loss_1");
  EXPECT_EQ(Compute(g, grouped).value(0).tag(), "speed/train/speed/rate_of_w");  // the family twice, as in TensorFlow
  EXPECT_EQ(g.GetCollection(summary::kSummaries).size(), 3u);
}

TEST(Summary, MergeAllHasTheValuesOfAllKinds) {
  Graph g;
  EXPECT_FALSE(summary::MergeAll(g).valid());
  summary::Scalar("loss", Const(g, Tensor::Scalar(1.5)));
  summary::Histogram("weights", Const(g, Tensor::Vector<float>({1, 2, 3})));
  summary::Image("digit", Const(g, Tensor(kUint8, {2, 4, 4, 1})), {.max_outputs = 1});
  summary::Audio("tone", Const(g, Tensor(kFloat32, {1, 10})), 8000);
  summary::Text("note", Const(g, Tensor::Scalar(std::string("hello"))));
  summary::Scalar("hidden", Const(g, Tensor::Scalar(1.0f)), {.collections = {}});
  const proto::Summary all = Compute(g, summary::MergeAll(g));
  ASSERT_EQ(all.value_size(), 5);
  EXPECT_EQ(all.value(1).histo().num(), 3);
  EXPECT_EQ(all.value(2).tag(), "digit/image");
  EXPECT_EQ(all.value(3).audio().sample_rate(), 8000);
  EXPECT_EQ(all.value(4).metadata().plugin_data().plugin_name(), "text");
  EXPECT_EQ(all.value(4).tensor().string_val(0), "hello");
}

TEST(Summary, ErrorsNameTheLine) {
  Graph g;
  summary::Text("note", Const(g, Tensor::Scalar(1.0f)));
  EXPECT_TRUE(absl::IsInvalidArgument(g.status()));
  EXPECT_NE(g.status().message().find("'note' (summary_test.cc:"), std::string::npos) << g.status();
  Graph h;
  EXPECT_FALSE(summary::Scalar("", Const(h, Tensor::Scalar(1.0f))).valid());
  EXPECT_NE(h.status().message().find("(summary_test.cc:"), std::string::npos) << h.status();
}

class FileWriterTest : public testing::Test {
 protected:
  const std::string& path() const { return path_; }
  TempDir dir_;
  const std::string path_ = dir_.path() + "/new/logs";
};

TEST_F(FileWriterTest, WritesAllKindsOfEvents) {
  Graph g;
  summary::Scalar("loss", Const(g, Tensor::Scalar(4.0f)));
  const Output merged = summary::MergeAll(g);
  RunMetadata metadata;
  const auto values =
      Session::Create(g).value()->Run({merged}, {}, {.trace_level = TraceLevel::kFull}, &metadata).value();
  auto writer = summary::FileWriter::Open(path()).value();
  ASSERT_TRUE(writer->AddGraph(g).ok());
  ASSERT_TRUE(writer->AddMetaGraph("meta").ok());
  ASSERT_TRUE(writer->AddSessionLog(summary::SessionStatus::kStart, 6).ok());
  ASSERT_TRUE(writer->AddSummary(values[0], 7).ok());
  ASSERT_TRUE(writer->AddScalar("rate", 0.5f, 8).ok());
  ASSERT_TRUE(writer->AddRunMetadata(metadata, "step 7", 7).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->AddRunMetadata(metadata, "step 7", 7)));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->AddSummary("\xff not a message")));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->AddSummary(Tensor::Scalar(1.0f))));
  ASSERT_TRUE(writer->Flush().ok());
  const auto events = ReadEvents(path());
  ASSERT_EQ(events.size(), 6u);
  Graph same;
  EXPECT_TRUE(same.ImportGraphDef(events[0].graph_def()).ok());
  EXPECT_EQ(events[1].meta_graph_def(), "meta");
  EXPECT_EQ(events[2].session_log().status(), proto::SessionLog::START);
  EXPECT_EQ(events[2].step(), 6);
  EXPECT_EQ(ReadScalar(path(), "loss"), (Scalars{{7, 4.0f}}));
  EXPECT_EQ(ReadScalar(path(), "rate"), (Scalars{{8, 0.5f}}));
  EXPECT_EQ(events[5].tagged_run_metadata().tag(), "step 7");
  EXPECT_EQ(events[5].tagged_run_metadata().run_metadata(), metadata.serialized());
}

TEST_F(FileWriterTest, ContinuesInAnotherFileAfterItsSizeAndAfterReopening) {
  auto writer = summary::FileWriter::Open(path(), {.filename_suffix = ".test", .max_file_bytes = 200}).value();
  Scalars all;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(writer->AddScalar("x", static_cast<float>(i), i).ok());
    all.emplace_back(i, static_cast<float>(i));
  }
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(writer->AddScalar("x", 1)));
  const size_t files = EventFiles(path()).size();
  EXPECT_GT(files, 3u);
  EXPECT_EQ(ReadScalar(path(), "x"), all) << "the names of the files must have the order of the events";
  for (const std::string& file : EventFiles(path())) EXPECT_TRUE(file.ends_with(".test")) << file;
  ASSERT_TRUE(writer->Reopen().ok());
  ASSERT_TRUE(writer->AddScalar("x", 20, 20).ok());
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(EventFiles(path()).size(), files + 1);
  EXPECT_EQ(ReadScalar(path(), "x").size(), 21u);
}

TEST_F(FileWriterTest, FlushesAfterTheIntervalByItself) {
  auto writer = summary::FileWriter::Open(path(), {.flush_every = std::chrono::milliseconds(1)}).value();
  ASSERT_TRUE(writer->AddScalar("x", 1, 1).ok());
  while (ReadScalar(path(), "x").empty()) std::this_thread::yield();
}

TEST_F(FileWriterTest, ManyThreadsMayAdd) {
  auto writer = summary::FileWriter::Open(path(), {.max_queue = 2}).value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&writer, t] {
      for (int i = 0; i < 50; ++i) EXPECT_TRUE(writer->AddScalar(StrCat("t", t), static_cast<float>(i), i).ok());
      EXPECT_TRUE(writer->Flush().ok());
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(ReadScalar(path(), "t3").size(), 50u);
}

TEST_F(FileWriterTest, BadOptionsAndDirectoriesAreErrors) {
  EXPECT_TRUE(absl::IsInvalidArgument(summary::FileWriter::Open("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(summary::FileWriter::Open(path(), {.max_queue = 0}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(summary::FileWriter::Open(path(), {.filename_suffix = "/x"}).status()));
  EXPECT_FALSE(summary::FileWriter::Open(dir_.Write("file", "")).ok());
}

// Trains `weight` towards 3. The summary "fed_value" is a value that the program feeds.
struct SummaryModel {
  SummaryModel() {
    weight = Variable(g, {}, Zeros(), {.name = "w"});
    const Output loss = Square(weight - 3.0f);
    global_step = GetOrCreateGlobalStep(g);
    GradientDescentOptimizer optimizer(0.1);
    train = optimizer.Minimize(loss, {.global_step = global_step});
    fed = Placeholder(g, kFloat32, {}, "fed");
    summary::Scalar("fed_value", fed);
  }
  Graph g;
  Variable weight, global_step;
  Output fed;
  Operation train;
};

TEST(SummaryHooks, AMonitoredSessionWritesSummariesOfItsRunsAndTheGraph) {
  TempDir dir;
  SummaryModel m;
  auto session = MonitoredTrainingSession(
      m.g, {.hooks = {StopAtStep(250)}, .summary_dir = dir.path(), .save_summaries_every_steps = 100});
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 1; !(*session)->ShouldStop(); ++i) {
    const auto run = (*session)->Run({m.train}, {{m.fed, Tensor::Scalar(static_cast<float>(i))}});
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_TRUE((*session)->Run({m.weight}).ok())
        << "a run that does not train must not need the feeds of the summaries";
  }
  ASSERT_TRUE((*session)->Close().ok());
  EXPECT_EQ(ReadScalar(dir.path(), "fed_value"), (Scalars{{1, 1}, {101, 101}, {201, 201}}));
  EXPECT_EQ(ReadScalar(dir.path(), "global_step/sec").size(), 2u);
  const auto events = ReadEvents(dir.path());
  EXPECT_FALSE(events[0].graph_def().empty());
  EXPECT_EQ(events[1].session_log().status(), proto::SessionLog::START);
  EXPECT_EQ(events.back().session_log().status(), proto::SessionLog::STOP);
}

TEST(SummaryHooks, SummariesCanBeWrittenByTime) {
  TempDir dir;
  SummaryModel m;
  auto session = MonitoredTrainingSession(
      m.g, {.hooks = {StopAtStep(5)}, .summary_dir = dir.path(), .save_summaries_every = std::chrono::milliseconds(0)});
  ASSERT_TRUE(session.ok()) << session.status();
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run({m.train}, {{m.fed, Tensor::Scalar(1.0f)}}).ok());
  ASSERT_TRUE((*session)->Close().ok());
  EXPECT_EQ(ReadScalar(dir.path(), "fed_value").size(), 5u);
}

TEST(SummaryHooks, IntervalsNeedADirectory) {
  SummaryModel m;
  EXPECT_TRUE(absl::IsInvalidArgument(MonitoredTrainingSession(m.g, {.save_summaries_every_steps = 1}).status()));
}

TEST(SupervisorSummaries, AreComputedInTheBackgroundOrByTheProgram) {
  TempDir dir;
  Graph g;
  const Variable v(g, {}, Constant(2.0), {.name = "v"});
  const Variable global_step = GetOrCreateGlobalStep(g);
  const Operation count = global_step.AssignAdd(int64_t{1});
  summary::Scalar("v_now", v);
  const Output fed = Placeholder(g, kFloat32, {}, "fed");
  const Output mine = summary::Scalar("mine", fed, {.collections = {}});
  Supervisor supervisor(g, {.logdir = dir.path(), .save_summaries_every = std::chrono::milliseconds(1)});
  auto session = supervisor.PrepareOrWaitForSession();
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({count}).ok());
  const auto summary = (*session)->Run({mine}, {{fed, Tensor::Scalar(9.0f)}});
  ASSERT_TRUE(supervisor.SummaryComputed((*summary)[0]).ok());
  while (true) {
    ASSERT_TRUE(supervisor.summary_writer()->Flush().ok());
    if (!ReadScalar(dir.path(), "global_step/sec").empty() && !ReadScalar(dir.path(), "v_now").empty()) break;
    ASSERT_FALSE(supervisor.ShouldStop());
  }
  const Status stopped = supervisor.Stop();
  ASSERT_TRUE(stopped.ok()) << stopped;
  EXPECT_EQ(ReadScalar(dir.path(), "mine"), (Scalars{{1, 9.0f}}));
  EXPECT_EQ(ReadScalar(dir.path(), "v_now").at(0).second, 2.0f);
  int checkpoints = 0;
  bool meta_graph = false;
  for (const auto& event : ReadEvents(dir.path())) {
    checkpoints += event.session_log().status() == proto::SessionLog::CHECKPOINT;
    meta_graph = meta_graph || !event.meta_graph_def().empty();
  }
  EXPECT_GE(checkpoints, 1);
  EXPECT_TRUE(meta_graph);
  // A second session continues in another file.
  ASSERT_TRUE(supervisor.PrepareOrWaitForSession().ok());
  EXPECT_TRUE(supervisor.Stop().ok());
  EXPECT_EQ(EventFiles(dir.path()).size(), 2u);
}

TEST(SupervisorSummaries, ASummaryThatNeedsFeedsStopsWithAHint) {
  TempDir dir;
  SummaryModel m;
  Supervisor supervisor(m.g, {.logdir = dir.path()});
  ASSERT_TRUE(supervisor.PrepareOrWaitForSession().ok());
  supervisor.WaitForStop();
  const Status status = supervisor.Stop();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find(".summary_op = Output()"), std::string::npos) << status;
}

}  // namespace
}  // namespace tensorbraid
