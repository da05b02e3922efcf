// Kernels that create and describe growing tables.
#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "core/values/fingerprint.h"
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
        task_(TaskOf(c.device())),
        part_(AttrOr<int64_t>(c.node(), "_part", 0)),
        parts_(AttrOr<int64_t>(c.node(), "_parts", 1)) {
    if (is_slot()) {
      said_.initial = AttrOr<float>(c.node(), "_initial", 0);
      return;
    }
    RowsDescription description = {.whole = AttrOr<std::string>(c.node(), "_whole", name()),
                                   .part = static_cast<int>(part_),
                                   .parts = static_cast<int>(parts_)};
    rows_status_ = SetFirstRows(c.node(), &description);
    description.filter_freq = AttrOr<int64_t>(c.node(), "_filter_freq", 0);
    description.filter_keys = AttrOr<int64_t>(c.node(), "_filter_keys", 0);
    description.filter_error = AttrOr<float>(c.node(), "_filter_error", 0);
    description.no_permission = AttrOr<float>(c.node(), "_no_permission", 0);
    description.skip_not_finite = AttrOr<bool>(c.node(), "_skip_not_finite", false);
    description.evict.steps_to_live = AttrOr<int64_t>(c.node(), "_steps_to_live", 0);
    description.evict.l2_threshold = AttrOr<float>(c.node(), "_l2_threshold", -1);
    description.max_rows = AttrOr<int64_t>(c.node(), "_max_rows", 0);
    description.max_bytes = AttrOr<int64_t>(c.node(), "_max_bytes", 0);
    if (parts_ >= 1 && parts_ <= kSmallTables) {
      description.evict.most_rows = ShareOf(description.max_rows);
      description.evict.most_bytes = ShareOf(description.max_bytes);
    }
    said_.rows = std::make_shared<const RowsDescription>(std::move(description));
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
    const RowsDescription& rows = *said_.rows;
    if (rows.filter_keys < 0 || (rows.filter_keys > 0 && !(rows.filter_error > 0 && rows.filter_error < 1))) {
      return InvalidArgument("the Bloom filter of growing table '", name(), "' cannot be made for ", rows.filter_keys,
                             " keys and an error of ", rows.filter_error,
                             ": there must be one key or more, and the error must be between 0 and 1");
    }
    return rows_status_;
  }
  StatusOr<RefPtr<TableColumn>> CreateFrom(KernelContext& ctx) const override {
    const std::string& table_name = is_slot() ? of_table_ : name();
    TF_ASSIGN_OR_RETURN(auto table, ctx.resources().LookupOrCreate<EmbeddingTable>(container(), table_name, [&] {
      return MakeRef<EmbeddingTable>(table_name, dim_, task_);
    }));
    TF_ASSIGN_OR_RETURN(const int column, Declare(*table));
    return MakeRef<TableColumn>(std::move(table), column, said_);
  }
  // What the manager has may be from another program, which may have described the table differently.
  Tensor MakeTensor(const RefPtr<TableColumn>& column) const override {
    auto table = RefPtr<EmbeddingTable>::Share(&column->table());
    return HandleKernel<TableColumn>::MakeTensor(MakeRef<TableColumn>(std::move(table), column->column(), said_));
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
  static std::string TaskOf(const std::string& device) {
    const auto name = DeviceName::Parse(device);
    return name.ok() ? ShortTaskName(name->TaskString()) : device;
  }
  bool is_slot() const { return !of_table_.empty(); }
  // Tells the table what this handle says about it. Returns the number of the column.
  StatusOr<int> Declare(EmbeddingTable& table) const {
    if (table.dim() != dim_) {
      return InvalidArgument(table.Title(), " has rows of ", table.dim(), " numbers, but '", name(),
                             "' is declared with rows of ", dim_, ": give it the same embedding_dim in all programs, ",
                             "or another name", kDescribeAlike);
    }
    if (is_slot()) return table.AddColumn(name(), said_.initial, width_);
    TF_RETURN_IF_ERROR(table.Describe(said_.rows));
    return 0;
  }

  // Sets `rows` and `first` of the description.
  Status SetFirstRows(const Node& node, RowsDescription* description) const {
    FirstValues& first = description->first;
    const auto matrix = AttrOr<Tensor>(node, "_matrix", {});
    if (matrix.is_valid()) {
      TF_ASSIGN_OR_RETURN(description->rows, MakeMatrixRows(matrix, dim_, description->whole));
      const auto bytes = std::as_bytes(matrix.data<float>());
      first.matrix_rows = matrix.shape().dim(0);
      first.matrix = Fingerprint64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      return OkStatus();
    }
    const auto distribution = AttrOr<std::string>(node, "_initializer", "constant");
    const auto arguments = AttrOr<std::vector<float>>(node, "_initializer_args", {0.0f});
    const auto seed = AttrOr<int64_t>(node, "_seed", 0);
    TF_ASSIGN_OR_RETURN(auto rows, MakeFirstRows(distribution, arguments, seed, description->whole));
    first.matrix_rows = AttrOr<int64_t>(node, "_matrix_rows", 0);
    description->rows = first.matrix_rows > 0 ? MakeRepeatedRows(std::move(rows), first.matrix_rows) : std::move(rows);
    std::vector<std::string> numbers;
    for (const float x : arguments) numbers.push_back(StrCat(x));
    const bool prefixed = distribution == "uniform" || distribution == "normal";
    first.distribution = StrCat(prefixed ? "random_" : "", distribution, "(", StrJoin(numbers, ", "), ")");
    if (distribution == "constant") return OkStatus();
    first.seed = seed;
    first.seed_of_graph = AttrOr<bool>(node, "_seed_of_graph", false);
    return OkStatus();
  }

  const int64_t width_;         // how many numbers a row has in this column
  const int64_t dim_;           // and in the table
  const std::string of_table_;  // "" unless this is the handle of a slot
  const std::string task_;      // "ps/0"
  const int64_t part_, parts_;
  ColumnDescription said_;
  Status rows_status_;
};

Status IsInitialized(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto column, ctx.LookupResource<TableColumn>(0));
  ctx.set_output(0, Tensor::Scalar(column->table().is_initialized(column->column())));
  return OkStatus();
}

Status Initialize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto column, ctx.LookupResource<TableColumn>(0));
  return column->table().Initialize(column->column(), column->said());
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
