// What one task saves and restores: the operations of a part of a checkpoint.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_SAVED_PART_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_SAVED_PART_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensorbraid/train/saver.h"
#include "train/checkpoints/random_states.h"
#include "train/checkpoints/saved_tables.h"

namespace tensorbraid {

// The variables of the graph that are saved, and those of them that are growing tables.
struct SavedSet {
  std::vector<const SavedVariable*> variables;
  std::vector<SavedTable> tables;
};

// The first reads of a save: the value of the global step, if it is saved. The rows of growing tables are read later.
using FirstReads = std::map<const SavedVariable*, Output>;

// How a checkpoint is saved and restored.
struct SaveKind {
  FirstReads first = {};
  // Null if no increments can follow.
  const RecordedSave* recorded = nullptr;
  const RecordedRestore* restored = nullptr;
  Output link = {};  // the tensor kLinkTensor of an increment
  // The variables of which an increment has only the rows that have changed.
  std::set<const SavedVariable*> by_rows = {};
};

// Those of the variables whose rows are updated by operations of the graph.
std::set<const SavedVariable*> UpdatedByRows(const Graph& graph, const std::vector<const SavedVariable*>& variables);

// A constant with strings, or one string.
Output StringConst(Graph& g, const Tensor& value, const std::string& name);

// One task's variables, saved to and restored from one file. The file may have other states, too.
class SavedPart {
 public:
  struct States {
    const RandomStates* random = nullptr;  // are saved only: AddRestore restores them
    std::vector<SavedState> given = {};
  };
  SavedPart(const SavedSet& saved, bool reshape, States states);

  // Whether there are values besides the rows of growing tables.
  bool has_values() const { return !names_.empty() || states_.random != nullptr; }
  // Whether the rows of growing tables are saved apart, in the checkpoint that SaveRows adds.
  bool saves_rows_apart(const SaveKind& kind) const {
    return !tables_.empty() && (kind.recorded == nullptr || !kind.recorded->only_changes);
  }
  Operation SaveRows(Graph& g, const Output& prefix, const SaveKind& kind) const;
  // `link` is set for one part of an increment: the one whose file has SaveKind::link.
  Operation Save(Graph& g, const Output& prefix, const SaveKind& kind, const Output& link, bool with_rows) const;
  // What Saver::Restore feeds is appended to `inputs`.
  void Restore(Graph& g, const Output& full, const SaveKind& kind, std::vector<Operation>* assigned,
               RestoreInputs* inputs) const;

 private:
  std::vector<const SavedVariable*> variables_;  // without growing tables
  const std::vector<SavedTable> tables_;
  const bool reshape_;
  const States states_;
  // Records, after `after`, which rows of the variable change after a save or restore.
  Operation RecordRows(Graph& g, const SavedVariable& v, const Output& save, const Output& predecessor,
                       const Operation& after) const;

  std::vector<std::string> names_;
  std::vector<std::string> slices_;           // for SaveV2
  std::vector<std::string> restored_slices_;  // for RestoreV2
  std::vector<DType> dtypes_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_SAVED_PART_H_
