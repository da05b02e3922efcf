// Reads the growing tables of a running job.
#ifndef TENSORBRAID_CLI_TABLE_RUNNING_TABLES_H_
#define TENSORBRAID_CLI_TABLE_RUNNING_TABLES_H_

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

 private:
  struct Part {
    std::string task;  // "ps/0"
    proto::TableReport report;
  };
  using Parts = std::map<int, Part>;
  StatusOr<const Parts*> Find(const std::string& table) const;
  StatusOr<FetchedRows> Inspect(const std::string& table, const std::vector<int64_t>& keys, const std::string& by,
                                int64_t count, TableInCheckpoint* found);

  std::map<std::string, Parts> tables_;  // by the name of the whole table
  const SessionOptions session_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TABLE_RUNNING_TABLES_H_
