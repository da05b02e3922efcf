#include "kernels/cpu/dataset/util.h"

#include <algorithm>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "core/values/fingerprint.h"
#include "graph/format/fingerprint.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "kernels/cpu/elements.h"

namespace tensorbraid {
namespace {

uint64_t FingerprintOfTensor(const Tensor& t) {
  std::string text = StrCat(t.dtype(), t.shape(), ":");
  if (t.dtype() == kString) {
    for (const std::string& s : t.data<std::string>()) text += StrCat(Fingerprint64(s), ",");
  } else if (t.dtype() == DType::kVariant) {
    for (const Variant& v : t.data<Variant>()) {
      const auto* dataset = dynamic_cast<const Dataset*>(v.value.get());
      if (dataset != nullptr) text += StrCat(dataset->Fingerprint(), ",");
    }
  } else if (IsPlain(t.dtype()) && t.num_bytes() > 0) {
    text += StrCat(Fingerprint64({static_cast<const char*>(t.raw_data()), t.num_bytes()}));
  }
  return Fingerprint64(text);
}

// The fingerprint of the dataset that a node makes: of the node's op, attributes and inputs. The names of nodes and
// functions and the handles of resources do not change it.
std::function<uint64_t()> FingerprintOfNode(const KernelContext& ctx) {
  std::vector<std::pair<std::string, AttrValue>> attrs;
  for (const auto& [name, value] : ctx.node().attrs()) {
    if (!name.starts_with("_") && name != "metadata") attrs.emplace_back(name, value);
  }
  Element inputs;
  for (int i = 0; i < ctx.num_inputs(); ++i) inputs.push_back(ctx.input(i));
  return [type = ctx.node().type(), attrs = std::move(attrs), inputs = std::move(inputs),
          library = ImplOf(*ctx.node().graph()).functions()] {
    std::string text = type;
    for (const auto& [name, value] : attrs) text += StrCat(";", name, "=", FingerprintOf(value, *library));
    for (const Tensor& t : inputs) text += StrCat(";", FingerprintOfTensor(t));
    return Fingerprint64(text);
  };
}

}  // namespace

FunctionRuntime::Place PlaceOf(const KernelContext& ctx) {
  return {.device = ctx.node().device(), .resources = &ctx.resources(), .pool = &ctx.pool()};
}

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
                                                    std::move(make), cardinality, FingerprintOfNode(ctx)));
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

StatusOr<Element> StackElements(std::vector<Element> elements) {
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
      constexpr size_t kAhead = 8;
      for (size_t i = 0; i < elements.size(); ++i) {
        if (i + kAhead < elements.size()) __builtin_prefetch(elements[i + kAhead][c].raw_data());
        Element& e = elements[i];
        const int64_t n = e[c].num_elements();
        if (std::is_same_v<E, std::string> && e[c].IsWritable()) {
          std::move(MutableElements<E>(e[c]), MutableElements<E>(e[c]) + n, to);
        } else {
          CopyElements(Elements<E>(e[c]), n, to);
        }
        to += n;
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
