// Summaries: values of a training that TensorBoard shows.
//
//   tensorbraid::summary::Scalar("loss", loss);
//   tensorbraid::summary::Histogram("weights", w);
//   auto summaries = tensorbraid::summary::MergeAll(g);
//   TF_ASSIGN_OR_RETURN(auto writer, tensorbraid::summary::FileWriter::Open("logs"));
//   ...
//   TF_ASSIGN_OR_RETURN(auto values, session->Run({train, summaries}, feeds));
//   TF_RETURN_IF_ERROR(writer->AddSummary(values[1], step));
//
// FileWriter is in train/file_writer.h. SummarySaver (train.h), MonitoredTrainingSession's summary_dir and Supervisor do this by themselves. Then
// `tensorboard --logdir=logs` shows the result.
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
  // Groups summaries in TensorBoard: the tag becomes "family/family/name", as in TensorFlow.
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
// float32 scalar in hertz. Tags as for Image, but with "audio". Source: tf.summary.audio.
Output Audio(const std::string& name, const Operand& clips, const Operand& sample_rate,
             const AudioOptions& options = {});

// The strings of a tensor of any shape, which TensorBoard shows as Markdown; a matrix becomes a table. A mistake if the
// tensor is not of strings. Source: tf.summary.text.
Output Text(const std::string& name, const Operand& text, const SummaryOptions& options = {});

// One summary with the values of all `summaries`. A run in which two of them have the same tag fails with
// InvalidArgument. Source: tf.summary.merge.
Output Merge(const std::vector<Output>& summaries, const std::string& name = "",
             std::source_location loc = std::source_location::current());
// Merges the summaries of a collection. Invalid if there are none. Source: tf.summary.merge_all.
Output MergeAll(Graph& graph, const std::string& collection = kSummaries,
                std::source_location loc = std::source_location::current());

enum class SessionStatus { kStart = 1, kStop = 2, kCheckpoint = 3 };

struct FileWriterOptions {
  // How many events may wait to be written; a caller that adds more blocks.
  int max_queue = 10;
  // The longest time until a written event becomes visible to readers.
  std::chrono::milliseconds flush_every = std::chrono::minutes(2);
  // Appended to the name of the file.
  std::string filename_suffix = "";
  // If positive, continues in another file when one has this size.
  int64_t max_file_bytes = 0;
};

// Writes events to files "events.out.tfevents.TIME.HOST..." of a directory, on a thread of its own. Thread-safe. If
// writing fails, that call or a later one returns the error of the file system, and later events are dropped. Events
// get the current time and the given step. Source: tf.summary.FileWriter.
class FileWriter {
 public:
  // Creates the directory if needed, and the file.
  static StatusOr<std::unique_ptr<FileWriter>> Open(std::string logdir, FileWriterOptions options = {});
  ~FileWriter();  // Closes; logs an error.
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // All Add functions return FailedPrecondition after Close. They block only while the queue is full.

  // Adds a serialized Summary, given as a fetched tensor or as bytes. InvalidArgument if it is not a Summary. Without a
  // step, TensorBoard shows it at step 0.
  Status AddSummary(const Tensor& summary, std::optional<int64_t> step = std::nullopt);
  Status AddSummary(std::string_view summary, std::optional<int64_t> step = std::nullopt);
  Status AddScalar(const std::string& tag, float value, std::optional<int64_t> step = std::nullopt);
  Status AddGraph(const Graph& graph);
  // Adds a serialized MetaGraphDef (see Saver::ToMetaGraphDef).
  Status AddMetaGraph(std::string_view meta_graph);
  // Adds the trace of a step, which TensorBoard shows under `tag`. InvalidArgument if the tag is empty or was added
  // before.
  Status AddRunMetadata(const RunMetadata& metadata, const std::string& tag,
                        std::optional<int64_t> step = std::nullopt);
  // Tells TensorBoard that a training starts, ends or saves. After a start, TensorBoard hides the values that an
  // earlier training wrote for later steps.
  Status AddSessionLog(SessionStatus status, std::optional<int64_t> step = std::nullopt,
                       const std::string& checkpoint_path = "");
  // Adds a serialized Event unchanged.
  Status AddEvent(std::string_view event);

  // Blocks until all events so far are visible to readers.
  Status Flush();
  // Writes all events and closes the file. Does nothing if the writer is closed.
  Status Close();
  // Continues in a new file after Close. Does nothing if the writer is open.
  Status Reopen();

  const std::string& logdir() const;
  // Path of the file that events are written to, or were last written to.
  std::string path() const;

 private:
  struct Impl;
  explicit FileWriter(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tensorbraid::summary

#endif  // TENSORBRAID_OPS_SUMMARY_H_
