// The public functions for pooling.
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid::nn {
namespace {

// Makes an attribute with an element for each axis of the tensor from `list`, which has an element for each spatial
// axis, or one for all of them.
StatusOr<std::vector<int64_t>> PoolAttr(const char* what, const std::vector<int64_t>& list, int spatial,
                                        bool channels_first) {
  if (list.size() != 1 && static_cast<int>(list.size()) != spatial) {
    return InvalidArgument(what, " must have one or ", spatial, " elements, got ", list.size());
  }
  std::vector<int64_t> values(spatial + 2, 1);
  for (int i = 0; i < spatial; ++i) values[i + (channels_first ? 2 : 1)] = list[list.size() == 1 ? 0 : i];
  return values;
}

Status SetPoolAttrs(const PoolOptions& options, int spatial, bool has_explicit_padding, NodeBuilder* builder) {
  const bool channels_first = options.data_format == DataFormat::kChannelsFirst;
  TF_ASSIGN_OR_RETURN(std::vector<int64_t> size, PoolAttr("size", options.size, spatial, channels_first));
  std::vector<int64_t> strides = size;
  if (!options.strides.empty()) {
    TF_ASSIGN_OR_RETURN(strides, PoolAttr("strides", options.strides, spatial, channels_first));
  }
  builder->Attr("ksize", std::move(size)).Attr("strides", std::move(strides));
  builder->Attr("data_format", spatial == 3 ? (channels_first ? "NCDHW" : "NDHWC") : channels_first ? "NCHW" : "NHWC");
  builder->Attr("padding", options.padding == Padding::kSame    ? "SAME"
                           : options.padding == Padding::kValid ? "VALID"
                                                                : "EXPLICIT");
  if (options.padding != Padding::kExplicit) {
    if (!options.explicit_paddings.empty()) return InvalidArgument("explicit_paddings need Padding::kExplicit");
    return OkStatus();
  }
  if (!has_explicit_padding) return InvalidArgument("only MaxPool has explicit padding; use kSame or kValid");
  if (static_cast<int>(options.explicit_paddings.size()) != spatial) {
    return InvalidArgument("explicit_paddings must have ", spatial, " pairs, got ", options.explicit_paddings.size());
  }
  std::vector<int64_t> paddings(2 * (spatial + 2), 0);
  for (int i = 0; i < spatial; ++i) {
    const int axis = i + (channels_first ? 2 : 1);
    paddings[2 * axis] = options.explicit_paddings[i].first;
    paddings[2 * axis + 1] = options.explicit_paddings[i].second;
  }
  builder->Attr("explicit_paddings", std::move(paddings));
  return OkStatus();
}

// Adds a pooling op over `spatial` axes.
Output Pool(const char* op, int spatial, bool has_explicit_padding, const Operand& x, const PoolOptions& options) {
  Graph* graph = GraphOf(op, {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  NodeBuilder builder(*graph, op, x.location());
  builder.Name(options.name).Input(x.ToOutput(*graph));
  if (const Status status = SetPoolAttrs(options, spatial, has_explicit_padding, &builder); !status.ok()) {
    graph->AddError(
        InvalidArgument(op, " (", LocationText(ImplOf(*graph).UserLine(x.location())), "): ", status.message()));
    return {};
  }
  return builder.Output();
}

}  // namespace

Output MaxPool(const Operand& x, const PoolOptions& options) {
  return Pool("MaxPool", /*spatial=*/2, /*has_explicit_padding=*/true, x, options);
}
Output AvgPool(const Operand& x, const PoolOptions& options) {
  return Pool("AvgPool", /*spatial=*/2, /*has_explicit_padding=*/false, x, options);
}
Output MaxPool3D(const Operand& x, const PoolOptions& options) {
  return Pool("MaxPool3D", /*spatial=*/3, /*has_explicit_padding=*/false, x, options);
}
Output AvgPool3D(const Operand& x, const PoolOptions& options) {
  return Pool("AvgPool3D", /*spatial=*/3, /*has_explicit_padding=*/false, x, options);
}

}  // namespace tensorbraid::nn
