// Follows the increments of a training: writes the rows and the variables that they bring, for a process that serves.
#ifndef TENSORBRAID_CLI_TABLE_TABLE_FOLLOWER_H_
#define TENSORBRAID_CLI_TABLE_TABLE_FOLLOWER_H_

#include <ostream>
#include <string>

#include "cli/table/saved_tables_reader.h"

namespace tensorbraid {

struct FollowOptions {
  std::string directory;   // of the checkpoints
  bool full = false;       // whether to begin with the rows of the newest full checkpoint
  std::string table = {};  // only this table, and no variables; "" for all
};

// Writes lines of JSON:
//
//   {"begin":"model.ckpt-120","full":false}                              a checkpoint; a full one replaces all rows
//   {"table":"users","key":18,"deleted":true}                            first the keys that it deletes
//   {"table":"users","key":17,"version":118,"values":[0.5,-1.25]}        then rows; version: step of their last update
//   {"variable":"bias","dtype":"float32","shape":[2],"first":0,"values":[0.5,1]}    then other variables
//   {"end":"model.ckpt-120","full":false,"rows":1,"deleted":1,"variables":1}        the checkpoint is complete
//
// A line of a variable has up to 4,096 numbers of it that follow each other, from number `first` on, row by row. Which
// variables there are, ForEachVariable says.
// Numbers that are not finite are the strings "nan", "inf" and "-inf". Each number is the shortest text from which the
// same number is read. Not thread-safe.
class TableFollower {
 public:
  TableFollower(FollowOptions options, std::ostream& out) : options_(std::move(options)), out_(out) {}

  // Writes the checkpoints that were completed since the last call, and returns whether there was any. The first call
  // writes the increments of the newest full checkpoint. If a new full checkpoint has come, writes all of it, because
  // no increment leads to it. Reads two small files if nothing has changed.
  //
  // NotFound if there is no checkpoint yet. InvalidArgument if the directory has the increments, or if the newest
  // full checkpoint has no table of the name that was asked for. FailedPrecondition, with what to do, if an increment
  // exists whose predecessor is gone or was replaced. Unavailable if `out` takes no more.
  StatusOr<bool> Poll();

 private:
  // What the files say that list the checkpoints and the increments.
  std::string Lists() const;
  StatusOr<bool> PollOnce();
  // InvalidArgument if the full checkpoint lacks the table that was asked for.
  Status CheckTable(const std::string& full) const;
  Status Write(const std::string& prefix, bool full);
  Status WriteTable(SavedTablesReader& reader, const TableInCheckpoint& table, bool full, int64_t* rows,
                    int64_t* deleted);
  // Writes the variables that the checkpoint brings, and adds how many to `*variables`.
  Status WriteVariables(const std::string& prefix, bool full, int64_t* variables);
  Status WriteLine(const std::string& line);

  const FollowOptions options_;
  std::ostream& out_;
  std::string lists_;               // as they were when everything had been written
  std::string full_, full_id_;      // the full checkpoint whose increments are written
  std::string newest_, newest_id_;  // the last checkpoint that was written or left out
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TABLE_TABLE_FOLLOWER_H_
