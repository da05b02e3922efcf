// Kernels that create, fill and read lookup tables. The tables are in runtime/resources/lookup_table.h.
#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/lookup_table.h"

namespace tensorbraid::cpu {
namespace {

using TableKind = TableOptions::Kind;

Sharing SharingOf(const KernelConstruction& c) {
  return c.attr<bool>("use_node_name_sharing") ? Sharing::kByNodeName : Sharing::kPrivate;
}

class TableKernel : public HandleKernel<LookupTable> {
 public:
  TableKernel(const KernelConstruction& c, TableKind kind) : HandleKernel(c, SharingOf(c)) {
    options_.kind = kind;
    options_.key_dtype = c.attr<DType>("key_dtype");
    options_.value_dtype = c.attr<DType>("value_dtype");
  }

 protected:
  Status CheckAttrs() const override { return LookupTable::CheckOptions(options_); }
  RefPtr<LookupTable> Create() const override { return MakeRef<LookupTable>(name(), options_); }
  Status Check(const LookupTable& table) const override {
    const TableOptions& have = table.options();
    if (have.kind == options_.kind && have.key_dtype == options_.key_dtype &&
        have.value_dtype == options_.value_dtype && have.value_shape == options_.value_shape) {
      return OkStatus();
    }
    return InvalidArgument("table '", name(), "' already exists with another type or kind: it is a ",
                           table.DebugString(), ", requested is a table from ", options_.key_dtype, " to ",
                           options_.value_dtype, options_.value_shape);
  }

  TableOptions options_;  // constant after construction
};

template <TableKind kKind>
class SimpleTableKernel final : public TableKernel {
 public:
  explicit SimpleTableKernel(const KernelConstruction& c) : TableKernel(c, kKind) {}
};

class TensorTableKernel final : public TableKernel {
 public:
  explicit TensorTableKernel(const KernelConstruction& c) : TableKernel(c, TableKind::kMutable) {
    options_.value_shape = c.attr<Shape>("value_shape");
  }

 protected:
  Status CheckAttrs() const override {
    if (!options_.value_shape.has_rank() || options_.value_shape.rank() != 1) {
      return InvalidArgument("Default value must be a vector for a table of vectors, got shape ", options_.value_shape);
    }
    return TableKernel::CheckAttrs();
  }
};

class DenseTableKernel final : public TableKernel {
 public:
  explicit DenseTableKernel(const KernelConstruction& c) : TableKernel(c, TableKind::kDense) {
    options_.value_shape = c.attr<Shape>("value_shape");
    options_.initial_num_buckets = c.attr<int64_t>("initial_num_buckets");
    options_.max_load_factor = c.attr<float>("max_load_factor");
  }

 protected:
  Status CheckAttrs() const override { return OkStatus(); }  // CreateFrom checks all, because two keys are inputs
  StatusOr<RefPtr<LookupTable>> CreateFrom(KernelContext& ctx) const override {
    TableOptions options = options_;
    options.empty_key = ctx.input(0);
    options.deleted_key = ctx.input(1);
    options.key_shape = options.empty_key.shape();
    TF_RETURN_IF_ERROR(LookupTable::CheckOptions(options));
    return MakeRef<LookupTable>(name(), std::move(options));
  }
};

Status Find(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto table, ctx.LookupResource<LookupTable>(0));
  TF_ASSIGN_OR_RETURN(Tensor found, table->Find(ctx.input(1), ctx.input(2)));
  ctx.set_output(0, std::move(found));
  return OkStatus();
}

Status Insert(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto table, ctx.LookupResource<LookupTable>(0));
  return table->Insert(ctx.input(1), ctx.input(2));
}

Status Remove(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto table, ctx.LookupResource<LookupTable>(0));
  return table->Remove(ctx.input(1));
}

Status Import(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto table, ctx.LookupResource<LookupTable>(0));
  return table->Import(ctx.input(1), ctx.input(2));
}

Status Size(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto table, ctx.LookupResource<LookupTable>(0));
  ctx.set_output(0, Tensor::Scalar(table->size()));
  return OkStatus();
}

Status Export(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto table, ctx.LookupResource<LookupTable>(0));
  const TableOptions& o = table->options();
  if (o.key_dtype != ctx.node().output_type(0) || o.value_dtype != ctx.node().output_type(1)) {
    return InvalidArgument("table '", table->name(), "' is a ", table->DebugString(), ", but the op exports ",
                           ctx.node().output_type(0), " keys and ", ctx.node().output_type(1), " values");
  }
  TF_ASSIGN_OR_RETURN(auto exported, table->Export());
  ctx.set_output(0, std::move(exported.first));
  ctx.set_output(1, std::move(exported.second));
  return OkStatus();
}

Status Initialize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto table, ctx.LookupResource<LookupTable>(0));
  const Tensor& keys = ctx.input(1);
  if (keys.shape().rank() != 1) return InvalidArgument("keys must be a vector, got shape ", keys.shape());
  return table->Initialize(keys, ctx.input(2));
}

Status InitializeFromTextFile(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto table, ctx.LookupResource<LookupTable>(0));
  const Tensor& filename = ctx.input(1);
  if (filename.num_elements() != 1) {
    return InvalidArgument("the file name must be a scalar, got shape ", filename.shape());
  }
  const Node& node = ctx.node();
  TextFileInitializer file;
  file.path = filename.data<std::string>()[0];
  file.key_index = node.attr<int64_t>("key_index");
  file.value_index = node.attr<int64_t>("value_index");
  file.vocab_size = node.attr<int64_t>("vocab_size");
  file.delimiter = node.attr<std::string>("delimiter");
  file.offset = node.attr<int64_t>("offset");
  TF_ASSIGN_OR_RETURN(auto entries, ReadTableFile(file, table->options().key_dtype, table->options().value_dtype));
  if (entries.first.num_elements() == 0)
    return OutOfRange("table '", table->name(), "': file '", file.path, "' has no lines");
  return table->Initialize(entries.first, entries.second);
}

}  // namespace

void RegisterDataFlowLookupKernels(KernelRegistry& r) {
  for (const std::string version : {"", "V2"}) {
    r.Add<SimpleTableKernel<TableKind::kStatic>>("HashTable" + version);
    r.Add<SimpleTableKernel<TableKind::kMutable>>("MutableHashTable" + version);
    r.Add<TensorTableKernel>("MutableHashTableOfTensors" + version);
    r.Add("LookupTableFind" + version, {}, Find, cpu::ElementCost<50'000>);
    r.Add("LookupTableInsert" + version, {}, Insert, cpu::ElementCost<50'000>);
    r.Add("LookupTableSize" + version, {}, Size);
    r.Add("LookupTableExport" + version, {}, Export, cpu::ElementCost<50'000>);
    r.Add("LookupTableImport" + version, {}, Import, cpu::ElementCost<50'000>);
    r.Add("InitializeTable" + version, {}, Initialize, cpu::ElementCost<50'000>);
    r.Add("InitializeTableFromTextFile" + version, {}, InitializeFromTextFile, cpu::FileCost);
  }
  r.Add<DenseTableKernel>("MutableDenseHashTableV2");
  r.Add("LookupTableRemoveV2", {}, Remove, cpu::ElementCost<50'000>);
}

}  // namespace tensorbraid::cpu
