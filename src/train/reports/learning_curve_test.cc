// Tests learning curves: what is read from event files, and how it is drawn.
#include "tensorbraid/train/learning_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/train/file_writer.h"
#include "train/reports/event_testutil.h"
#include "train/reports/line_chart.h"

namespace tensorbraid {
namespace {

using summary::FileWriter;
using summary::ReadScalars;
using summary::SessionStatus;
using summary::WriteLearningCurve;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

std::vector<std::pair<int64_t, float>> Points(const std::string& directory, const std::string& tag) {
  const auto scalars = ReadScalars(directory);
  EXPECT_TRUE(scalars.ok()) << scalars.status();
  std::vector<std::pair<int64_t, float>> points;
  for (const auto& p : scalars->at(tag)) points.emplace_back(p.step, p.value);
  return points;
}

// Writes an event file: the start of a session at the first step, then a loss at each step.
void WriteTraining(const std::string& directory, const std::string& suffix, std::vector<int64_t> steps, float loss) {
  auto writer = FileWriter::Open(directory, {.filename_suffix = suffix}).value();
  ASSERT_TRUE(writer->AddSessionLog(SessionStatus::kStart, steps.front()).ok());
  for (const int64_t step : steps) ASSERT_TRUE(writer->AddScalar("loss", loss, step).ok());
  ASSERT_TRUE(writer->Close().ok());
}

TEST(LearningCurve, TrainingThatIsContinuedGivesOneCurve) {
  TempDir dir;
  WriteTraining(dir.path(), ".a", {0, 10, 20, 30}, 3);
  // Starts from a checkpoint of step 15. The names of the two files differ in their suffixes, so they have this order
  // even if both are written within one second.
  WriteTraining(dir.path(), ".b", {15, 25}, 2);
  EXPECT_THAT(Points(dir.path(), "loss"), ElementsAre(Pair(0, 3), Pair(10, 3), Pair(15, 2), Pair(25, 2)));
}

TEST(LearningCurve, AFileIsReadUpToARecordThatIsCutAndADamagedRecordIsAnError) {
  TempDir dir;
  WriteTraining(dir.path(), "", {0, 10, 20}, 1);
  const std::string path = EventFiles(dir.path())[0];
  const std::string bytes = ReadFile(path).value();
  ASSERT_TRUE(WriteFile(path, bytes.substr(0, bytes.size() - 3)).ok());
  EXPECT_THAT(Points(dir.path(), "loss"), ElementsAre(Pair(0, 1), Pair(10, 1)));
  std::string damaged = bytes;
  damaged[damaged.size() - 6] ^= 1;  // the last record ends with a checksum of 4 bytes; this is before it
  ASSERT_TRUE(WriteFile(path, damaged).ok());
  const Status status = ReadScalars(dir.path()).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

TEST(LearningCurve, MissingFilesAndPanelsAreErrors) {
  TempDir dir;
  EXPECT_TRUE(absl::IsNotFound(ReadScalars(dir.path()).status()));
  EXPECT_TRUE(absl::IsNotFound(WriteLearningCurve(dir.path(), {.panels = {{"loss", {"loss"}}}}).status()));
  WriteTraining(dir.path(), "", {0}, 1);
  EXPECT_TRUE(absl::IsInvalidArgument(WriteLearningCurve(dir.path(), {}).status()));
}

TEST(LearningCurve, TheDrawingNamesTheCurvesAndTheirLastValues) {
  TempDir dir;
  WriteTraining(dir.path(), "", {0, 10}, 0.25);
  const auto path =
      WriteLearningCurve(dir.path(), {.title = "A < B", .panels = {{"loss & more", {"loss", "missing"}}}});
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(*path, dir.path() + "/learning_curve.svg");
  const std::string svg = ReadFile(*path).value();
  EXPECT_THAT(svg, HasSubstr(">A &lt; B</text>"));
  EXPECT_THAT(svg, HasSubstr(">loss &amp; more</text>"));
  EXPECT_THAT(svg, HasSubstr(">loss 0.25</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("missing")));
  EXPECT_THAT(svg, HasSubstr(">step</text>"));
  const std::string other = dir.path() + "/new/curve.svg";
  EXPECT_EQ(WriteLearningCurve(dir.path(), {.panels = {{"loss", {"loss"}}}, .path = other}).value(), other);
  EXPECT_TRUE(FileExists(other));
}

// The points of the only curve of a chart.
std::string Polyline(std::vector<std::pair<double, double>> points, bool log_scale = false) {
  const std::string svg =
      DrawChart({.title = "t", .x_label = "x", .panels = {{"y", {{"curve", std::move(points)}}, log_scale}}});
  const std::string before = " points=\"";
  const size_t begin = svg.find(before);
  if (begin == std::string::npos) return "";
  return svg.substr(begin + before.size(), svg.find('"', begin + before.size()) - begin - before.size());
}

TEST(LineChart, PutsPointsBetweenTheAxes) {
  // The panel is 660 pixels wide from 76, and 210 high from 78 (the largest value) to 288.
  EXPECT_EQ(Polyline({{0, 0}, {50, 1}, {100, 4}}), "76.0,288.0 406.0,235.5 736.0,78.0");
}

TEST(LineChart, LeavesOutWhatCannotBeDrawn) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Polyline({{0, 0}, {25, nan}, {50, 1}, {75, inf}, {100, 4}}), "76.0,288.0 406.0,235.5 736.0,78.0");
  EXPECT_EQ(Polyline({{0, nan}}), "");
  EXPECT_EQ(Polyline({{50, 0}, {100, 3}}, /*log_scale=*/true), "736.0,183.0")
      << "one point, in the middle of the vertical axis";
}

TEST(LineChart, DrawsEqualDistancesForEqualRatiosOnALogarithmicAxis) {
  // The axis begins and ends 10 % before and after the values: at 1 / 1.1 and 110.
  EXPECT_EQ(Polyline({{0, 1}, {50, 10}, {100, 100}}, /*log_scale=*/true), "76.0,283.8 406.0,183.0 736.0,82.2");
}

TEST(LineChart, DrawsTheMeansOfManyPoints) {
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < 100'000; ++i) points.emplace_back(i, i % 2);
  const std::string line = Polyline(points);
  // Each point has a comma. A curve has at most 400 points.
  EXPECT_LE(std::count(line.begin(), line.end(), ','), 400);
  EXPECT_GE(std::count(line.begin(), line.end(), ','), 300);
  EXPECT_THAT(line, testing::EndsWith(",78.0")) << "the last point is drawn as it is";
}

TEST(LineChart, TicksAreRoundNumbers) {
  EXPECT_THAT(AxisTicks(0, 1, /*count=*/5, /*log_scale=*/false),
              ElementsAre(0, 0.2, 0.4, testing::DoubleEq(0.6), 0.8, 1));
  EXPECT_THAT(AxisTicks(0, 2000, 8, false), ElementsAre(0, 500, 1000, 1500, 2000));
  EXPECT_THAT(AxisTicks(-3, 3, 5, false), ElementsAre(-2, 0, 2));
  EXPECT_THAT(AxisTicks(0.4, 6, 5, /*log_scale=*/true), ElementsAre(0.5, 1, 2, 5));
  EXPECT_THAT(AxisTicks(0.02, 55, 5, true), ElementsAre(0.1, 1, 10));
}

}  // namespace
}  // namespace tensorbraid
