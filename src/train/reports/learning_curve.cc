#include "tensorbraid/train/learning_curve.h"

#include "core/text/strings.h"
#include "io/file.h"
#include "io/record.h"
#include "io/summary.pb.h"
#include "train/reports/line_chart.h"

namespace tensorbraid::summary {
namespace {

using Scalars = std::map<std::string, std::vector<ScalarPoint>>;

void AddEvent(const proto::Event& event, Scalars& scalars) {
  // Training that starts from a checkpoint repeats the steps after it, so their earlier points are removed.
  if (event.session_log().status() == proto::SessionLog::START) {
    for (auto& [tag, points] : scalars) {
      std::erase_if(points, [&](const ScalarPoint& p) { return p.step >= event.step(); });
    }
  }
  for (const auto& value : event.summary().value()) {
    if (value.value_case() == proto::Summary::Value::kSimpleValue) {
      scalars[value.tag()].push_back({event.step(), value.simple_value()});
    }
  }
}

Status AddFile(const std::string& path, Scalars& scalars) {
  TF_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(path));
  std::string record;
  while (true) {
    const Status read = reader->Read(&record);
    // The last record of a killed program may be cut.
    if (absl::IsOutOfRange(read) || reader->is_cut()) return OkStatus();
    TF_RETURN_IF_ERROR(read);
    proto::Event event;
    if (!event.ParseFromString(record)) {
      return DataLoss(path, ": a record before offset ", reader->offset(), " is not a serialized Event");
    }
    AddEvent(event, scalars);
  }
}

}  // namespace

StatusOr<std::map<std::string, std::vector<ScalarPoint>>> ReadScalars(const std::string& logdir) {
  TF_ASSIGN_OR_RETURN(const auto paths, MatchingPaths(JoinPath(logdir, "*.tfevents.*")));
  if (paths.empty()) return NotFound("there are no event files in '", logdir, "': save summaries to it first");
  Scalars scalars;
  for (const std::string& path : paths) TF_RETURN_IF_ERROR(AddFile(path, scalars));
  return scalars;
}

StatusOr<std::string> WriteLearningCurve(const std::string& logdir, const LearningCurveOptions& options) {
  if (options.panels.empty()) return InvalidArgument("a learning curve needs at least one panel");
  TF_ASSIGN_OR_RETURN(const auto scalars, ReadScalars(logdir));
  Chart chart = {.title = options.title, .x_label = "step", .panels = {}};
  for (const CurvePanel& panel : options.panels) {
    ChartPanel drawn = {.label = panel.label, .series = {}, .log_scale = panel.log_scale};
    for (const std::string& tag : panel.tags) {
      ChartSeries series = {.name = tag, .points = {}};
      if (const auto found = scalars.find(tag); found != scalars.end()) {
        for (const ScalarPoint& p : found->second) series.points.emplace_back(p.step, p.value);
      }
      drawn.series.push_back(std::move(series));
    }
    chart.panels.push_back(std::move(drawn));
  }
  const std::string path = options.path.empty() ? JoinPath(logdir, "learning_curve.svg") : options.path;
  TF_RETURN_IF_ERROR(WriteFile(path, DrawChart(chart)));
  return path;
}

}  // namespace tensorbraid::summary
