// Datasets at the start of a pipeline: the elements come from tensors, ranges or generators.
#include <algorithm>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Element AllInputs(KernelContext& ctx) {
  Element all;
  for (int i = 0; i < ctx.num_inputs(); ++i) all.push_back(ctx.input(i));
  return all;
}

Status CheckDeclared(const KernelContext& ctx, const Element& first) {
  return CheckElement(first, ctx.node().attr<std::vector<DType>>("Toutput_types"),
                      ctx.node().attr<std::vector<Shape>>("output_shapes"));
}

Status TensorDataset(KernelContext& ctx) {
  Element all = AllInputs(ctx);
  TF_RETURN_IF_ERROR(CheckDeclared(ctx, all));
  return EmitDataset(
      ctx, {},
      [all = std::move(all)](const IteratorContext&) -> StatusOr<Iterator> {
        return MakeStateful(false, [all](bool& done, const IteratorContext&, Element* out) -> StatusOr<bool> {
          if (done) return false;
          done = true;
          *out = all;
          return true;
        });
      },
      1);
}

Status TensorSliceDataset(KernelContext& ctx) {
  Element all = AllInputs(ctx);
  int64_t rows = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].shape().rank() < 1) return InvalidArgument("cannot slice component ", i, ": it is a scalar");
    if (i == 0) rows = all[i].shape().dim(0);
    if (all[i].shape().dim(0) != rows) {
      return InvalidArgument("cannot slice: component 0 has ", rows, " rows, but component ", i, " has ",
                             all[i].shape().dim(0));
    }
  }
  return EmitDataset(
      ctx, {},
      [all = std::move(all), rows](const IteratorContext&) -> StatusOr<Iterator> {
        return MakeStateful(int64_t{0},
                            [all, rows](int64_t& next, const IteratorContext&, Element* out) -> StatusOr<bool> {
                              if (next >= rows) return false;
                              out->clear();
                              for (const Tensor& t : all) out->push_back(RowOf(t, next));
                              ++next;
                              return true;
                            });
      },
      rows);
}

Status RangeDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const int64_t start, NumberInput(ctx, 0, "start"));
  TF_ASSIGN_OR_RETURN(const int64_t stop, NumberInput(ctx, 1, "stop"));
  TF_ASSIGN_OR_RETURN(const int64_t step, NumberInput(ctx, 2, "step"));
  if (step == 0) return InvalidArgument("the step of a range must not be 0");
  const DType dtype = ctx.node().attr<std::vector<DType>>("output_types")[0];
  if (!IsInteger(dtype) && !IsFloating(dtype))
    return InvalidArgument("a range must have an integer or floating-point dtype, got ", dtype);
  const __int128 span = step > 0 ? static_cast<__int128>(stop) - start : static_cast<__int128>(start) - stop;
  const __int128 stride = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  const __int128 count = span <= 0 ? 0 : (span + stride - 1) / stride;
  const auto elements = static_cast<int64_t>(std::min<__int128>(count, INT64_MAX));
  return EmitDataset(
      ctx, {},
      [=](const IteratorContext&) -> StatusOr<Iterator> {
        return MakeStateful(int64_t{0}, [=](int64_t& next, const IteratorContext&, Element* out) -> StatusOr<bool> {
          if (next >= elements) return false;
          const auto value = static_cast<int64_t>(static_cast<uint64_t>(start) +
                                                  static_cast<uint64_t>(next++) * static_cast<uint64_t>(step));
          Tensor t(dtype, {});
          switch (dtype) {
#define TB_CASE(T)                                  \
  case DTypeOf<T>::value:                           \
    t.inplace_data<T>()[0] = static_cast<T>(value); \
    break;
            TB_CASE(int8_t)
            TB_CASE(int16_t)
            TB_CASE(int32_t)
            TB_CASE(int64_t)
            TB_CASE(uint8_t)
            TB_CASE(uint16_t)
            TB_CASE(uint32_t)
            TB_CASE(uint64_t)
            TB_CASE(float)
            TB_CASE(double)
            TB_CASE(Float16)
            TB_CASE(Bfloat16)
#undef TB_CASE
            default:
              return Internal("a range of ", dtype);
          }
          *out = {std::move(t)};
          return true;
        });
      },
      elements);
}

