// Parses serialized tf.train.SequenceExamples to tensors.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <set>

#include "core/text/strings.h"
#include "io/example.pb.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/parsing/example_columns.h"
#include "kernels/cpu/parsing/parsing.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The keys, types and shapes to parse from the context or from the feature lists.
struct SequencePart {
  std::vector<std::string> sparse_keys;
  std::vector<std::string> dense_keys;
  std::vector<std::string> ragged_keys;
  std::vector<DType> sparse_types;
  std::vector<DType> dense_types;
  std::vector<Shape> dense_shapes;
  std::vector<DType> ragged_types;
  std::vector<DType> split_types;

  Status Check(const char* what) const {
    if (sparse_keys.size() != sparse_types.size() || dense_keys.size() != dense_types.size() ||
        dense_shapes.size() != dense_types.size() || ragged_keys.size() != ragged_types.size() ||
        split_types.size() != ragged_types.size()) {
      return InvalidArgument("the numbers of keys, types and shapes of the ", what, " do not match");
    }
    std::set<std::string_view> seen;
    for (const auto* keys : {&sparse_keys, &dense_keys, &ragged_keys}) {
      for (const std::string& key : *keys) {
        if (!seen.insert(key).second) return InvalidArgument("key '", key, "' of the ", what, " is given twice");
      }
    }
    return OkStatus();
  }
};

struct SequenceSpec {
  SequencePart context;
  SequencePart lists;
  std::vector<bool> missing_is_empty;  // for each dense feature list, whether it may be missing
  int first_default = 0;               // the input that has the first default value
  Tensor names;
};

template <typename T>
std::vector<T> ListAttr(const Node& node, std::string_view name) {
  const AttrValue* attr = node.FindAttr(name);
  const auto* list = attr == nullptr ? nullptr : attr->get<std::vector<T>>();
  return list == nullptr ? std::vector<T>() : *list;
}

Tensor EmptyScalar(DType type) { return type == kInt64 ? Tensor::Scalar(int64_t{0}) : Tensor::Scalar(int32_t{0}); }

// Sets the outputs one after the other, in the order of the op's definition.
class Outputs {
 public:
  explicit Outputs(KernelContext& ctx) : ctx_(ctx) {}
  void Add(std::vector<Tensor> argument) {
    for (Tensor& t : argument) ctx_.set_output(next_++, std::move(t));
  }

 private:
  KernelContext& ctx_;
  int next_ = 0;
};

class ParseSequenceKernel : public Kernel {
 public:
  // `has_lengths`: whether the op outputs the lengths of dense feature lists.
  ParseSequenceKernel(const KernelConstruction& c, bool has_lengths) : has_lengths_(has_lengths) {
    const Node& n = c.node();
    wanted_.context.sparse_types = ListAttr<DType>(n, "context_sparse_types");
    wanted_.context.dense_types = ListAttr<DType>(n, "Tcontext_dense");
    wanted_.context.dense_shapes = ListAttr<Shape>(n, "context_dense_shapes");
    wanted_.context.ragged_types = ListAttr<DType>(n, "context_ragged_value_types");
    wanted_.context.split_types = ListAttr<DType>(n, "context_ragged_split_types");
    wanted_.lists.sparse_types = ListAttr<DType>(n, "feature_list_sparse_types");
    wanted_.lists.dense_types = ListAttr<DType>(n, "feature_list_dense_types");
    wanted_.lists.dense_shapes = ListAttr<Shape>(n, "feature_list_dense_shapes");
    wanted_.lists.ragged_types = ListAttr<DType>(n, "feature_list_ragged_value_types");
    wanted_.lists.split_types = ListAttr<DType>(n, "feature_list_ragged_split_types");
  }

