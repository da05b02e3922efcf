// Saving and restoring the variables of a graph.
//
//   tensorbraid::Saver saver(g);
//   ...
//   TF_ASSIGN_OR_RETURN(auto path, saver.Save(*session, "logs/model", {.global_step = step}));
//   TF_RETURN_IF_ERROR(saver.Restore(*session, path));
//
// The files have TensorFlow's format: tf.train.Saver and tf.train.load_checkpoint read them, tf.train.import_meta_graph
// reads the graph beside them, and Tensorbraid reads what TensorFlow writes.
#ifndef TENSORBRAID_TRAIN_SAVER_H_
#define TENSORBRAID_TRAIN_SAVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/checkpoint/checkpoint.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/train/coordinator.h"

namespace tensorbraid {

// A variable and its name in a checkpoint.
struct SavedVariable {
  // Saves the variable under its own name, or, if it is a part of a partitioned variable, as that part of the whole.
  SavedVariable(const Variable& saved);  // NOLINT: converts
  // Saves the variable under the name `saved_as`. If it is a part of a larger tensor, `slice` says which part: "4 2
  // 0,2:-" means rows 0 and 1 of a tensor of shape [4, 2].
  SavedVariable(const Variable& saved, std::string saved_as, std::string slice = "")
      : variable(saved), name(std::move(saved_as)), shape_and_slice(std::move(slice)) {}
  Variable variable;
  std::string name;
  std::string shape_and_slice;
};

// State that is no variable, such as the position of an iterator: its values in a checkpoint, and how they are
// restored.
struct SavedState {
  struct Value {
    Output value;
    std::string name;                  // in the checkpoint
    std::string shape_and_slice = "";  // as of SavedVariable
  };
  std::vector<Value> values;
  // Adds the operation that restores the state from the values in a checkpoint. The constructor of Saver calls it once.
  std::function<Operation(const std::vector<Output>& restored)> restore;
};

struct SaverOptions {
  // Empty: all global variables, or none if there are `states`.
  std::vector<SavedVariable> variables = {};
  // The task on which the session runs writes and reads these, also if `sharded` is true.
  std::vector<SavedState> states = {};
  // How many checkpoints to keep; older ones are removed. 0 keeps all.
  int max_to_keep = 5;
  // Each time that this interval has passed, one checkpoint that would be removed is kept forever instead.
  std::chrono::milliseconds keep_checkpoint_every = std::chrono::hours(10'000);
  // If true, every task saves and restores the variables that it holds. All tasks and the saving program must then
  // share a file system. If false, all values pass through the task that the session runs on, and only that task and
  // the saving program need to share one. By default true if variables are placed on tasks, as on parameter servers,
  // and for growing tables, whose rows are then written 1/1,000 of a table at a time.
  std::optional<bool> sharded = std::nullopt;
  // Also saves the states of the graph's random ops and of the iterators of its input pipelines, with the elements that
  // the iterators have buffered. So resumed training draws the same numbers and reads the same elements as training
  // without the interruption. The states are those of the session that saves; other sessions on the same tasks have
  // states of their own. Iterators must have been initialized. A checkpoint without these states restores the variables
  // and logs a warning. Random ops within library functions are not saved, except those of input pipelines. TensorFlow
  // cannot import the graph beside such a checkpoint; it reads the checkpoint itself. See docs/design/0020.
  bool random_state = false;
  // Allows SaveIncrement, and restores increments with the full checkpoint that they follow.
  bool incremental = false;
  // Restores increments with the full checkpoint that they follow, as `incremental` does, but saves none.
  bool follow_increments = false;
  // Restores a tensor of another shape with as many elements, as a reshape would. Parts of variables keep their shapes.
  bool reshape = false;
  // Pads the step number: "model-00000100" instead of "model-100".
  bool pad_step_number = false;
  std::string name = "save";
};

struct SaveOptions {
  // Appended to the path: "model-1000".
  std::optional<int64_t> global_step = std::nullopt;
  // The file in the checkpoint's directory that names the latest checkpoint.
  std::string latest_filename = "checkpoint";
  // Whether to write the graph beside the checkpoint, as "model-1000.meta".
  bool write_meta_graph = true;
  // If the file "checkpoint" names a checkpoint of a later global step that this saver does not know, leaves the file
  // unchanged and returns Aborted. In this case, this process was stopped for a while, and another one has taken its
  // place. Needs global_step.
  bool keep_later_step = false;
};

// Adds operations that save and restore to the graph, and manages the checkpoints of one directory. Not thread-safe.
// Must not outlive the graph. Source: tf.train.Saver.
class Saver {
 public:
  // Mistakes (nothing to save, two variables with the same name) are recorded in the graph. If SaverOptions::variables
  // is empty and a global variable is made later, Save and Restore return FailedPrecondition: make the saver last.
  explicit Saver(Graph& graph, SaverOptions options = {}, std::source_location loc = std::source_location::current());
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Writes a checkpoint, then updates the file "checkpoint", then removes checkpoints that are too old. Creates the
  // directory of `path` if needed. Returns the checkpoint's prefix, an absolute path. A relative `path` begins at the
  // working directory of this process, even if another task writes the files. Blocks until all is written. Returns the
  // errors of the run and of the file system, and FailedPrecondition if the tasks and this process do not share the
  // directory. After an error, or if a task ends while it writes, earlier checkpoints are unchanged, even one with the
  // same prefix, and "checkpoint" names the last complete one.
  StatusOr<std::string> Save(Session& session, const std::string& path, const SaveOptions& options = {});
  // Saves what has changed since the last save of this saver: of growing tables the rows that were made or changed,
  // with their slots, and the keys that were deleted; all other variables as a whole. The increment of
  // "logs/model.ckpt" is called "logs/.incremental_checkpoint/model.ckpt-120". Saves a full checkpoint instead if none
  // was saved or restored before, after 64 increments or more bytes of them than the full checkpoint has, and if
  // somebody else has restored or initialized a table meanwhile. After an error, the next save has the changes of this
  // one, too. The increments of a full checkpoint are removed with it. Returns the prefix of what was saved, as Save
  // does, and its errors; FailedPrecondition without SaverOptions::incremental. The options latest_filename and
  // write_meta_graph are those of a full checkpoint.
  StatusOr<std::string> SaveIncrement(Session& session, const std::string& path, const SaveOptions& options = {});
  // Whether SaverOptions::incremental was set.
  bool incremental() const;
  // What this saver has saved or restored last, an increment or a full checkpoint; "" if it is not incremental.
  std::string last_saved() const;
  // Sets the variables to the values of a checkpoint. NotFound when the checkpoint or a variable in it is missing;
  // InvalidArgument, before any variable is set, when a shape or dtype differs; DataLoss when the checkpoint is
  // damaged. Blocks until done. `path` may be relative, as for Save. With SaverOptions::incremental or
  // follow_increments, the values are those of the newest increment that follows the checkpoint, or of an increment
  // that `path` names. A damaged increment ends the chain before it, which is logged; FailedPrecondition, before any
  // variable is set, if an increment exists whose predecessor is gone.
  Status Restore(Session& session, const std::string& path);
  // Whether a Restore has set the states of random ops and input pipelines (SaverOptions::random_state) since the last
  // ForgetRestored.
  bool restored_random_state() const;
  void ForgetRestored();

