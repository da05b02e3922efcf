#include "cli/table/running_tables.h"

#include <algorithm>

#include "core/text/strings.h"
#include "core/text/text_table.h"
#include "runtime/tables/table_rows.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// The outputs of an _InspectTable.
enum InspectOutput : size_t { kFound, kVersions, kFrequencies, kNumbers, kColumns, kWidths, kOutputs };

}  // namespace

Status FetchedRows::ForEachRow(const TableInCheckpoint& /*table*/, bool slots,
                               const std::function<Status(const SavedRow&)>& visit) {
  for (const std::vector<Tensor>& part : parts_) {
    const auto keys = part[kFound].data<int64_t>();
    const auto frequencies = part[kFrequencies].data<int64_t>();
    const auto numbers = part[kNumbers].data<float>();
    const auto widths = part[kWidths].data<int64_t>();
    size_t at = 0;  // of the next column in `numbers`
    const auto next = [&](int64_t width) {
      at += static_cast<size_t>(width);
      return numbers.subspan(at - static_cast<size_t>(width), static_cast<size_t>(width));
    };
    for (size_t r = 0; r < keys.size(); ++r) {
      SavedRow row{.key = keys[r], .version = part[kVersions].data<int64_t>()[r]};
      if (!frequencies.empty()) row.frequency = frequencies[r];
      row.numbers = next(widths[0]);
      for (const int64_t width : widths.subspan(1)) row.slots.push_back(next(width));
      if (!slots) row.slots.clear();
      TF_RETURN_IF_ERROR(visit(row));
    }
  }
  return OkStatus();
}

void FetchedRows::Describe(TableInCheckpoint* table) const {
  for (const std::vector<Tensor>& part : parts_) {
    table->dim = part[kWidths].data<int64_t>()[0];
    table->has_frequencies = table->has_frequencies || part[kFrequencies].num_elements() > 0;
    const auto columns = part[kColumns].data<std::string>();
    const auto widths = part[kWidths].data<int64_t>();
    table->slots.clear();
    table->slot_dims.assign(widths.begin() + 1, widths.end());
    for (size_t c = 1; c < columns.size(); ++c) {
      // The name of a slot begins with the name of its part.
      const bool of_part = columns[c].starts_with(columns[0] + "/");
      table->slots.push_back(of_part ? columns[c].substr(columns[0].size() + 1) : columns[c]);
    }
  }
}

RunningTables::RunningTables(const proto::ClusterReport& report, SessionOptions session)
    : session_(std::move(session)) {
  for (const proto::TaskReport& task : report.tasks()) {
    for (const proto::TableReport& table : task.tables()) {
      const auto [whole, part] = WholeAndPart(table.table());
      tables_[whole][part.value_or(0)] = {.task = task.task(), .report = table};
    }
  }
}

std::string RunningTables::Describe() const {
  if (tables_.empty()) return "no growing tables\n";
  std::vector<TextRow> lines = {{"table", "rows", "parts", "memory", "grown in a minute"}};
  for (const auto& [name, parts] : tables_) {
    double rows = 0, bytes = 0, growth = 0;
    for (const auto& [number, part] : parts) {
      rows += part.report.rows();
      bytes += part.report.bytes();
      growth += part.report.growth_per_minute();
    }
    lines.push_back({name, Formatted("%.0f", rows), StrCat(parts.size()), SizeText(bytes), Formatted("%.0f", growth)});
  }
  return TableText(lines);
}

StatusOr<const RunningTables::Parts*> RunningTables::Find(const std::string& table) const {
  if (const auto at = tables_.find(table); at != tables_.end()) return &at->second;
  std::vector<std::string> names;
  for (const auto& [name, parts] : tables_) names.push_back(name);
  if (names.empty()) return NotFound("the job has no growing tables");
  const std::string nearest = NearestWord(table, names);
  return NotFound(
      "the job has no growing table '", table, "'",
      nearest.empty() ? StrCat("; it has ", StrJoin(names, ", ")) : StrCat("; did you mean '", nearest, "'?"));
}