  Status Compute(KernelContext& ctx) final {
    SequenceSpec w = wanted_;
    TF_RETURN_IF_ERROR(Read(ctx, &w));
    TF_RETURN_IF_ERROR(w.context.Check("context"));
    TF_RETURN_IF_ERROR(w.lists.Check("feature lists"));
    // The attributes that determine the number of outputs must agree with the keys, too.
    const size_t outputs_wanted = 3 * w.context.sparse_keys.size() + w.context.dense_keys.size() +
                                  2 * w.context.ragged_keys.size() + 3 * w.lists.sparse_keys.size() +
                                  (has_lengths_ ? 2 : 1) * w.lists.dense_keys.size() + 3 * w.lists.ragged_keys.size();
    if (outputs_wanted != static_cast<size_t>(ctx.num_outputs())) {
      return InvalidArgument("the keys require ", outputs_wanted, " outputs, but the op has ", ctx.num_outputs());
    }
    const Tensor& serialized = ctx.input(0);
    if (serialized.shape().rank() > 1) {
      return InvalidArgument("serialized must be a scalar or a vector, got shape ", serialized.shape());
    }
    if (w.names.is_valid() && w.names.num_elements() > 0 && w.names.shape() != serialized.shape()) {
      return InvalidArgument("names must be empty or have the shape of serialized, got shapes ", w.names.shape(),
                             " and ", serialized.shape());
    }
    for (size_t i = 0; i < w.context.dense_types.size(); ++i) {
      if (!w.context.dense_shapes[i].is_fully_defined()) {
        return InvalidArgument("the dense shapes of the context must be fully defined, got ",
                               w.context.dense_shapes[i]);
      }
      TF_RETURN_IF_ERROR(CheckDefault({w.context.dense_keys[i], w.context.dense_types[i]}, w.context.dense_shapes[i],
                                      ctx.input(w.first_default + static_cast<int>(i))));
    }
    google::protobuf::Arena arena;
    std::vector<const proto::SequenceExample*> examples;
    for (const std::string& bytes : serialized.data<std::string>()) {
      auto* example = google::protobuf::Arena::CreateMessage<proto::SequenceExample>(&arena);
      if (!example->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return InvalidArgument(ExampleName(w.names, examples.size()), " (", bytes.size(),
                               " bytes) cannot be parsed as a tf.train.SequenceExample");
      }
      examples.push_back(example);
    }
    Outputs outputs(ctx);
    const bool batched = serialized.shape().rank() == 1;
    TF_RETURN_IF_ERROR(EmitContext(ctx, w, examples, batched, &outputs));
    return EmitLists(w, examples, batched, &outputs);
  }

 protected:
  virtual Status Read(const KernelContext& ctx, SequenceSpec* w) const = 0;

 private:
  using Examples = std::vector<const proto::SequenceExample*>;

  static Status EmitContext(const KernelContext& ctx, const SequenceSpec& w, const Examples& examples, bool batched,
                            Outputs* outputs) {
    const SequencePart& part = w.context;
    const auto rows_of = [&](const std::string& key) {
      FeatureRows rows;
      for (const proto::SequenceExample* e : examples) {
        const auto it = e->context().feature().find(key);
        rows.push_back(it == e->context().feature().end() ? nullptr : &it->second);
      }
      return rows;
    };
    std::vector<Tensor> indices, values, shapes, dense, ragged, splits;
    for (size_t i = 0; i < part.sparse_keys.size(); ++i) {
      TF_ASSIGN_OR_RETURN(SparseColumn column, GatherSparse({part.sparse_keys[i], part.sparse_types[i], &w.names},
                                                            rows_of(part.sparse_keys[i]), batched));
      indices.push_back(std::move(column.indices));
      values.push_back(std::move(column.values));
      shapes.push_back(std::move(column.shape));
    }
    for (size_t i = 0; i < part.dense_keys.size(); ++i) {
      TF_ASSIGN_OR_RETURN(Tensor column,
                          GatherDense({part.dense_keys[i], part.dense_types[i], &w.names}, rows_of(part.dense_keys[i]),
                                      part.dense_shapes[i], ctx.input(w.first_default + static_cast<int>(i)), batched));
      dense.push_back(std::move(column));
    }
    for (size_t i = 0; i < part.ragged_keys.size(); ++i) {
      TF_ASSIGN_OR_RETURN(RaggedColumn column,
                          GatherRagged({part.ragged_keys[i], part.ragged_types[i], &w.names},
                                       rows_of(part.ragged_keys[i]), part.split_types[i], batched));
      ragged.push_back(std::move(column.values));
      // Without a batch, the splits are a placeholder scalar, as for feature lists.
      splits.push_back(batched ? std::move(column.splits) : EmptyScalar(part.split_types[i]));
    }
    for (auto* argument : {&indices, &values, &shapes, &dense, &ragged, &splits}) outputs->Add(std::move(*argument));
    return OkStatus();
  }

