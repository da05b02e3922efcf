// The learning curve of a training run, drawn from the scalars that its summaries hold (ops/summary.h). No other
// program is needed to see it: the result is an SVG file, which web browsers show.
//
//   // With MonitoredTrainingSessionOptions::summary_dir = "logs", the chief saves this scalar during training:
//   tensorbraid::summary::Scalar("loss", loss);
//   ...
//   // At the end of training:
//   TF_ASSIGN_OR_RETURN(auto path, tensorbraid::summary::WriteLearningCurve("logs", {.panels = {{"loss", {"loss"}}}}));
#ifndef TENSORBRAID_TRAIN_LEARNING_CURVE_H_
#define TENSORBRAID_TRAIN_LEARNING_CURVE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid::summary {

// The functions here are thread-safe, and block for as long as the file system does.

struct ScalarPoint {
  int64_t step;
  float value;
};

// The scalars in all event files of a directory, keyed by tag, in the order in which they were written. As in
// TensorBoard, a training run that starts at a step (SessionStatus::kStart) hides the values that earlier runs wrote
// for this step and later steps. So training that was continued from a checkpoint gives one curve. A file whose end is
// missing, because its program was killed or is still writing, is read as far as it goes. Returns NotFound if the
// directory has no event file, and DataLoss, naming the file, if a file is damaged. Source:
// tf.compat.v1.train.summary_iterator.
StatusOr<std::map<std::string, std::vector<ScalarPoint>>> ReadScalars(const std::string& logdir);

// Curves that share an axis.
struct CurvePanel {
  std::string label;              // of the vertical axis
  std::vector<std::string> tags;  // one curve for each; those without a value are left out
  bool log_scale = false;         // values that are not positive are left out
};

struct LearningCurveOptions {
  std::string title = "Learning curve";
  std::vector<CurvePanel> panels;  // from top to bottom; all have the same horizontal axis, the step
  std::string path = "";           // of the SVG file; "": LOGDIR/learning_curve.svg
};

// Draws scalars of a directory's event files and returns the path of the drawing. Creates or replaces that file, and
// creates missing directories of its path. Values that are not finite are left out. Call FileWriter::Flush first if a
// writer is still open. Returns InvalidArgument without panels, and the errors of ReadScalars and of the file system.
StatusOr<std::string> WriteLearningCurve(const std::string& logdir, const LearningCurveOptions& options);

}  // namespace tensorbraid::summary

#endif  // TENSORBRAID_TRAIN_LEARNING_CURVE_H_
