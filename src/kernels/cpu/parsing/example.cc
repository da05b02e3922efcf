// Parses serialized tf.train.Examples to tensors.
#include <google/protobuf/arena.h>

#include "core/text/strings.h"
#include "io/example.pb.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/parsing/example_columns.h"
#include "kernels/cpu/parsing/parsing.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

std::pair<int, int> ArgumentRange(const Node& node, std::string_view argument) {
  const auto& args = node.op().inputs;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == argument) return node.InputRange(static_cast<int>(i));
  }
  return {0, 0};
}

StatusOr<std::vector<std::string>> KeysOf(const KernelContext& ctx, int input, int64_t count, const char* what) {
  const Tensor& t = ctx.input(input);
  if (t.shape().rank() != 1 || t.num_elements() != count) {
    return InvalidArgument(what, " must be a vector of ", count, " elements, got shape ", t.shape());
  }
  return std::vector<std::string>(t.data<std::string>().begin(), t.data<std::string>().end());
}

StatusOr<std::vector<std::string>> ScalarKeys(const KernelContext& ctx, int first, int64_t count, const char* what) {
  std::vector<std::string> keys;
  for (int i = first; i < first + static_cast<int>(count); ++i) {
    if (ctx.input(i).num_elements() != 1) {
      return InvalidArgument(what, " must be scalars, got shape ", ctx.input(i).shape());
    }
    keys.push_back(ctx.input(i).data<std::string>()[0]);
  }
  return keys;
}

std::string ExampleName(const Tensor& names, size_t row) {
  if (!names.is_valid() || static_cast<int64_t>(row) >= names.num_elements()) return StrCat("example ", row);
  return StrCat("example ", row, " ('", names.data<std::string>()[row], "')");
}

namespace {

// The keys to parse and the inputs that belong to them, in a form that all versions of the op share.
struct ExampleSpec {
  std::vector<std::string> sparse_keys;
  std::vector<std::string> dense_keys;
  std::vector<std::string> ragged_keys;
  int first_default = 0;  // the input that has the first default value
  Tensor names;
};

class ParseExampleKernel : public Kernel {
 public:
  explicit ParseExampleKernel(const KernelConstruction& c)
      : sparse_types_(c.attr<std::vector<DType>>("sparse_types")),
        dense_types_(c.attr<std::vector<DType>>("Tdense")),
        dense_shapes_(c.attr<std::vector<Shape>>("dense_shapes")) {
    if (c.node().FindAttr("ragged_value_types") != nullptr) {
      ragged_types_ = c.attr<std::vector<DType>>("ragged_value_types");
      split_types_ = c.attr<std::vector<DType>>("ragged_split_types");
    }
  }

  Status Compute(KernelContext& ctx) final {
    TF_ASSIGN_OR_RETURN(const ExampleSpec wanted, Read(ctx));
    const Tensor& serialized = ctx.input(0);
    if (serialized.shape().rank() > 1) {
      return InvalidArgument("serialized must be a scalar or a vector, got shape ", serialized.shape());
    }
    if (wanted.sparse_keys.size() != sparse_types_.size() || wanted.dense_keys.size() != dense_types_.size() ||
        dense_shapes_.size() != dense_types_.size() || wanted.ragged_keys.size() != ragged_types_.size() ||
        split_types_.size() != ragged_types_.size() ||
        // The op has three outputs for each sparse key, one for each dense key and two for each ragged key.
        3 * sparse_types_.size() + dense_types_.size() + 2 * ragged_types_.size() !=
            static_cast<size_t>(ctx.num_outputs())) {
      return InvalidArgument("the numbers of keys, types and shapes do not match");
    }
    if (wanted.names.is_valid() && wanted.names.num_elements() > 0 && wanted.names.shape() != serialized.shape()) {
      return InvalidArgument("names must be empty or have the shape of serialized, got shapes ", wanted.names.shape(),
                             " and ", serialized.shape());
    }
    for (size_t i = 0; i < dense_types_.size(); ++i) {
      TF_RETURN_IF_ERROR(CheckDefault({wanted.dense_keys[i], dense_types_[i]}, dense_shapes_[i],
                                      ctx.input(wanted.first_default + static_cast<int>(i))));
    }
    google::protobuf::Arena arena;
    std::vector<const proto::Example*> examples;
    for (const std::string& bytes : serialized.data<std::string>()) {
      auto* example = google::protobuf::Arena::CreateMessage<proto::Example>(&arena);
      if (!example->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return InvalidArgument(ExampleName(wanted.names, examples.size()), " (", bytes.size(),
                               " bytes) cannot be parsed as a tf.train.Example");
      }
      examples.push_back(example);
    }
    return Emit(ctx, wanted, examples, serialized.shape().rank() == 1);
  }

 protected:
  virtual StatusOr<ExampleSpec> Read(const KernelContext& ctx) const = 0;