  Status EmitLists(const SequenceSpec& w, const Examples& examples, bool batched, Outputs* outputs) const {
    const SequencePart& part = w.lists;
    const auto steps_of = [&](const std::string& key) {
      std::vector<Steps> all;
      for (const proto::SequenceExample* e : examples) {
        Steps& steps = all.emplace_back();
        const auto it = e->feature_lists().feature_list().find(key);
        if (it == e->feature_lists().feature_list().end()) continue;
        steps.present = true;
        for (const proto::Feature& f : it->second.feature()) steps.rows.push_back(&f);
      }
      return all;
    };
    std::vector<Tensor> indices, values, shapes, dense, lengths, ragged, outer, inner;
    for (size_t i = 0; i < part.sparse_keys.size(); ++i) {
      TF_ASSIGN_OR_RETURN(SparseColumn column,
                          GatherSequenceSparse({part.sparse_keys[i], part.sparse_types[i], &w.names},
                                               steps_of(part.sparse_keys[i]), batched));
      indices.push_back(std::move(column.indices));
      values.push_back(std::move(column.values));
      shapes.push_back(std::move(column.shape));
    }
    for (size_t i = 0; i < part.dense_keys.size(); ++i) {
      TF_ASSIGN_OR_RETURN(
          DenseSequences column,
          GatherSequenceDense({part.dense_keys[i], part.dense_types[i], &w.names}, steps_of(part.dense_keys[i]),
                              part.dense_shapes[i], !w.missing_is_empty[i], batched));
      dense.push_back(std::move(column.values));
      if (has_lengths_) lengths.push_back(std::move(column.lengths));
    }
    for (size_t i = 0; i < part.ragged_keys.size(); ++i) {
      TF_ASSIGN_OR_RETURN(RaggedColumn column,
                          GatherSequenceRagged({part.ragged_keys[i], part.ragged_types[i], &w.names},
                                               steps_of(part.ragged_keys[i]), part.split_types[i], batched));
      ragged.push_back(std::move(column.values));
      outer.push_back(std::move(column.splits));
      inner.push_back(std::move(column.inner_splits));
    }
    for (auto* argument : {&indices, &values, &shapes, &dense, &lengths, &ragged, &outer, &inner}) {
      outputs->Add(std::move(*argument));
    }
    return OkStatus();
  }

  const bool has_lengths_;
  SequenceSpec wanted_;  // without the keys, which Read adds
};

// For each key, whether it is in `names`, the keys that may be missing.
std::vector<bool> MayBeMissing(const std::vector<std::string>& keys, std::span<const std::string> names) {
  std::vector<bool> may;
  for (const std::string& key : keys) may.push_back(std::find(names.begin(), names.end(), key) != names.end());
  return may;
}

// ParseSingleSequenceExample: the input is a single example, and keys are scalar inputs.
class ParseSingleSequenceKernel final : public ParseSequenceKernel {
 public:
  explicit ParseSingleSequenceKernel(const KernelConstruction& c) : ParseSequenceKernel(c, /*has_lengths=*/false) {}

 protected:
  Status Read(const KernelContext& ctx, SequenceSpec* w) const override {
    if (ctx.input(0).shape().rank() != 0) {
      return InvalidArgument("serialized must be a scalar, got shape ", ctx.input(0).shape());
    }
    const auto keys = [&](const char* argument) {
      const auto [begin, end] = ArgumentRange(ctx.node(), argument);
      return ScalarKeys(ctx, begin, end - begin, argument);
    };
    TF_ASSIGN_OR_RETURN(w->context.sparse_keys, keys("context_sparse_keys"));
    TF_ASSIGN_OR_RETURN(w->context.dense_keys, keys("context_dense_keys"));
    TF_ASSIGN_OR_RETURN(w->lists.sparse_keys, keys("feature_list_sparse_keys"));
    TF_ASSIGN_OR_RETURN(w->lists.dense_keys, keys("feature_list_dense_keys"));
    w->missing_is_empty = MayBeMissing(w->lists.dense_keys, ctx.input(1).data<std::string>());
    w->first_default = ArgumentRange(ctx.node(), "context_dense_defaults").first;
    return OkStatus();
  }
};