// Calls finalize_func of a GeneratorDataset once, for the state that init_func has returned: at the end of the dataset,
// or when the iterator is destroyed before the end.
class GeneratorEnd {
 public:
  GeneratorEnd(CapturedFunction finalize, const IteratorContext& context, Element values)
      : finalize_(std::move(finalize)), env_(context.env), depth_(context.depth), values_(std::move(values)) {}
  ~GeneratorEnd() {
    if (called_) return;
    const Status status = Call({.env = env_, .cancellation = env_->cancellation(), .depth = depth_});
    if (!status.ok()) {
      TB_LOG(Warning, "dataset") << "finalize_func of a GeneratorDataset failed: " << status;
    }
  }
  GeneratorEnd(const GeneratorEnd&) = delete;
  GeneratorEnd& operator=(const GeneratorEnd&) = delete;

  Status Call(const IteratorContext& context) {
    called_ = true;
    return finalize_.Run(context, values_).status();
  }

 private:
  const CapturedFunction finalize_;
  DataEnvironment* const env_;
  const int depth_;
  const Element values_;
  bool called_ = false;
};

// A dataset whose elements three functions make: init_func returns a state, next_func returns an element for this state
// (or OutOfRange at the end), and finalize_func ends the use of the state.
Status GeneratorDataset(KernelContext& ctx) {
  const auto count = [&](const char* attr) {
    return static_cast<int>(ctx.node().attr<std::vector<DType>>(attr).size());
  };
  const int next_begin = count("Tinit_func_args"), finalize_begin = next_begin + count("Tnext_func_args");
  const auto init = CapturedFunction::FromNode(ctx, "init_func", 0, next_begin);
  const auto next = CapturedFunction::FromNode(ctx, "next_func", next_begin, finalize_begin);
  const auto finalize = CapturedFunction::FromNode(ctx, "finalize_func", finalize_begin, ctx.num_inputs());
  const auto& types = ctx.node().attr<std::vector<DType>>("output_types");
  const auto& shapes = ctx.node().attr<std::vector<Shape>>("output_shapes");
  struct State {
    bool ended = false;
    Element values;
    std::shared_ptr<GeneratorEnd> end;  // null before the first element
  };
  return EmitDataset(ctx, {}, [=](const IteratorContext&) -> StatusOr<Iterator> {
    return MakeStateful(
        State(),
        [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
          if (s.ended) return false;
          if (s.end == nullptr) {
            TF_ASSIGN_OR_RETURN(s.values, init.Run(c, {}));
            s.end = std::make_shared<GeneratorEnd>(finalize, c, s.values);
          }
          auto element = next.Run(c, s.values);
          if (element.ok()) {
            *out = *std::move(element);
            TF_RETURN_IF_ERROR(CheckElement(*out, types, shapes));
            return true;
          }
          if (!absl::IsOutOfRange(element.status())) return element.status();
          s.ended = true;
          TF_RETURN_IF_ERROR(s.end->Call(c));
          return false;
        },
        [](State&, IteratorState& state) {
          state.Fail(Unimplemented("the position of a GeneratorDataset is known to its functions only, and cannot be ",
                                   "saved"));
        });
  });
}

Status SqlDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string driver, StringInput(ctx, 0, "driver_name"));
  return Unimplemented("SqlDataset needs a library for databases, which this build does not have (driver '", driver,
                       "'); write the rows to a file first, and read the file with TFRecordDataset or CsvDataset");
}

}  // namespace

void RegisterDatasetSourceKernels(KernelRegistry& r) {
  r.Add("GeneratorDataset", {}, GeneratorDataset);
  r.Add("SqlDataset", {}, SqlDataset);
  r.Add("TensorDataset", {}, TensorDataset);
  r.Add("TensorSliceDataset", {}, TensorSliceDataset);
  r.Add("RangeDataset", {}, RangeDataset);
}

}  // namespace tensorbraid::cpu