 private:
  Status Emit(KernelContext& ctx, const ExampleSpec& wanted, const std::vector<const proto::Example*>& examples,
              bool batched) const {
    const auto rows_of = [&](const std::string& key) {
      FeatureRows rows;
      for (const proto::Example* e : examples) {
        const auto it = e->features().feature().find(key);
        rows.push_back(it == e->features().feature().end() ? nullptr : &it->second);
      }
      return rows;
    };
    const int num_sparse = static_cast<int>(sparse_types_.size());
    for (int i = 0; i < num_sparse; ++i) {
      TF_ASSIGN_OR_RETURN(SparseColumn column, GatherSparse({wanted.sparse_keys[i], sparse_types_[i], &wanted.names},
                                                            rows_of(wanted.sparse_keys[i]), batched));
      ctx.set_output(i, std::move(column.indices));
      ctx.set_output(num_sparse + i, std::move(column.values));
      ctx.set_output(2 * num_sparse + i, std::move(column.shape));
    }
    const int num_dense = static_cast<int>(dense_types_.size());
    for (int i = 0; i < num_dense; ++i) {
      TF_ASSIGN_OR_RETURN(Tensor column, GatherDense({wanted.dense_keys[i], dense_types_[i], &wanted.names},
                                                     rows_of(wanted.dense_keys[i]), dense_shapes_[i],
                                                     ctx.input(wanted.first_default + i), batched));
      ctx.set_output(3 * num_sparse + i, std::move(column));
    }
    const int num_ragged = static_cast<int>(ragged_types_.size());
    for (int i = 0; i < num_ragged; ++i) {
      TF_ASSIGN_OR_RETURN(RaggedColumn column, GatherRagged({wanted.ragged_keys[i], ragged_types_[i], &wanted.names},
                                                            rows_of(wanted.ragged_keys[i]), split_types_[i], batched));
      ctx.set_output(3 * num_sparse + num_dense + i, std::move(column.values));
      ctx.set_output(3 * num_sparse + num_dense + num_ragged + i, std::move(column.splits));
    }
    return OkStatus();
  }

  const std::vector<DType> sparse_types_;
  const std::vector<DType> dense_types_;
  const std::vector<Shape> dense_shapes_;
  std::vector<DType> ragged_types_;
  std::vector<DType> split_types_;
};

// ParseExample: keys are scalar inputs.
class ParseExampleV1Kernel final : public ParseExampleKernel {
 public:
  using ParseExampleKernel::ParseExampleKernel;

 protected:
  StatusOr<ExampleSpec> Read(const KernelContext& ctx) const override {
    if (ctx.input(0).shape().rank() != 1) {
      return InvalidArgument("serialized must be a vector, got shape ", ctx.input(0).shape());
    }
    ExampleSpec w;
    w.names = ctx.input(1);
    const auto [sparse_begin, sparse_end] = ArgumentRange(ctx.node(), "sparse_keys");
    const auto [dense_begin, dense_end] = ArgumentRange(ctx.node(), "dense_keys");
    TF_ASSIGN_OR_RETURN(w.sparse_keys, ScalarKeys(ctx, sparse_begin, sparse_end - sparse_begin, "sparse_keys"));
    TF_ASSIGN_OR_RETURN(w.dense_keys, ScalarKeys(ctx, dense_begin, dense_end - dense_begin, "dense_keys"));
    w.first_default = dense_end;
    return w;
  }
};

// ParseExampleV2: keys are vectors. The input may also be a single example without a batch.
class ParseExampleV2Kernel final : public ParseExampleKernel {
 public:
  explicit ParseExampleV2Kernel(const KernelConstruction& c)
      : ParseExampleKernel(c),
        num_sparse_(c.attr<int64_t>("num_sparse")),
        num_dense_(static_cast<int64_t>(c.attr<std::vector<DType>>("Tdense").size())),
        num_ragged_(static_cast<int64_t>(c.attr<std::vector<DType>>("ragged_value_types").size())) {}

 protected:
  StatusOr<ExampleSpec> Read(const KernelContext& ctx) const override {
    ExampleSpec w;
    w.names = ctx.input(1);
    TF_ASSIGN_OR_RETURN(w.sparse_keys, KeysOf(ctx, 2, num_sparse_, "sparse_keys"));
    TF_ASSIGN_OR_RETURN(w.dense_keys, KeysOf(ctx, 3, num_dense_, "dense_keys"));
    TF_ASSIGN_OR_RETURN(w.ragged_keys, KeysOf(ctx, 4, num_ragged_, "ragged_keys"));
    w.first_default = 5;
    return w;
  }

 private:
  const int64_t num_sparse_;
  const int64_t num_dense_;
  const int64_t num_ragged_;
};

// ParseSingleExample: keys are attributes, and the input is a single example.
class ParseSingleExampleKernel final : public ParseExampleKernel {
 public:
  explicit ParseSingleExampleKernel(const KernelConstruction& c)
      : ParseExampleKernel(c),
        sparse_keys_(c.attr<std::vector<std::string>>("sparse_keys")),
        dense_keys_(c.attr<std::vector<std::string>>("dense_keys")) {}

 protected:
  StatusOr<ExampleSpec> Read(const KernelContext& ctx) const override {
    if (ctx.input(0).shape().rank() != 0) {
      return InvalidArgument("serialized must be a scalar, got shape ", ctx.input(0).shape());
    }
    ExampleSpec w;
    w.sparse_keys = sparse_keys_;
    w.dense_keys = dense_keys_;
    w.first_default = 1;
    return w;
  }

 private:
  const std::vector<std::string> sparse_keys_;
  const std::vector<std::string> dense_keys_;
};

}  // namespace

void RegisterParsingExampleKernels(KernelRegistry& r) {
  r.Add<ParseExampleV1Kernel>("ParseExample", {}, cpu::ElementCost<2'000'000>);
  r.Add<ParseExampleV2Kernel>("ParseExampleV2", {}, cpu::ElementCost<2'000'000>);
  r.Add<ParseSingleExampleKernel>("ParseSingleExample", {}, cpu::ElementCost<2'000'000>);
}

}  // namespace tensorbraid::cpu
