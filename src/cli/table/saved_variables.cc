#include "cli/table/saved_variables.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "checkpoint/changed_rows.h"
#include "checkpoint/row_tensors.h"
#include "cli/table/saved_tables_reader.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The names of the tensors that hold growing tables.
std::set<std::string> TensorsOf(const std::vector<TableInCheckpoint>& tables) {
  std::set<std::string> names;
  for (const TableInCheckpoint& table : tables) {
    for (const std::string& part : table.parts) {
      std::vector<std::string> columns = {part};
      for (const std::string& slot : table.slots) columns.push_back(StrCat(part, "/", slot));
      for (const std::string& column : columns) {
        for (const char* list : {"-keys", "-values", "-freqs", "-versions", "-partition_offset", "-keys_filtered",
                                 "-freqs_filtered", "-versions_filtered", "-partition_filter_offset", "-filter_blocks",
                                 "-filter_counters", "-filter_shape"}) {
          names.insert(column + list);
        }
      }
    }
  }
  return names;
}

bool IsNumber(DType dtype) { return IsFloating(dtype) || IsInteger(dtype) || dtype == DType::kBool; }

// The variables of numbers in a full checkpoint, without slots.
StatusOr<std::vector<BundleReader::Info>> VariablesIn(BundleReader& full) {
  TF_ASSIGN_OR_RETURN(const auto tensors, full.List());
  TF_ASSIGN_OR_RETURN(const SavedTablesReader tables, SavedTablesReader::Open(full.prefix()));
  const std::set<std::string> of_tables = TensorsOf(tables.tables());
  std::map<std::string, const BundleReader::Info*> by_name;
  for (const BundleReader::Info& info : tensors) by_name[info.name] = &info;
  std::vector<BundleReader::Info> variables;
  for (const BundleReader::Info& info : tensors) {
    if (!IsNumber(info.dtype) || of_tables.contains(info.name) || info.name.find("/.") != std::string::npos) continue;
    const auto of = by_name.find(info.name.substr(0, info.name.rfind('/')));
    const bool is_slot = info.name.find('/') != std::string::npos && of != by_name.end() &&
                         of->second->dtype == info.dtype && of->second->shape == info.shape;
    if (!is_slot) variables.push_back(info);
  }
  return variables;
}

// Visits the changed rows of a part of a variable.
Status VisitRows(const BundleReader::Info& variable, const ChangedRowsOfPart& part, BundleReader& increment,
                 const std::function<Status(const VariablePiece&)>& visit) {
  TF_ASSIGN_OR_RETURN(Tensor numbers, increment.Read(part.numbers));
  TF_ASSIGN_OR_RETURN(const Tensor values, increment.Read(part.values));
  const int64_t rows = values.shape().rank() == 0 ? 0 : values.shape().dim(0);
  const int64_t size = rows == 0 ? 0 : values.num_elements() / rows;
  if (numbers.num_elements() == 0) {
    return visit({.name = variable.name, .shape = variable.shape, .first = part.first_row * size, .numbers = values});
  }
  if (numbers.num_elements() != rows || (numbers.dtype() != kInt64 && numbers.dtype() != kInt32)) {
    return DataLoss("the increment ", increment.prefix(), " has ", numbers.num_elements(), " numbers ", numbers.dtype(),
                    " of ", rows, " changed rows of '", variable.name, "'");
  }
  for (int64_t i = 0; i < rows; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t row = (numbers.dtype() == kInt64 ? numbers.data<int64_t>()[at] : numbers.data<int32_t>()[at]) +
                        (part.within_part ? part.first_row : 0);
    TF_RETURN_IF_ERROR(visit(
        {.name = variable.name, .shape = variable.shape, .first = row * size, .numbers = values.Slice(i, i + 1)}));
  }
  return OkStatus();
}

}  // namespace

Status ForEachVariable(const std::string& full, const std::optional<std::string>& increment,
                       const std::function<Status(const VariablePiece&)>& visit) {
  TF_ASSIGN_OR_RETURN(const auto before, BundleReader::Open(full));
  TF_ASSIGN_OR_RETURN(const auto variables, VariablesIn(*before));
  std::unique_ptr<BundleReader> opened;
  if (increment) {
    TF_ASSIGN_OR_RETURN(opened, BundleReader::Open(*increment));
  }
  BundleReader& reader = increment ? *opened : *before;
  TF_ASSIGN_OR_RETURN(const auto tensors, reader.List());
  const bool of_deeprec = increment && !reader.Find(kLinkTensor).ok();
  for (const BundleReader::Info& variable : variables) {
    if (reader.Find(variable.name).ok()) {
      TF_ASSIGN_OR_RETURN(Tensor numbers, reader.Read(variable.name));
      TF_RETURN_IF_ERROR(visit({.name = variable.name, .shape = variable.shape, .first = 0, .numbers = numbers}));
      continue;
    }
    std::vector<ChangedRowsOfPart> changed = FindChangedRows(tensors, variable.name);
    if (of_deeprec) {
      TF_ASSIGN_OR_RETURN(changed, FindChangedRowsOfDeepRec(tensors, variable.name, *before));
    }
    for (const ChangedRowsOfPart& part : changed) TF_RETURN_IF_ERROR(VisitRows(variable, part, reader, visit));
  }
  return OkStatus();
}

}  // namespace tensorbraid
