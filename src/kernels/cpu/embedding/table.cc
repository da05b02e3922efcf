// Kernels that create and describe growing tables.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "core/text/strings.h"
#include "graph/model/attr_or.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/embedding/initial_rows.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/tables/embedding_table.h"

namespace tensorbraid::cpu {
namespace {

// The handle of a table, which describes it, or of a slot, which names the table. Either may come first.
class TableHandleKernel final : public HandleKernel<TableColumn> {
 public:
  explicit TableHandleKernel(const KernelConstruction& c)
      : HandleKernel<TableColumn>(c),
        width_(c.attr<Shape>("shape").dim(0)),
        dim_(AttrOr<int64_t>(c.node(), "_dim", width_)),
        of_table_(AttrOr<std::string>(c.node(), "_table", "")),
        initial_(AttrOr<float>(c.node(), "_initial", 0)),
        part_(AttrOr<int64_t>(c.node(), "_part", 0)),
        parts_(AttrOr<int64_t>(c.node(), "_parts", 1)) {
    description_.whole = AttrOr<std::string>(c.node(), "_whole", name());
    auto rows = FirstRowsOf(c.node());
    rows_status_ = rows.status();
    if (rows.ok()) description_.rows = *std::move(rows);
    description_.filter_freq = AttrOr<int64_t>(c.node(), "_filter_freq", 0);
    description_.filter_keys = AttrOr<int64_t>(c.node(), "_filter_keys", 0);
    description_.filter_error = AttrOr<float>(c.node(), "_filter_error", 0);
    description_.no_permission = AttrOr<float>(c.node(), "_no_permission", 0);
    description_.skip_not_finite = AttrOr<bool>(c.node(), "_skip_not_finite", false);
    description_.evict.steps_to_live = AttrOr<int64_t>(c.node(), "_steps_to_live", 0);
    description_.evict.l2_threshold = AttrOr<float>(c.node(), "_l2_threshold", -1);
    if (parts_ >= 1 && parts_ <= kSmallTables) {
      description_.evict.most_rows = ShareOf(AttrOr<int64_t>(c.node(), "_max_rows", 0));
      description_.evict.most_bytes = ShareOf(AttrOr<int64_t>(c.node(), "_max_bytes", 0));
    }
    description_.part = static_cast<int>(part_);
    description_.parts = static_cast<int>(parts_);
  }

 protected:
  Status CheckAttrs() const override {
    if (is_slot()) {
      if (dim_ < 1) return InvalidArgument("_dim of the slot '", name(), "' must be positive, got ", dim_);
      if (of_table_ != name()) return OkStatus();
      return InvalidArgument("growing table '", name(), "' cannot be a slot of itself: _table names the variable");
    }
    if (parts_ < 1 || parts_ > kSmallTables || part_ < 0 || part_ >= parts_) {
      return InvalidArgument("growing table '", name(), "' cannot be part ", part_, " of ", parts_,
                             ": a table has 1 to ", kSmallTables, " parts, which are numbered from 0");
    }
    if (description_.filter_keys < 0 ||
        (description_.filter_keys > 0 && !(description_.filter_error > 0 && description_.filter_error < 1))) {
      return InvalidArgument("the Bloom filter of growing table '", name(), "' cannot be made for ",
                             description_.filter_keys, " keys and an error of ", description_.filter_error,
                             ": there must be one key or more, and the error must be between 0 and 1");
    }
    return rows_status_;
  }
  StatusOr<RefPtr<TableColumn>> CreateFrom(KernelContext& ctx) const override {
    const std::string& table_name = is_slot() ? of_table_ : name();
    TF_ASSIGN_OR_RETURN(auto table, ctx.resources().LookupOrCreate<EmbeddingTable>(container(), table_name, [&] {
      return MakeRef<EmbeddingTable>(table_name, dim_);
    }));
    TF_ASSIGN_OR_RETURN(const int column, Declare(*table));
    return MakeRef<TableColumn>(std::move(table), column);
  }
  RefPtr<TableColumn> Create() const override { return {}; }  // CreateFrom makes the resource
  Status Check(const TableColumn& column) const override {
    EmbeddingTable& table = column.table();
    TF_ASSIGN_OR_RETURN(const int declared, Declare(table));
    if (declared == column.column() && (!is_slot() || table.name() == of_table_)) return OkStatus();
    return InvalidArgument("'", name(), "' exists as ", column.DebugString(), " of growing table '", table.name(),
                           "', and cannot become ", is_slot() ? StrCat("a slot of '", of_table_, "'") : "a table",
                           ": give it another name");
  }

