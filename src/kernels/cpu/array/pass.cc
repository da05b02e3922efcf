// Kernels that pass a tensor on, copy it or reinterpret its bytes, Empty, and the ops on data formats such as NHWC.
#include <algorithm>
#include <array>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/tensor_rows.h"

namespace tensorbraid::cpu {
namespace {

Status PassOn(KernelContext& ctx) {
  ctx.set_output(0, ctx.TakeInput(0));
  return OkStatus();
}

Status Copy(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(Tensor copy, CopyOf(ctx.input(0)));
  ctx.set_output(0, std::move(copy));
  return OkStatus();
}

Status EnsureShape(KernelContext& ctx) {
  const Shape& wanted = ctx.node().attr<Shape>("shape");
  if (!wanted.IsCompatibleWith(ctx.input(0).shape())) {
    return InvalidArgument("Shape of tensor ", NodeOf(ctx.node().inputs()[0])->name(), " ", ctx.input(0).shape(),
                           " is not compatible with expected shape ", wanted, ".");
  }
  return PassOn(ctx);
}

// Reinterprets the bytes as another type. A larger type consumes the last dimension, a smaller one adds one.
Status Bitcast(KernelContext& ctx) {
  const Tensor in = ctx.TakeInput(0);
  const DType type = ctx.node().attr<DType>("type");
  const size_t from = DTypeSize(in.dtype()), to = DTypeSize(type);
  if (!IsPlain(in.dtype()) || !IsPlain(type)) return InvalidArgument("cannot bitcast ", in.dtype(), " to ", type);
  Shape shape = in.shape();
  if (from > to) {
    shape.AddDim(static_cast<int64_t>(from / to));
  } else if (from < to) {
    const int last = shape.rank() - 1;
    const auto ratio = static_cast<int64_t>(to / from);
    if (last < 0 || shape.dim(last) != ratio) {
      return InvalidArgument("the last dimension of ", in.shape(), " must have size ", ratio, " to bitcast to ", type);
    }
    shape = Shape(in.shape().dims().first(last));
  }
  if (in.num_elements() == 0) return ctx.AllocateOutput(0, shape).status();
  const size_t offset = static_cast<const char*>(in.raw_data()) - static_cast<const char*>(in.buffer()->data());
  if (offset % to != 0) {  // a slice whose start is not aligned for the larger type
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    std::memcpy(out->inplace_raw_data(), in.raw_data(), in.num_bytes());
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor out, Tensor::FromBuffer(in.buffer(), offset, type, shape));
  ctx.set_output(0, std::move(out));
  return OkStatus();
}

// Always fills with zeros, even if `init` is false, so that old memory contents are not exposed.
Status Empty(KernelContext& ctx) {
  if (ctx.input(0).shape().rank() != 1) {
    return InvalidArgument("the shape must be a vector, got shape ", ctx.input(0).shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(0), "the sizes"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    RepeatElement(ZeroElement<E>(), out->num_elements(), MutableElements<E>(*out));
    return OkStatus();
  });
}

// A source and a destination data format, such as NHWC and NCHW.
class DataFormats {
 public:
  explicit DataFormats(const KernelConstruction& c)
      : from_(c.attr<std::string>("src_format")), to_(c.attr<std::string>("dst_format")) {}

  Status Check() const {
    if (from_.size() < 4 || from_.size() > 5) {
      return InvalidArgument("Source format must be of length 4 or 5, got '", from_, "'");
    }
    std::string a = from_, b = to_;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    if (a != b || std::adjacent_find(a.begin(), a.end()) != a.end()) {
      return InvalidArgument("Destination and source format must determine a permutation, got '", to_, "' and '", from_,
                             "'");
    }
    return OkStatus();
  }
  const std::string& from() const { return from_; }
  const std::string& to() const { return to_; }

