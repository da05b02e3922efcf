// Stores sparse tensors as strings (serialized TensorProtos), as variants (the tensors themselves), and in a map that
// outlives steps.
#include <map>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "kernels/cpu/sparse/sparse.h"
#include "runtime/dataset/variant_values.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid::cpu {
namespace {

// The three tensors of one sparse tensor.
struct Triple {
  Tensor indices, values, shape;
};

Triple TripleOf(KernelContext& ctx) { return {ctx.input(0), ctx.input(1), ctx.input(2)}; }

// Splits the sparse tensor in inputs 0 to 2 along its first dimension. The parts have a rank that is lower by one.
StatusOr<std::vector<Triple>> Rows(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 0));
  if (in.rank() < 2) return InvalidArgument("the sparse tensor must have rank 2 or more, got ", in.rank());
  const int64_t rows = in.shape()[0];
  const int rank = in.rank() - 1;
  constexpr int64_t kMostRows = int64_t{1} << 20;  // each takes some hundred bytes, even without elements
  if (rows > kMostRows)
    return ResourceExhausted("cannot split a sparse tensor of ", rows, " rows; the maximum is ", kMostRows);
  std::vector<std::vector<int64_t>> elements(rows);
  for (int64_t i = 0; i < in.size(); ++i) elements[in.index(i)[0]].push_back(i);
  const Tensor shape = Tensor::Vector(std::vector<int64_t>(in.shape().begin() + 1, in.shape().end()));
  std::vector<Triple> triples;
  for (const auto& row : elements) {
    const auto n = static_cast<int64_t>(row.size());
    TF_ASSIGN_OR_RETURN(Tensor indices, Tensor::Create(kInt64, {n, rank}));
    TF_ASSIGN_OR_RETURN(Tensor values, Tensor::Create(in.values().dtype(), {n}));
    Triple t{std::move(indices), std::move(values), shape};
    for (int64_t i = 0; i < n; ++i) {
      std::copy_n(in.index(row[i]) + 1, rank, t.indices.inplace_data<int64_t>().begin() + i * rank);
    }
    TF_RETURN_IF_ERROR(ForElementsOf(t.values.dtype(), [&]<typename E>() {
      for (int64_t i = 0; i < n; ++i) MutableElements<E>(t.values)[i] = Elements<E>(in.values())[row[i]];
      return OkStatus();
    }));
    triples.push_back(std::move(t));
  }
  return triples;
}

// Sets outputs 0 to 2 to the stacked sparse tensors. `lead` is the shape of the leading dimensions, which number the
// tensors. `taken` is true if the tensors come from a map: error messages then count the stacked dimension, too.
Status Stack(KernelContext& ctx, const std::vector<Triple>& triples, const Shape& lead, bool taken = false) {
  if (triples.empty()) return InvalidArgument("there must be at least one sparse tensor");
  std::vector<SparseView> views;
  int64_t n = 0;
  for (const Triple& t : triples) {
    if (t.values.dtype() != ctx.node().output_type(1)) {
      return InvalidArgument("Requested SparseTensor of type ", OpTypeName(ctx.node().output_type(1)),
                             " but SparseTensor[", views.size(), "].values.dtype() == ", OpTypeName(t.values.dtype()));
    }
    if (t.indices.dtype() != kInt64 || t.shape.dtype() != kInt64) {
      return InvalidArgument("indices and shape must be int64, got ", t.indices.dtype(), " and ", t.shape.dtype());
    }
    TF_ASSIGN_OR_RETURN(SparseView v, SparseView::Of(t.indices, t.values, t.shape));
    n += v.size();
    views.push_back(std::move(v));
  }
  const int rank = views[0].rank();
  IntVector shape(lead.dims().begin(), lead.dims().end());
  shape.insert(shape.end(), views[0].shape().begin(), views[0].shape().end());
  for (size_t i = 0; i < views.size(); ++i) {
    if (views[i].rank() != rank) {
      const int more = taken ? lead.rank() : 0;
      return InvalidArgument("Inconsistent ", taken ? "rank" : "shape",
                             " across SparseTensors: rank prior to SparseTensor[", i, "] was: ", rank + more,
                             " but rank of SparseTensor[", i, "] is: ", views[i].rank() + more);
    }
    for (int d = 0; d < rank; ++d) {
      int64_t& size = shape[lead.rank() + d];
      size = std::max(size, views[i].shape()[d]);
    }
  }
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, n, shape));
  int64_t* to = out.indices;
  for (size_t i = 0; i < views.size(); ++i) {
    IntVector place(lead.rank());
    auto rest = static_cast<int64_t>(i);
    for (int d = lead.rank() - 1; d >= 0; --d) {
      place[d] = rest % lead.dim(d);
      rest /= lead.dim(d);
    }
    for (int64_t j = 0; j < views[i].size(); ++j) {
      to = std::copy(place.begin(), place.end(), to);
      to = std::copy_n(views[i].index(j), rank, to);
    }
  }
  return ForElementsOf(out.values->dtype(), [&]<typename E>() {
    E* v = MutableElements<E>(*out.values);
    for (const SparseView& view : views) {
      CopyElements(Elements<E>(view.values()), view.size(), v);
      v += view.size();
    }
    return OkStatus();
  });
}

