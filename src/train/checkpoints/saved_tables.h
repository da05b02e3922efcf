// Saves growing tables in checkpoints, and restores them. The tensors of a table are DeepRec's (docs/design/0013).
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_SAVED_TABLES_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_SAVED_TABLES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/train/saver.h"

namespace tensorbraid {

// What a save does besides, if increments can follow it (SaverOptions::incremental). The scalars of int64 are the
// number of the save, 0 if none can follow, and that of the completed save before it, or 0.
struct RecordedSave {
  Output number;
  Output predecessor;
  bool only_changes = false;  // whether it is an increment
};

// What a restore does besides, if increments can follow the save: the prefixes of those that exist, and the number of
// the save that the next one names as its predecessor.
struct RecordedRestore {
  Output increments;
  Output number;
};

// The checkpoint that gives a table its rows whatever else is restored (EmbeddingVariableOptions::restore_from), and
// the tensors for it that Saver::Restore feeds.
struct ChosenCheckpoint {
  std::string path;
  Output full, increments;
};

// The tensor with the names that a RestoreV2 reads, and its value. Saver::Restore may feed other names.
struct RestoredNames {
  Output tensor;
  std::vector<std::string> names;
};

// What Saver::Restore feeds besides the path of the checkpoint.
struct RestoreInputs {
  std::vector<RestoredNames> names;
  std::vector<ChosenCheckpoint> chosen;
};

// A growing table, or a part of one, with the slots of it that are saved.
struct SavedTable {
  const SavedVariable* table = nullptr;
  std::vector<const SavedVariable*> slots;

  // Adds the operations that read all rows, each of the 1,000 small tables at one moment, and appends the names and
  // values of the tensors. They run after `after` if it is valid. `recorded` may be null.
  void AddReads(Graph& graph, const Operation& after, const RecordedSave* recorded, std::vector<std::string>* names,
                std::vector<Output>* values) const;
  // Returns the operation that replaces all rows by those of the checkpoint, which may have another number of parts.
  // `recorded` may be null. Appends what Saver::Restore feeds for it to `chosen`.
  Operation AddRestore(Graph& graph, const Output& prefix, const RecordedRestore* recorded,
                       std::vector<ChosenCheckpoint>* chosen) const;
};

// Adds the operation that writes these tables to a checkpoint of their own, 1/1,000 of a table at a time. They are on
// one task. It runs after `after` if it is valid; `recorded` may be null.
Operation AddSaveOfTables(Graph& graph, const std::vector<SavedTable>& tables, const Output& prefix,
                          const Operation& after, const RecordedSave* recorded);

// The growing tables among the variables, with their slots. InvalidArgument if a slot is among them without its table,
// or under a name that does not begin with that of the table.
StatusOr<std::vector<SavedTable>> SavedTablesOf(const std::vector<const SavedVariable*>& variables);

// The name of the whole table that `saved` is, or is a part of, in the checkpoint; for a slot, that of the slot of the
// whole: "emb" for "emb/part_1", and "emb/Adagrad" for "emb/part_1/Adagrad".
std::string WholeNameOf(const SavedVariable& saved);

// The names under which a checkpoint may have rows of the table or slot `saved`, whatever the number of its parts:
// "emb-values", "emb/part_0-values", or "emb" if it was a static variable. REQUIRES: saved.variable.table() is not
// null.
std::vector<std::string> NamesOfRows(const SavedVariable& saved);

// Which names the checkpoint has in place of those of variables that it lacks, because it was saved with another number
// of parts. These variables belong to a part of another variable, such as the powers of AdamAsync: each part was
// updated in every step, so those of the first part hold for all.
std::map<std::string, std::string> NamesInOtherParts(const std::vector<const SavedVariable*>& variables,
                                                     const std::function<bool(const std::string&)>& has);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_SAVED_TABLES_H_
