#include "kernels/cpu/dataset/util.h"

#include <algorithm>

#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "kernels/cpu/elements.h"

namespace tensorbraid {

Status EmitDataset(KernelContext& ctx, const std::vector<RefPtr<Dataset>>& inputs, Dataset::Make make,
                   int64_t cardinality) {
  const Node& node = ctx.node();
  std::vector<DType> types = {kString};
  std::vector<Shape> shapes = {Shape()};
  for (const char* name : {"output_types", "Toutput_types"}) {
    const AttrValue* attr = node.FindAttr(name);
    if (attr != nullptr && attr->get<std::vector<DType>>() != nullptr) types = *attr->get<std::vector<DType>>();
  }
  const AttrValue* attr = node.FindAttr("output_shapes");
  if (attr != nullptr && attr->get<std::vector<Shape>>() != nullptr) shapes = *attr->get<std::vector<Shape>>();
  TF_ASSIGN_OR_RETURN(auto dataset, Dataset::Create(node.type(), std::move(types), std::move(shapes), inputs,
                                                    std::move(make), cardinality));
  ctx.set_output(0, MakeVariantTensor(std::move(dataset)));
  return OkStatus();
}

StatusOr<RefPtr<Dataset>> InputDataset(const KernelContext& ctx, int i) {
  TF_ASSIGN_OR_RETURN(Dataset * dataset, VariantAs<Dataset>(ctx.input(i)));
  return RefPtr<Dataset>::Share(dataset);
}

StatusOr<int64_t> NumberInput(const KernelContext& ctx, int i, const char* what) {
  if (ctx.input(i).shape().rank() != 0) {
    return InvalidArgument(what, " must be a scalar, got shape ", ctx.input(i).shape());
  }
  return IntegerOf(ctx.input(i), what);
}

StatusOr<bool> BoolInput(const KernelContext& ctx, int i, const char* what) {
  const Tensor& t = ctx.input(i);
  if (t.dtype() != kBool || t.num_elements() != 1) {
    return InvalidArgument(what, " must be a scalar bool, got ", t.dtype(), t.shape());
  }
  return t.data<bool>()[0];
}

StatusOr<std::string> StringInput(const KernelContext& ctx, int i, const char* what) {
  const Tensor& t = ctx.input(i);
  if (t.dtype() != kString || t.num_elements() != 1) {
    return InvalidArgument(what, " must be a scalar string, got ", t.dtype(), t.shape());
  }
  return t.data<std::string>()[0];
}

Tensor RowOf(const Tensor& t, int64_t i) {
  const Tensor row = t.Slice(i, i + 1);
  auto reshaped = row.Reshaped(Shape(t.shape().dims().subspan(1)));
  TB_CHECK_OK(reshaped.status());
  return *std::move(reshaped);
}

StatusOr<Element> StackElements(const std::vector<Element>& elements) {
  Element batch;
  const Element& first = elements.front();
  for (size_t c = 0; c < first.size(); ++c) {
    const DType dtype = first[c].dtype();
    Shape shape({static_cast<int64_t>(elements.size())});
    for (int64_t d : first[c].shape().dims()) shape.AddDim(d);
    TF_ASSIGN_OR_RETURN(Tensor out, Tensor::Create(dtype, shape));
    for (size_t i = 0; i < elements.size(); ++i) {
      if (elements[i].size() != first.size() || elements[i][c].dtype() != dtype) {
        return InvalidArgument("element ", i,
                               " of a batch differs from the first in the number or dtypes of components");
      }
      if (elements[i][c].shape() != first[c].shape()) {
        return InvalidArgument("all elements of a batch must have the same shape: component ", c, " has shape ",
                               first[c].shape(), " in the first element and ", elements[i][c].shape(), " in element ",
                               i, "; use padded_batch to pad them");
      }
    }
    TF_RETURN_IF_ERROR(ForElementsOf(dtype, [&]<typename E>() {
      E* to = MutableElements<E>(out);
      for (const Element& e : elements) {
        CopyElements(Elements<E>(e[c]), e[c].num_elements(), to);
        to += e[c].num_elements();
      }
      return OkStatus();
    }));
    batch.push_back(std::move(out));
  }
  return batch;
}

int64_t ParallelCalls(int64_t wanted) {
  const int64_t cores = NumCores();
  if (wanted < 1) return cores;
  return std::min(wanted, 16 * cores);
}

}  // namespace tensorbraid