std::string Serialized(const Tensor& t) {
  proto::TensorProto proto;
  ToProto(t, &proto);
  return proto.SerializeAsString();
}

// Stores the three tensors in elements `at` to `at + 2` of `out`.
void Serialize(const Triple& t, int64_t at, Tensor* out) {
  for (const Tensor* part : {&t.indices, &t.values, &t.shape}) {
    if (out->dtype() == kString) {
      out->inplace_data<std::string>()[at++] = Serialized(*part);
    } else {
      out->inplace_data<Variant>()[at++].value = MakeRef<TensorValue>(*part);
    }
  }
}

Status SerializeSparse(KernelContext& ctx) {
  const Triple t = TripleOf(ctx);
  TF_RETURN_IF_ERROR(SparseView::Of(t.indices, t.values, t.shape).status());
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {3}));
  Serialize(t, 0, out);
  return OkStatus();
}

Status SerializeManySparse(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::vector<Triple> rows, Rows(ctx));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {static_cast<int64_t>(rows.size()), 3}));
  for (size_t i = 0; i < rows.size(); ++i) Serialize(rows[i], static_cast<int64_t>(3 * i), out);
  return OkStatus();
}

StatusOr<Tensor> Deserialized(const std::string& text) {
  proto::TensorProto proto;
  if (!proto.ParseFromString(text))
    return InvalidArgument("Could not parse serialized proto of a part of a sparse tensor");
  return FromProto(proto);
}

StatusOr<Tensor> PartAt(const Tensor& serialized, int64_t i) {
  if (serialized.dtype() == kString) return Deserialized(serialized.data<std::string>()[i]);
  const VariantValue* value = serialized.data<Variant>()[i].value.get();
  const auto* part = dynamic_cast<const TensorValue*>(value);
  if (part == nullptr) return WrongVariant(value, TensorValue::kTypeName);
  return part->tensor;
}

Status Deserialize(KernelContext& ctx, const Shape& lead) {
  const Tensor& serialized = ctx.input(0);
  std::vector<Triple> triples;
  for (int64_t i = 0; i + 2 < serialized.num_elements(); i += 3) {
    Triple t;
    TF_ASSIGN_OR_RETURN(t.indices, PartAt(serialized, i));
    TF_ASSIGN_OR_RETURN(t.values, PartAt(serialized, i + 1));
    TF_ASSIGN_OR_RETURN(t.shape, PartAt(serialized, i + 2));
    triples.push_back(std::move(t));
  }
  return Stack(ctx, triples, lead);
}

Status DeserializeSparse(KernelContext& ctx) {
  const Shape& s = ctx.input(0).shape();
  if (s.rank() < 1 || s.dim(s.rank() - 1) != 3) {
    return InvalidArgument("serialized_sparse must have 3 elements in its last dimension, got shape ", s);
  }
  return Deserialize(ctx, Shape(s.dims().first(s.rank() - 1)));
}

