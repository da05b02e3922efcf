// How kernels get the columns of growing tables and the keys in their inputs.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_COLUMNS_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_COLUMNS_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/text/strings.h"
#include "runtime/kernel/kernel.h"
#include "runtime/tables/embedding_table.h"

namespace tensorbraid::cpu {

// Several columns of one table.
struct TableColumns {
  RefPtr<EmbeddingTable> table;
  std::vector<int> columns;
  std::vector<ColumnDescription> said;  // by their handles
};

// The columns that these inputs name. InvalidArgument, with the names, if they belong to different tables or one of
// them is given twice.
inline StatusOr<TableColumns> ColumnsOf(KernelContext& ctx, std::span<const int> inputs) {
  TableColumns result;
  for (const int input : inputs) {
    TF_ASSIGN_OR_RETURN(const auto column, ctx.LookupResource<TableColumn>(input));
    EmbeddingTable& table = column->table();
    const std::string name = table.ColumnName(column->column());
    if (!result.table) {
      result.table = RefPtr<EmbeddingTable>::Share(&table);
    } else if (result.table.get() != &table) {
      return InvalidArgument("'", result.table->ColumnName(result.columns[0]), "' and '", name,
                             "' are not columns of one growing table: the slots of an update belong to its variable");
    }
    if (std::ranges::count(result.columns, column->column()) > 0) {
      return InvalidArgument("column '", name, "' of growing table '", table.name(), "' is given twice");
    }
    result.columns.push_back(column->column());
    result.said.push_back(column->said());
  }
  return result;
}

// The keys in a tensor of int64 or int32. `*widened` holds them if they are int32.
inline std::span<const int64_t> KeysOf(const Tensor& tensor, std::vector<int64_t>* widened) {
  if (tensor.dtype() == kInt64) return tensor.data<int64_t>();
  const auto keys = tensor.data<int32_t>();
  widened->assign(keys.begin(), keys.end());
  return *widened;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_COLUMNS_H_