StatusOr<FetchedRows> RunningTables::Rows(const std::string& table, const std::vector<int64_t>& keys,
                                          TableInCheckpoint* found) {
  const auto of_part = [&keys](int number, int parts) {
    std::vector<int64_t> of_part;
    for (const int64_t key : keys) {
      if (TableRows::ResidueOf(key) % parts == number) of_part.push_back(key);
    }
    return of_part;
  };
  return Inspect(table, of_part, "norm", 0, found);
}

StatusOr<FetchedRows> RunningTables::Top(const std::string& table, const std::string& by, int64_t count,
                                         TableInCheckpoint* found) {
  return Inspect(
      table, [](int, int) { return std::vector<int64_t>(); }, by, count, found);
}

StatusOr<RunningRows> RunningTables::All(const std::string& table, TableInCheckpoint* found) {
  TF_RETURN_IF_ERROR(Top(table, "norm", 1, found).status());
  constexpr int64_t kRowsAtOnce = 50'000;
  const int64_t at_once = kRowsAtOnce * kSmallTables / std::max<int64_t>(found->rows, 1);
  return RunningRows(static_cast<int>(std::clamp<int64_t>(at_once, 1, kSmallTables)),
                     [this, table](const std::vector<int64_t>& residues) {
                       const auto of_part = [&residues](int number, int parts) {
                         std::vector<int64_t> of_part;
                         for (const int64_t residue : residues) {
                           if (residue % parts == number) of_part.push_back(residue);
                         }
                         return of_part;
                       };
                       TableInCheckpoint ignored;
                       return Inspect(table, of_part, "residue", 0, &ignored);
                     });
}

Status RunningRows::ForEachRow(const TableInCheckpoint& table, bool slots,
                               const std::function<Status(const SavedRow&)>& visit) {
  for (int first = 0; first < kSmallTables; first += residues_at_once_) {
    std::vector<int64_t> residues;
    for (int r = first; r < std::min(first + residues_at_once_, int{kSmallTables}); ++r) residues.push_back(r);
    TF_ASSIGN_OR_RETURN(FetchedRows rows, read_(residues));
    TF_RETURN_IF_ERROR(rows.ForEachRow(table, slots, visit));
  }
  return OkStatus();
}

StatusOr<FetchedRows> RunningTables::Inspect(const std::string& table, const KeysOfPart& keys, const std::string& by,
                                             int64_t count, TableInCheckpoint* found) {
  TF_ASSIGN_OR_RETURN(const Parts* parts, Find(table));
  found->name = table;
  Graph g;
  std::vector<Fetch> fetches;
  for (const auto& [number, part] : *parts) {
    found->rows += static_cast<int64_t>(part.report.rows());
    found->parts.push_back(part.report.table());
    const size_t slash = part.task.rfind('/');
    const auto device = g.Device(StrCat("/job:", part.task.substr(0, slash), "/task:", part.task.substr(slash + 1)));
    const Operation inspected = NodeBuilder(g, "_InspectTable")
                                    .Input(Const(g, Tensor::Vector(keys(number, static_cast<int>(parts->size())))))
                                    .Attr("table", part.report.table())
                                    .Attr("top", count)
                                    .Attr("by", by)
                                    .Finish();
    for (int i = 0; i < static_cast<int>(kOutputs); ++i) fetches.push_back(inspected.output(i));
  }
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g, session_));
  TF_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, session->Run(fetches));
  FetchedRows rows;
  for (size_t at = 0; at < outputs.size(); at += kOutputs) {
    rows.Add({outputs.begin() + static_cast<int64_t>(at), outputs.begin() + static_cast<int64_t>(at + kOutputs)});
  }
  rows.Describe(found);
  return rows;
}

}  // namespace tensorbraid
