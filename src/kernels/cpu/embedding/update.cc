// The update rules of growing tables. The formulas are those of static variables (kernels/cpu/training).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/embedding/columns.h"
#include "kernels/cpu/training/adaptive_rules.h"
#include "kernels/cpu/training/descent_rules.h"
#include "kernels/cpu/training/ftrl_rules.h"
#include "kernels/cpu/training/rule_scalars.h"
#include "runtime/variables/row_stripes.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid::cpu {
namespace {

// Whether all numbers are finite.
bool AllFinite(std::span<const float> numbers) {
  // All bits of the exponent are set in infinities and NaN. Integers can be compared in any order, so the loop is
  // vectorised.
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad = 0;
  for (const float x : numbers) bad |= uint32_t{(std::bit_cast<uint32_t>(x) & kExponent) == kExponent};
  return bad == 0;
}

// What is wrong with a gradient that is not finite: it would spoil the row of its key for good.
std::string NotFiniteText(std::span<const float> grad, std::span<const int64_t> keys, const std::string& table,
                          int64_t step) {
  const auto at = std::find_if(grad.begin(), grad.end(), [](float g) { return !std::isfinite(g); });
  const auto row = static_cast<size_t>(at - grad.begin()) / (grad.size() / keys.size());
  return StrCat("the gradient of key ", keys[row], " of growing table '", table, "' has a number that is ", *at,
                " in global step ", step);
}

// The part of a gradient that is finite.
struct FiniteRows {
  std::vector<size_t> rows;  // of the gradient
  std::vector<int64_t> keys, counts;
};

FiniteRows FindFiniteRows(std::span<const float> grad, std::span<const int64_t> keys, std::span<const int64_t> counts) {
  FiniteRows finite;
  const size_t dim = grad.size() / keys.size();
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!AllFinite(grad.subspan(i * dim, dim))) continue;
    finite.rows.push_back(i);
    finite.keys.push_back(keys[i]);
    if (!counts.empty()) finite.counts.push_back(counts[i]);
  }
  return finite;
}

// The parts that do not depend on the rule.
class TableUpdateKernel : public Kernel {
 protected:
  TableUpdateKernel(const Node& node, std::span<const char* const> variables, std::span<const char* const> scalars)
      : gradient_(InputNamed(node, "grad")),
        indices_(InputNamed(node, "indices")),
        step_(InputNamed(node, "global_step")),
        counts_(std::max(InputNamed(node, "indices_counts"), InputNamed(node, "counts"))) {
    for (const char* name : variables) variables_.push_back(InputNamed(node, name));
    for (const char* name : scalars) scalars_.push_back(InputNamed(node, name));
  }

  bool one_per_row_ = false;  // whether rows have one number in all columns but the first
  // Whether rows have one element.
  bool has_one_column(KernelContext& ctx) const {
    const Shape& shape = ctx.input(gradient_).shape();
    return shape.rank() == 2 && shape.dim(1) == 1;
  }

  // Checks the inputs, and calls step(gradient of the row, numbers of the row) for each key.
  template <typename Step>
  Status UpdateRows(KernelContext& ctx, const Step& step) const {
    TF_ASSIGN_OR_RETURN(const TableColumns of, ColumnsOf(ctx, variables_));
    TF_RETURN_IF_ERROR(CheckWidths(of));
    TF_RETURN_IF_ERROR(of.table->CheckDescribed(of.columns, of.said, TableUse::kUpdate));
    const Tensor& grad = ctx.input(gradient_);
    const Tensor& indices = ctx.input(indices_);
    const int64_t dim = of.table->dim();
    if (indices.shape().rank() != 1) return InvalidArgument("indices must be a vector, got shape ", indices.shape());
    if (grad.shape() != Shape({indices.num_elements(), dim})) {
      return InvalidArgument("the gradient of growing table '", of.table->name(), "' must have shape [",
                             indices.num_elements(), ",", dim, "], a row for each key, got shape ", grad.shape());
    }
    const Tensor& global_step = ctx.input(step_);
    if (!global_step.shape().is_scalar()) {
      return InvalidArgument("global_step is not a scalar: its shape is ", global_step.shape());
    }
    const int64_t version =
        global_step.dtype() == kInt64 ? global_step.data<int64_t>()[0] : int64_t{global_step.data<int32_t>()[0]};
    std::vector<int64_t> widened;
    std::span<const int64_t> keys = KeysOf(indices, &widened);
    std::span<const int64_t> counts;
    if (counts_ >= 0) {
      counts = ctx.input(counts_).data<int64_t>();
      if (counts.size() != keys.size()) {
        return InvalidArgument("there must be one count per key of growing table '", of.table->name(), "', got ",
                               counts.size(), " counts for ", keys.size(), " keys");
      }
    }
    const float* const g = grad.data<float>().data();
    FiniteRows finite;
    const bool all_finite = AllFinite(grad.data<float>());
    if (!all_finite) {
      const std::string what = NotFiniteText(grad.data<float>(), keys, of.table->name(), version);
      if (!of.table->skips_not_finite()) {
        return InvalidArgument(what,
                               ": nothing was updated. Clip the gradients, lower the learning rate, or let the table "
                               "leave out such rows (skip_not_finite)");
      }
      finite = FindFiniteRows(grad.data<float>(), keys, counts);
      if (of.table->CountSkipped(std::ssize(keys) - std::ssize(finite.keys)) == 0) {
        TB_LOG(Warning, "kernels") << what
                                   << ": its row was not updated. Such rows are left out from now on without a message";
      }
      keys = finite.keys;
      counts = finite.counts;
    }
    const double cost_ns =
        EmbeddingTable::kVisitNs + static_cast<double>(variables_.size()) * RowUpdateNs(dim * int64_t{sizeof(float)});
    return of.table->Update(ctx.pool(), of.columns, keys, counts, version, cost_ns,
                            [&](std::span<const VisitedRow> rows) {
                              for (const VisitedRow& row : rows) {
                                const size_t at = all_finite ? row.number : finite.rows[row.number];
                                step(g + static_cast<int64_t>(at) * dim, dim, row.numbers);
                              }
                            });
  }

