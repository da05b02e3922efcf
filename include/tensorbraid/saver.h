// Saving and restoring the variables of a graph.
//
//   tensorbraid::Saver saver(g);
//   ...
//   TF_ASSIGN_OR_RETURN(auto path, saver.Save(*session, "logs/model", {.global_step = step}));
//   TF_RETURN_IF_ERROR(saver.Restore(*session, path));
//
// Files are TensorFlow's: tf.train.Saver and tf.train.load_checkpoint read them, tf.train.import_meta_graph the graph
// beside them, and the other way round.
#ifndef TENSORBRAID_SAVER_H_
#define TENSORBRAID_SAVER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensorbraid/checkpoint.h"
#include "tensorbraid/graph.h"
#include "tensorbraid/session.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {

// A variable as it is called in a checkpoint.
struct SavedVariable {
  SavedVariable(const Variable& variable) : SavedVariable(variable, variable.name()) {}  // NOLINT: converts
  // `shape_and_slice` says which part of a larger tensor the variable is, as "4 2 0,2:-": rows 0 and 1 of four.
  SavedVariable(const Variable& variable, std::string name, std::string shape_and_slice = "")
      : variable(variable), name(std::move(name)), shape_and_slice(std::move(shape_and_slice)) {}
  Variable variable;
  std::string name;
  std::string shape_and_slice;
};

struct SaverOptions {
  // Empty: all global variables.
  std::vector<SavedVariable> variables = {};
  // So many checkpoints are kept, older ones removed; 0: all.
  int max_to_keep = 5;
  // One of those that would be removed is kept for good every so often.
  double keep_checkpoint_every_n_hours = 10'000;
  // Every task saves and restores the variables that it holds, to one file system that all tasks and the saving
  // program see; otherwise the values go through the task that the session runs on.
  bool sharded = false;
  // "model-00000100" instead of "model-100".
  bool pad_step_number = false;
  std::string name = "save";
};

struct SaveOptions {
  // Added to the path: "model-1000".
  std::optional<int64_t> global_step = std::nullopt;
  // The file in the directory of checkpoints that says which is the last one.
  std::string latest_filename = "checkpoint";
  // The graph beside the checkpoint, as "model-1000.meta".
  bool write_meta_graph = true;
};

// Adds the operations to the graph, and manages the checkpoints of one directory. Not thread-safe. Must not outlive the
// graph. Source: tf.train.Saver.
class Saver {
 public:
  // Mistakes (nothing to save, two variables of one name) are the graph's.
  explicit Saver(Graph& graph, SaverOptions options = {});
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Writes a checkpoint, then says so in the file "checkpoint", then removes those that are too old. Makes the
  // directory of `path`. Returns the checkpoint's prefix. Errors are those of the run and of the file system; what was
  // there before is then as it was.
  StatusOr<std::string> Save(Session& session, const std::string& path, const SaveOptions& options = {});
  // Gives the variables the values of a checkpoint. NotFound when it, or a variable in it, is missing; InvalidArgument
  // for other shapes and dtypes; DataLoss when it is damaged.
  Status Restore(Session& session, const std::string& path) const;

  // The checkpoints that this saver manages, oldest first.
  std::vector<std::string> last_checkpoints() const;
  // Takes over the management of checkpoints that an earlier process has written; those not there are left out.
  void RecoverLastCheckpoints(const std::vector<std::string>& paths);

  // The tensor that is fed with the path, the one that is fetched to save, and the operation that restores.
  Output filename() const;
  Output save() const;
  Operation restore() const;
  // TensorFlow's MetaGraphDef: the graph, its collections of variables, and how to save it.
  StatusOr<std::string> ToMetaGraphDef() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_SAVER_H_