 private:
  // The share of this part in a limit of the table; 0 if there is none.
  int64_t ShareOf(int64_t limit) const {
    if (limit <= 0) return 0;
    const int64_t small = (kSmallTables - part_ + parts_ - 1) / parts_;
    return std::max<int64_t>(1, limit / kSmallTables * small + limit % kSmallTables * small / kSmallTables);
  }
  bool is_slot() const { return !of_table_.empty(); }
  // Tells the table what this handle says about it. Returns the number of the column.
  StatusOr<int> Declare(EmbeddingTable& table) const {
    if (table.dim() != dim_) {
      return InvalidArgument("growing table '", table.name(), "' has rows of ", table.dim(), " numbers, but '", name(),
                             "' is declared with rows of ", dim_, ": give it another name, or the same dim");
    }
    if (is_slot()) return table.AddColumn(name(), initial_, width_);
    TF_RETURN_IF_ERROR(table.Describe(description_));
    return 0;
  }

  StatusOr<std::shared_ptr<const FirstRows>> FirstRowsOf(const Node& node) const {
    const auto matrix = AttrOr<Tensor>(node, "_matrix", {});
    if (matrix.is_valid()) return MakeMatrixRows(matrix, dim_, description_.whole);
    TF_ASSIGN_OR_RETURN(auto rows, MakeFirstRows(AttrOr<std::string>(node, "_initializer", "constant"),
                                                 AttrOr<std::vector<float>>(node, "_initializer_args", {0.0f}),
                                                 AttrOr<int64_t>(node, "_seed", 0), description_.whole));
    const auto count = AttrOr<int64_t>(node, "_matrix_rows", 0);
    return count > 0 ? MakeRepeatedRows(std::move(rows), count) : rows;
  }

  const int64_t width_;         // how many numbers a row has in this column
  const int64_t dim_;           // and in the table
  const std::string of_table_;  // "" unless this is the handle of a slot
  const float initial_;
  const int64_t part_, parts_;
  RowsDescription description_;
  Status rows_status_;
};

Status IsInitialized(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto column, ctx.LookupResource<TableColumn>(0));
  ctx.set_output(0, Tensor::Scalar(column->table().is_initialized(column->column())));
  return OkStatus();
}

Status Initialize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto column, ctx.LookupResource<TableColumn>(0));
  return column->table().Initialize(column->column());
}

// The number of rows, and their length.
Status TableShape(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto column, ctx.LookupResource<TableColumn>(0));
  TF_ASSIGN_OR_RETURN(const int64_t rows, column->table().NumRows());
  const int64_t dim = column->table().width(column->column());
  if (ctx.node().output_type(0) == kInt64) {
    ctx.set_output(0, Tensor::Vector<int64_t>({rows, dim}));
    return OkStatus();
  }
  if (std::max(rows, dim) > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("growing table '", column->table().name(), "' has ", rows,
                           " rows, which does not fit int32; use out_type int64");
  }
  ctx.set_output(0, Tensor::Vector<int32_t>({static_cast<int32_t>(rows), static_cast<int32_t>(dim)}));
  return OkStatus();
}

}  // namespace

void RegisterEmbeddingTableKernels(KernelRegistry& r) {
  r.Add<TableHandleKernel>("KvVarHandleOp", {{"Tkeys", {kInt64, kInt32}}}, kNoCost);
  r.Add("KvVarIsInitializedOp", {}, IsInitialized, kNoCost);
  r.Add("KvVariableShape", {}, TableShape, kNoCost);
  r.Add("_InitializeTable", {}, Initialize, kNoCost);
}

}  // namespace tensorbraid::cpu