  std::vector<int> scalars_;  // the numbers of the inputs that are scalars of the rule

 private:
  Status CheckWidths(const TableColumns& of) const {
    for (size_t i = 1; i < of.columns.size(); ++i) {
      const int64_t width = of.table->width(of.columns[i]), needed = one_per_row_ ? 1 : of.table->dim();
      if (width == needed) continue;
      return InvalidArgument("slot '", of.table->ColumnName(of.columns[i]), "' of growing table '", of.table->name(),
                             "' has ", width, " numbers in a row, but this update needs ", needed);
    }
    return OkStatus();
  }

  const int gradient_, indices_, step_;
  const int counts_;            // -1: each key has occurred once
  std::vector<int> variables_;  // the numbers of the inputs that are columns of the table
};

template <template <typename> class Rule>
class TableRuleKernel final : public TableUpdateKernel {
  using R = Rule<float>;

 public:
  explicit TableRuleKernel(const KernelConstruction& c) : TableUpdateKernel(c.node(), R::kVariables, R::kScalars) {
    one_per_row_ = HasOnePerRow<R>;
  }

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const auto scalars, (ReadScalars<R, float>(ctx, scalars_)));
    R rule(scalars, ctx.node());
    if constexpr (requires { rule.one_column; }) rule.one_column = has_one_column(ctx);
    TF_RETURN_IF_ERROR(UpdateRows(ctx, [&rule](const float* grad, int64_t dim, const auto& numbers) {
      Step(rule, grad, dim, numbers, std::make_index_sequence<R::kVariables.size()>());
    }));
    return MultiplyPowers<float>(ctx, rule, scalars_, scalars);
  }

 private:
  template <size_t... K>
  static void Step(const R& rule, const float* grad, int64_t dim, const std::array<float*, kMostColumns>& numbers,
                   std::index_sequence<K...>) {
    RuleLoop<Rule, float>::Step(rule, grad, dim, static_cast<const float*>(numbers[K])..., numbers[K]...);
  }
};

Cost TableUpdateCost(const CostContext& c) {
  Cost cost = UpdateCost(c);
  const int indices = InputNamed(c.node(), "indices");
  if (indices >= 0) cost.flops += c.input_elements(indices) * FlopsOfNs(EmbeddingTable::kVisitNs);
  return cost;
}

// The kernels of the op of a rule, and of the one for tables with a filter.
template <template <typename> class Rule>
void AddTableRule(KernelRegistry& r, const std::string& op,
                  std::source_location location = std::source_location::current()) {
  const TypeConstraints types = {{"T", {kFloat32}}, {"Tindices", {kInt64, kInt32}}};
  for (const char* counts : {"", "WithCounts"})
    r.Add<TableRuleKernel<Rule>>(op + counts, types, TableUpdateCost, location);
}

}  // namespace

void RegisterEmbeddingUpdateKernels(KernelRegistry& r) {
  using namespace update_rules;  // NOLINT: the rules of static variables
  AddTableRule<GradientDescent>(r, "KvResourceSparseApplyGradientDescent");
  AddTableRule<Momentum>(r, "_KvResourceSparseApplyMomentum");
  AddTableRule<Adadelta>(r, "_KvResourceSparseApplyAdadelta");
  AddTableRule<Adagrad>(r, "KvResourceSparseApplyAdagrad");
  AddTableRule<RowwiseAdagrad>(r, "_KvResourceSparseApplyRowwiseAdagrad");
  AddTableRule<AdagradDecay>(r, "KvResourceSparseApplyAdagradDecay");
  AddTableRule<Adam>(r, "KvResourceSparseApplyAdam");
  AddTableRule<AdamW>(r, "KvResourceSparseApplyAdamW");
  AddTableRule<AdamAsync>(r, "KvResourceSparseApplyAdamAsync");
  AddTableRule<RmsProp>(r, "_KvResourceSparseApplyRMSProp");
  AddTableRule<CenteredRmsProp>(r, "_KvResourceSparseApplyCenteredRMSProp");
  AddTableRule<Ftrl>(r, "_KvResourceSparseApplyFtrl");
  AddTableRule<FtrlV2>(r, "_KvResourceSparseApplyFtrlV2");
}

}  // namespace tensorbraid::cpu