  // The checkpoints that this saver manages, oldest first.
  std::vector<std::string> last_checkpoints() const;
  // Takes over the management of checkpoints written by an earlier process. Ignores those that do not exist.
  void RecoverLastCheckpoints(const std::vector<std::string>& paths);

  // The functions filename, save and restore are for programs that save and restore in their own runs.
  //
  // The tensor to feed with the path of the checkpoint.
  Output filename() const;
  // The tensor to fetch in order to save.
  Output save() const;
  // The operation that restores.
  Operation restore() const;
  // TensorFlow's MetaGraphDef: the graph, its collections, and how to save it. ImportMetaGraph reads it.
  StatusOr<std::string> ToMetaGraphDef() const;
  // The collections of the graphs beside later checkpoints, in addition to those of variables: for each, the names of
  // operations ("train") and tensors ("loss:0").
  void SetCollections(std::map<std::string, std::vector<std::string>> collections);
  // Sets the queue runners, by the key of their collection, for the graphs that later saves write beside their
  // checkpoints. A program that imports such a graph finds them in the collection "queue_runners".
  void SetQueueRunners(std::map<std::string, std::vector<QueueRunner>> runners);
  // Sets collections, as serialized CollectionDefs, for the graphs that later saves write beside their checkpoints. A
  // collection of variables takes the place of the one that the graph itself has under this name.
  void SetCollectionDefs(std::map<std::string, std::string> collections);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// A graph that was read from a MetaGraphDef, and how to save and restore it with its own operations. The members of
// the saver are invalid if the graph was written without one.
struct ImportedMetaGraph {
  // The variables of each collection, such as "variables" and "trainable_variables".
  std::map<std::string, std::vector<Variable>> variables;
  // The queue runners of each collection, usually "queue_runners". Start them, or give them to a MonitoredSession.
  std::map<std::string, std::vector<QueueRunner>> queue_runners;
  // The names of the operations and tensors of every other collection.
  std::map<std::string, std::vector<std::string>> collections;
  Output filename;    // the tensor to feed with the path of the checkpoint
  Output save;        // the tensor to fetch in order to save
  Operation restore;  // the operation that restores
  int max_to_keep = 5;
};

struct ImportMetaGraphOptions {
  // The name scope of the imported nodes, within the open one. If the graph has it already, a number is appended, so
  // that a MetaGraph can be imported several times. Empty: the nodes keep their names.
  std::string import_scope = "";
};
// Adds the nodes and variables of a serialized MetaGraphDef to the graph. Gradients go through its branches, and
// through its loops but for those that were built without gradients (WhileOptions::back_prop). A variable that the
// graph has already is not added again. Fails as Graph::ImportGraphDef, and with InvalidArgument if the bytes are not a
// MetaGraphDef or name nodes that the graph lacks. Source: tf.train.import_meta_graph.
StatusOr<ImportedMetaGraph> ImportMetaGraph(Graph& graph, std::string_view meta_graph,
                                            const ImportMetaGraphOptions& options = {},
                                            std::source_location loc = std::source_location::current());

// Which variables of a graph a checkpoint can restore.
struct CheckpointCoverage {
  std::vector<SavedVariable> restorable;  // in the checkpoint, with the same shape and dtype
  std::vector<std::string> missing;       // the names of those that are not in the checkpoint
  std::vector<std::string> differing;     // those with another shape or dtype: "w, float32[2], is float32[3] there"
};

// Compares the checkpoint with `variables`; empty: all global variables of the graph. For a warm start, restore what
// is there and initialise the rest:
//
//   TF_ASSIGN_OR_RETURN(auto have, tensorbraid::CoverageOf("pretrained/model", g));
//   tensorbraid::Saver warm(g, {.variables = have.restorable, .name = "warm_start"});
//
// MonitoredTrainingSessionOptions::warm_start_from does this. NotFound if the checkpoint does not exist, DataLoss if it
// is damaged.
StatusOr<CheckpointCoverage> CoverageOf(const std::string& checkpoint, const Graph& graph,
                                        const std::vector<SavedVariable>& variables = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SAVER_H_