 private:
  const std::string from_;
  const std::string to_;
};

template <typename T>
class DataFormatDimMapKernel final : public Kernel {
 public:
  explicit DataFormatDimMapKernel(const KernelConstruction& c) : formats_(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(formats_.Check());
    const auto in = ctx.input(0).data<T>();
    const auto rank = static_cast<T>(formats_.from().size());
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, ctx.input(0).shape()));
    const auto to = out->inplace_data<T>();
    for (size_t i = 0; i < in.size(); ++i) {
      const T at = static_cast<T>((in[i] % rank + rank) % rank);
      to[i] = static_cast<T>(formats_.to().find(formats_.from()[at]));
    }
    return OkStatus();
  }

 private:
  const DataFormats formats_;
};

// Permutes the entries of a vector that has one per dimension (or one per spatial dimension), or the rows of a matrix
// that has a pair for each.
template <typename T>
class DataFormatVecPermuteKernel final : public Kernel {
 public:
  explicit DataFormatVecPermuteKernel(const KernelConstruction& c) : formats_(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(formats_.Check());
    const Tensor& in = ctx.input(0);
    const int rank = in.shape().rank();
    if (rank != 1 && rank != 2) return InvalidArgument("the input must be a vector or a matrix, got ", in.shape());
    if (rank == 2 && in.shape().dim(1) != 2) return InvalidArgument("the matrix must have 2 columns, got ", in.shape());
    std::string from = formats_.from(), to = formats_.to();
    const auto spatial = static_cast<int64_t>(from.size()) - 2;
    if (in.shape().dim(0) == spatial) {
      for (std::string* s : {&from, &to}) {
        s->erase(std::remove_if(s->begin(), s->end(), [](char c) { return c == 'N' || c == 'C'; }), s->end());
      }
      if (static_cast<int64_t>(from.size()) != spatial) {
        return InvalidArgument("Format specifier must contain ", spatial == 3 ? "D, H and W for 3D" : "H and W for 2D",
                               " case, and N and C, to permute an entry for each spatial dimension, got '",
                               formats_.from(), "'");
      }
    }
    if (in.shape().dim(0) != static_cast<int64_t>(from.size())) {
      return InvalidArgument("the input must have an entry for each letter of '", formats_.from(),
                             "', or for each of its spatial letters, got shape ", in.shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    const int columns = rank == 2 ? 2 : 1;
    for (size_t i = 0; i < to.size(); ++i) {
      const size_t source = from.find(to[i]);
      for (int j = 0; j < columns; ++j) {
        out->inplace_data<T>()[i * columns + j] = in.data<T>()[source * columns + j];
      }
    }
    return OkStatus();
  }

 private:
  const DataFormats formats_;
};

Status GuaranteeConst(KernelContext& ctx) {
  if (ctx.input(0).dtype() == DType::kResource) {
    return InvalidArgument("the input cannot be a resource variable's handle: a variable's value is not constant");
  }
  return PassOn(ctx);
}

}  // namespace

void RegisterArrayPassKernels(KernelRegistry& r) {
  for (const char* op : {"Snapshot", "DebugGradientIdentity"}) r.Add(op, {}, PassOn, kNoCost);
  r.Add("GuaranteeConst", {}, GuaranteeConst, kNoCost);
  for (const char* op : {"DeepCopy", "Copy", "CopyHost"}) r.Add(op, {}, Copy);
  r.Add("EnsureShape", {}, EnsureShape, kNoCost);
  r.Add("Bitcast", {}, Bitcast, kNoCost);
  r.Add("Empty", {}, Empty);
  r.Add<DataFormatDimMapKernel<int32_t>>("DataFormatDimMap", {{"T", {kInt32}}});
  r.Add<DataFormatDimMapKernel<int64_t>>("DataFormatDimMap", {{"T", {kInt64}}});
  r.Add<DataFormatVecPermuteKernel<int32_t>>("DataFormatVecPermute", {{"T", {kInt32}}});
  r.Add<DataFormatVecPermuteKernel<int64_t>>("DataFormatVecPermute", {{"T", {kInt64}}});
}

}  // namespace tensorbraid::cpu
