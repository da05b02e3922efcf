// Reads the growing tables of a running job.
#ifndef TENSORBRAID_CLI_TABLE_RUNNING_TABLES_H_
#define TENSORBRAID_CLI_TABLE_RUNNING_TABLES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/table/saved_tables_reader.h"
#include "cluster/protobuf/report.pb.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {

// Rows that were read from a running job.
class FetchedRows final : public TableRowSource {
 public:
  Status ForEachRow(const TableInCheckpoint& table, bool slots,
                    const std::function<Status(const SavedRow&)>& visit) override;
  // Adds the outputs of an _InspectTable.
  void Add(std::vector<Tensor> outputs) { parts_.push_back(std::move(outputs)); }
  // What the rows say about the table: its slots, dim, and whether it counts.
  void Describe(TableInCheckpoint* table) const;

 private:
  std::vector<std::vector<Tensor>> parts_;
};

// Reads all rows of a table of a running job, some of its 1,000 small tables at a time.
class RunningRows final : public TableRowSource {
 public:
  // Reads the rows of the keys with these remainders by 1,000.
  using Read = std::function<StatusOr<FetchedRows>(const std::vector<int64_t>& residues)>;
  RunningRows(int residues_at_once, Read read) : residues_at_once_(residues_at_once), read_(std::move(read)) {}
  Status ForEachRow(const TableInCheckpoint& table, bool slots,
                    const std::function<Status(const SavedRow&)>& visit) override;

 private:
  const int residues_at_once_;
  const Read read_;
};

// Not thread-safe. Changes nothing in the job.
class RunningTables {
 public:
  // `report` is the status of a cluster. `session` has the options for sessions with one of its tasks.
  RunningTables(const proto::ClusterReport& report, SessionOptions session);

  // A line for each growing table: rows, parts, memory, and how many rows were made in the last minute.
  std::string Describe() const;
  // Reads the rows of those of the keys that have one. Sets what is known of the table in `*found`. NotFound lists the
  // tables, or suggests the nearest name.
  StatusOr<FetchedRows> Rows(const std::string& table, const std::vector<int64_t>& keys, TableInCheckpoint* found);
  // Reads the `count` rows of each part that come first by "norm", "frequency" or "version".
  StatusOr<FetchedRows> Top(const std::string& table, const std::string& by, int64_t count, TableInCheckpoint* found);
  // Gives all rows, each as it is when it is read. Sets what is known of the table in `*found`. This object and
  // `*found` must outlive the result.
  StatusOr<RunningRows> All(const std::string& table, TableInCheckpoint* found);

 private:
  struct Part {
    std::string task;  // "ps/0"
    proto::TableReport report;
  };
  using Parts = std::map<int, Part>;
  StatusOr<const Parts*> Find(const std::string& table) const;
  // The keys of each part: those that `keys` has for it.
  using KeysOfPart = std::function<std::vector<int64_t>(int number, int parts)>;
  StatusOr<FetchedRows> Inspect(const std::string& table, const KeysOfPart& keys, const std::string& by, int64_t count,
                                TableInCheckpoint* found);

  std::map<std::string, Parts> tables_;  // by the name of the whole table
  const SessionOptions session_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TABLE_RUNNING_TABLES_H_