Status DeserializeManySparse(KernelContext& ctx) {
  const Shape& s = ctx.input(0).shape();
  if (s.rank() != 2 || s.dim(1) != 3) {
    return InvalidArgument("serialized_sparse must be a matrix of 3 columns, got shape ", s);
  }
  return Deserialize(ctx, Shape({s.dim(0)}));
}

// A map from handles, which are integers, to sparse tensors. Thread-safe.
class SparseTensorsMap final : public Resource {
 public:
  static constexpr const char* kTypeName = "map of sparse tensors";

  int64_t Add(Triple t) {
    MutexLock lock(mu_);
    tensors_.emplace(next_, std::move(t));
    return next_++;
  }
  // Removes the tensors from the map and returns them. Returns InvalidArgument if a handle is not in the map.
  StatusOr<std::vector<Triple>> Take(std::span<const int64_t> handles) {
    MutexLock lock(mu_);
    std::vector<Triple> taken;
    for (int64_t handle : handles) {
      const auto it = tensors_.find(handle);
      if (it == tensors_.end()) return InvalidArgument("Unable to find SparseTensor: ", handle, " is not in the map");
      taken.push_back(std::move(it->second));
      tensors_.erase(it);
    }
    return taken;
  }
  std::string DebugString() const override { return kTypeName; }

 private:
  Mutex mu_;
  std::map<int64_t, Triple> tensors_ TB_GUARDED_BY(mu_);
  int64_t next_ TB_GUARDED_BY(mu_) = 0;
};

StatusOr<RefPtr<SparseTensorsMap>> MapOf(KernelContext& ctx) {
  const auto& shared = ctx.node().attr<std::string>("shared_name");
  return ctx.resources().LookupOrCreate<SparseTensorsMap>(ctx.node().attr<std::string>("container"),
                                                          shared.empty() ? ctx.node().name() : shared,
                                                          [] { return MakeRef<SparseTensorsMap>(); });
}

Status AddSparseToTensorsMap(KernelContext& ctx) {
  Triple t = TripleOf(ctx);
  TF_RETURN_IF_ERROR(SparseView::Of(t.indices, t.values, t.shape).status());
  TF_ASSIGN_OR_RETURN(const RefPtr<SparseTensorsMap> map, MapOf(ctx));
  ctx.set_output(0, Tensor::Scalar<int64_t>(map->Add(std::move(t))));
  return OkStatus();
}

Status AddManySparseToTensorsMap(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(std::vector<Triple> rows, Rows(ctx));
  TF_ASSIGN_OR_RETURN(const RefPtr<SparseTensorsMap> map, MapOf(ctx));
  std::vector<int64_t> handles;
  for (Triple& t : rows) handles.push_back(map->Add(std::move(t)));
  ctx.set_output(0, Tensor::Vector(handles));
  return OkStatus();
}

Status TakeManySparseFromTensorsMap(KernelContext& ctx) {
  const Tensor& handles = ctx.input(0);
  if (handles.shape().rank() != 1) {
    return InvalidArgument("sparse_handles must be a vector, got shape ", handles.shape());
  }
  TF_ASSIGN_OR_RETURN(const RefPtr<SparseTensorsMap> map, MapOf(ctx));
  TF_ASSIGN_OR_RETURN(const std::vector<Triple> taken, map->Take(handles.data<int64_t>()));
  return Stack(ctx, taken, Shape({handles.num_elements()}), /*taken=*/true);
}

}  // namespace

void RegisterSparseStorageKernels(KernelRegistry& r) {
  r.Add("SerializeSparse", {}, SerializeSparse);
  r.Add("SerializeManySparse", {}, SerializeManySparse);
  r.Add("DeserializeSparse", {}, DeserializeSparse);
  r.Add("DeserializeManySparse", {}, DeserializeManySparse);
  r.Add("AddSparseToTensorsMap", {}, AddSparseToTensorsMap);
  r.Add("AddManySparseToTensorsMap", {}, AddManySparseToTensorsMap);
  r.Add("TakeManySparseFromTensorsMap", {}, TakeManySparseFromTensorsMap);
}

}  // namespace tensorbraid::cpu