// ParseSequenceExample: keys are attributes.
class ParseSequenceV1Kernel final : public ParseSequenceKernel {
 public:
  explicit ParseSequenceV1Kernel(const KernelConstruction& c) : ParseSequenceKernel(c, /*has_lengths=*/true) {
    keys_.context.sparse_keys = ListAttr<std::string>(c.node(), "context_sparse_keys");
    keys_.context.dense_keys = ListAttr<std::string>(c.node(), "context_dense_keys");
    keys_.lists.sparse_keys = ListAttr<std::string>(c.node(), "feature_list_sparse_keys");
    keys_.lists.dense_keys = ListAttr<std::string>(c.node(), "feature_list_dense_keys");
    keys_.missing_is_empty = MayBeMissing(keys_.lists.dense_keys,
                                          ListAttr<std::string>(c.node(), "feature_list_dense_missing_assumed_empty"));
  }

 protected:
  Status Read(const KernelContext& ctx, SequenceSpec* w) const override {
    if (ctx.input(0).shape().rank() != 1) {
      return InvalidArgument("serialized must be a vector, got shape ", ctx.input(0).shape());
    }
    w->context.sparse_keys = keys_.context.sparse_keys;
    w->context.dense_keys = keys_.context.dense_keys;
    w->lists.sparse_keys = keys_.lists.sparse_keys;
    w->lists.dense_keys = keys_.lists.dense_keys;
    w->missing_is_empty = keys_.missing_is_empty;
    w->names = ctx.input(1);
    w->first_default = 2;
    return OkStatus();
  }

 private:
  SequenceSpec keys_;
};

// ParseSequenceExampleV2: keys are vectors. The input may also be a single example without a batch.
class ParseSequenceV2Kernel final : public ParseSequenceKernel {
 public:
  explicit ParseSequenceV2Kernel(const KernelConstruction& c) : ParseSequenceKernel(c, /*has_lengths=*/true) {}

 protected:
  Status Read(const KernelContext& ctx, SequenceSpec* w) const override {
    const auto keys = [&](int input, const std::vector<DType>& types, const char* what) {
      return KeysOf(ctx, input, static_cast<int64_t>(types.size()), what);
    };
    w->names = ctx.input(1);
    TF_ASSIGN_OR_RETURN(w->context.sparse_keys, keys(2, w->context.sparse_types, "context_sparse_keys"));
    TF_ASSIGN_OR_RETURN(w->context.dense_keys, keys(3, w->context.dense_types, "context_dense_keys"));
    TF_ASSIGN_OR_RETURN(w->context.ragged_keys, keys(4, w->context.ragged_types, "context_ragged_keys"));
    TF_ASSIGN_OR_RETURN(w->lists.sparse_keys, keys(5, w->lists.sparse_types, "feature_list_sparse_keys"));
    TF_ASSIGN_OR_RETURN(w->lists.dense_keys, keys(6, w->lists.dense_types, "feature_list_dense_keys"));
    TF_ASSIGN_OR_RETURN(w->lists.ragged_keys, keys(7, w->lists.ragged_types, "feature_list_ragged_keys"));
    const auto missing = ctx.input(8).data<bool>();
    if (missing.size() != w->lists.dense_keys.size()) {
      return InvalidArgument("feature_list_dense_missing_assumed_empty must have ", w->lists.dense_keys.size(),
                             " elements, got ", missing.size());
    }
    w->missing_is_empty.assign(missing.begin(), missing.end());
    w->first_default = 9;
    return OkStatus();
  }
};

}  // namespace

void RegisterParsingSequenceExampleKernels(KernelRegistry& r) {
  r.Add<ParseSingleSequenceKernel>("ParseSingleSequenceExample", {}, cpu::ElementCost<2'000'000>);
  r.Add<ParseSequenceV1Kernel>("ParseSequenceExample", {}, cpu::ElementCost<2'000'000>);
  r.Add<ParseSequenceV2Kernel>("ParseSequenceExampleV2", {}, cpu::ElementCost<2'000'000>);
}

}  // namespace tensorbraid::cpu
