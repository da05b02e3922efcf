// Summaries: values of a training run, which TensorBoard shows.
//
//   tensorbraid::summary::Scalar("loss", loss);
//   tensorbraid::summary::Histogram("weights", w);
//   auto summaries = tensorbraid::summary::MergeAll(g);
//   TF_ASSIGN_OR_RETURN(auto writer, tensorbraid::summary::FileWriter::Open("logs"));
//   ...
//   TF_ASSIGN_OR_RETURN(auto values, session->Run({train, summaries}, feeds));
//   TF_RETURN_IF_ERROR(writer->AddSummary(values[1], step));
//
// FileWriter is in train/file_writer.h. SummarySaver (train/hooks.h), MonitoredTrainingSession's summary_dir and
// Supervisor do this by themselves. Then `tensorboard --logdir=logs` shows the result.
#ifndef TENSORBRAID_OPS_SUMMARY_H_
#define TENSORBRAID_OPS_SUMMARY_H_

#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid::summary {

// The collection of the graph that summaries join.
inline constexpr char kSummaries[] = "summaries";

struct SummaryOptions {
  // The collections of the graph that the summary joins; MergeAll merges one collection.
  std::vector<std::string> collections = {kSummaries};
  // Groups summaries in TensorBoard: the tag becomes "family/family/name" (the family twice, as in TensorFlow).
  std::string family = "";
};

// Each of these functions returns a string scalar, a serialized Summary message. Its tag is `name` within the open name
// scope, made unique there; characters that a name cannot have become "_". None has a gradient.

// The value of a real scalar. Source: tf.summary.scalar.
Output Scalar(const std::string& name, const Operand& value, const SummaryOptions& options = {});

// The distribution of the elements of a real tensor of any shape, in buckets that grow by 10 %. A run in which an
// element is not finite fails with InvalidArgument. Source: tf.summary.histogram.
Output Histogram(const std::string& name, const Operand& values, const SummaryOptions& options = {});

struct ImageOptions {
  int max_outputs = 3;  // images of the batch to show
  std::vector<std::string> collections = {kSummaries};
  std::string family = "";
};
// Images of shape [batch, height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGBA) channels; uint8, or
// floating-point numbers, which are scaled to the range of a byte. Tags are "name/image/0", "name/image/1", ...;
// "name/image" if max_outputs is 1. Source: tf.summary.image.
Output Image(const std::string& name, const Operand& images, const ImageOptions& options = {});

struct AudioOptions {
  int max_outputs = 3;  // clips of the batch to keep
  std::vector<std::string> collections = {kSummaries};
  std::string family = "";
};
// float32 clips of shape [batch, frames] or [batch, frames, channels], with samples from -1 to 1. `sample_rate` is a
// float32 scalar in hertz. The tags are as for Image, but with "audio" instead of "image". Source: tf.summary.audio.
Output Audio(const std::string& name, const Operand& clips, const Operand& sample_rate,
             const AudioOptions& options = {});

// The strings of a tensor of any shape, which TensorBoard shows as Markdown; a matrix becomes a table. If the tensor is
// not of strings, this is recorded as a mistake (see Graph::status). Source: tf.summary.text.
Output Text(const std::string& name, const Operand& text, const SummaryOptions& options = {});

// One summary with the values of all `summaries`. A run in which two of them have the same tag fails with
// InvalidArgument. Source: tf.summary.merge.
Output Merge(const std::vector<Output>& summaries, const std::string& name = "",
             std::source_location loc = std::source_location::current());
// Merges the summaries of a collection. Returns an invalid Output, without a mistake, if there are none. Source:
// tf.summary.merge_all.
Output MergeAll(Graph& graph, const std::string& collection = kSummaries,
                std::source_location loc = std::source_location::current());

}  // namespace tensorbraid::summary

#endif  // TENSORBRAID_OPS_SUMMARY_H_
