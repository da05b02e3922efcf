// Writes the event files that TensorBoard shows. The summaries in them are made by the ops of ops/summary.h.
#ifndef TENSORBRAID_TRAIN_FILE_WRITER_H_
#define TENSORBRAID_TRAIN_FILE_WRITER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid::summary {

enum class SessionStatus { kStart = 1, kStop = 2, kCheckpoint = 3 };

struct FileWriterOptions {
  // How many events may wait to be written; a caller that adds more blocks.
  int max_queue = 10;
  // The longest time until an added event becomes visible to readers.
  std::chrono::milliseconds flush_every = std::chrono::minutes(2);
  // Appended to the name of the file.
  std::string filename_suffix = "";
  // If positive, the writer continues in another file when its file has this size.
  int64_t max_file_bytes = 0;
};

// Writes events to files "events.out.tfevents.TIME.HOST..." of a directory, on a thread of its own. Thread-safe. If
// writing fails, the call that adds the event or a later call returns the error of the file system, and later events
// are dropped. Events get the current time and the given step. Source: tf.summary.FileWriter.
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
  // Tells TensorBoard that a training run starts, ends or saves a checkpoint. After a start, TensorBoard hides the
  // values that an earlier run wrote for later steps.
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

#endif  // TENSORBRAID_TRAIN_FILE_WRITER_H_
