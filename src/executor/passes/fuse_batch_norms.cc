// Fuses FusedBatchNormV3, the Relu behind it, and the MaxPool behind that into _FusedBatchNormRelu, and their gradients
// into _FusedBatchNormReluGrad. Without a MaxPool that fits, the fused nodes get windows of one pixel. The fused
// nodes neither write nor read the tensors in between, which are as large as the image. Fuses only where the kernels
// exist: float32 on CPUs, channels last, and a number of channels that fills whole vectors.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/passes/fuse_pairs.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

using Sizes = std::vector<int64_t>;

// A use of output `output` of a node as input `input` of `to`.
struct Use {
  Node* to;
  int input, output;
};

bool HasValue(const Node& node, const char* attr, const std::string& value) {
  const AttrValue* found = node.FindAttr(attr);
  return found != nullptr && found->get<std::string>() != nullptr && *found->get<std::string>() == value;
}

// The window of a MaxPool, or of its gradient, if these windows tile a tensor of shape x and the fused kernel supports
// them.
std::optional<Sizes> TileOf(const Node& pool, const Shape& x) {
  const Sizes& ksize = pool.attr<Sizes>("ksize");
  const bool is_window = ksize.size() == 4 && ksize[0] == 1 && ksize[3] == 1 && pool.attr<Sizes>("strides") == ksize;
  if (!is_window || !HasValue(pool, "data_format", "NHWC") || HasValue(pool, "padding", "EXPLICIT")) {
    return std::nullopt;
  }
  const int64_t pixels = ksize[1] > 4 || ksize[2] > 4 ? 0 : ksize[1] * ksize[2];
  if (pixels != 1 && pixels != 2 && pixels != 4) return std::nullopt;
  for (int axis = 1; axis < 3; ++axis) {
    if (x.dim(axis) <= 0 || x.dim(axis) % ksize[axis] != 0) return std::nullopt;
  }
  return ksize;
}

// Finds and replaces the nodes that can be fused with each batch norm.
class BatchNormFusion {
 public:
  BatchNormFusion(Graph* graph, PassContext& context)
      : impl_(ImplOf(*graph)), context_(context), replacements_(graph, context), uses_(impl_.nodes().size()) {
    waited_for_.resize(uses_.size());
    for (Node* node : replacements_.nodes()) {
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        const Output& in = node->inputs()[i];
        uses_[NodeOf(in)->id()].push_back({node, static_cast<int>(i), in.index()});
      }
      for (const Node* c : node->control_inputs()) waited_for_[c->id()] = true;
    }
  }

  Status Run() {
    for (Node* node : replacements_.nodes()) {
      replacements_.Update(node);
      if (node->type() == "Relu") Fuse(node);
    }
    return replacements_.Finish();
  }

 private:
  // Whether a fused node on the device of the batch norm may do what `node` does.
  bool Fits(const Node& node, const Node& norm) {
    return node.output_type(0) == kFloat32 && node.device() == norm.device() && context_.DeviceType(node) == "CPU" &&
           IsPure(node);
  }
  bool MayVanish(const Node& node, const Node& norm) { return Fits(node, norm) && node.control_inputs().empty(); }

  bool IsFusible(const Node& norm) {
    if (norm.type() != "FusedBatchNormV3" || !HasValue(norm, "data_format", "NHWC") || !Fits(norm, norm)) return false;
    const Shape& x = norm.output_shape(0);
    constexpr int64_t kLanes = 16;  // the number of elements in a vector of the kernels
    if (!x.has_rank() || x.rank() != 4 || x.dim(3) <= 0 || x.dim(3) % kLanes != 0) return false;
    const auto& uses = uses_[norm.id()];
    return std::count_if(uses.begin(), uses.end(), [](const Use& use) { return use.output == 0; }) == 1;
  }

  // Returns the gradient node of `norm` if it is the only consumer of `from`, the node that computes the gradient of
  // the Relu; otherwise null.
  Node* GradientBehind(const Node& from, const Node& norm) {
    if (!MayVanish(from, norm) || waited_for_[from.id()] || uses_[from.id()].size() != 1) return nullptr;
    const Use& use = uses_[from.id()][0];
    Node* const grad = use.to;
    if (use.input != 0 || grad->type() != "FusedBatchNormGradV3" || !Fits(*grad, norm)) return nullptr;
    replacements_.Update(grad);
    const bool training = norm.attr<bool>("is_training");
    const auto& in = grad->inputs();
    const auto is_output = [&](const Output& o, int i) { return NodeOf(o) == &norm && o.index() == i; };
    const bool same_moments =
        training ? is_output(in[3], 3) && is_output(in[4], 4) : in[3] == norm.inputs()[3] && in[4] == norm.inputs()[4];
    const bool same = in[1] == norm.inputs()[0] && in[2] == norm.inputs()[1] && same_moments &&
                      grad->attr<bool>("is_training") == training &&
                      grad->attr<float>("epsilon") == norm.attr<float>("epsilon") &&
                      HasValue(*grad, "data_format", "NHWC");
    return same ? grad : nullptr;
  }

  // Turns the gradient of `norm` into the fused one, which takes `dy`.
  bool FuseGradient(Node* grad, const Node& norm, const Output& dy, const Sizes& ksize) {
    NodeSpec spec = LikeNode(*grad, "_FusedBatchNormReluGrad");
    spec.inputs[0] = dy;
    spec.inputs.push_back(norm.inputs()[2]);
    spec.attrs["ksize"] = ksize;
    return impl_.Become(grad, std::move(spec)).ok();
  }

  bool FuseForward(Node* norm, const Sizes& ksize) {
    NodeSpec spec = LikeNode(*norm, "_FusedBatchNormRelu");
    spec.attrs["ksize"] = ksize;
    return impl_.Become(norm, std::move(spec)).ok();
  }

  void Fuse(Node* relu) {
    Node* const norm = NodeOf(relu->inputs()[0]);
    if (relu->inputs()[0].index() != 0 || !IsFusible(*norm) || !MayVanish(*relu, *norm)) return;
    if (FuseWithMaxPool(relu, norm)) return;
    const Sizes pixel = {1, 1, 1, 1};
    if (!FuseForward(norm, pixel)) return;
    replacements_.Replace(relu, {OutputOf(norm, 0)});
    for (const Use& use : uses_[relu->id()]) {
      if (use.to->type() != "ReluGrad" || use.input != 1) continue;
      Node* const grad = GradientBehind(*use.to, *norm);
      if (grad == nullptr) continue;
      replacements_.Update(use.to);
      if (FuseGradient(grad, *norm, use.to->inputs()[0], pixel)) replacements_.Replace(use.to, {OutputOf(grad, 0)});
    }
  }

  // Fuses `norm`, `relu` and a MaxPool if nothing but the MaxPool, and perhaps its gradient, takes the output of the
  // Relu.
  bool FuseWithMaxPool(Node* relu, Node* norm) {
    Node *pool = nullptr, *pool_grad = nullptr;
    for (const Use& use : uses_[relu->id()]) {
      const std::string& type = use.to->type();
      Node** const as = type == "MaxPool" ? &pool : type == "_MaxPoolReluGrad" ? &pool_grad : nullptr;
      if (as == nullptr || *as != nullptr || use.input != 0) return false;
      *as = use.to;
    }
    if (pool == nullptr || !MayVanish(*pool, *norm)) return false;
    const std::optional<Sizes> tile = TileOf(*pool, norm->output_shape(0));
    if (!tile.has_value()) return false;
    if (pool_grad != nullptr) {
      replacements_.Update(pool_grad);
      const Output& maxima = pool_grad->inputs()[1];
      Node* const grad = GradientBehind(*pool_grad, *norm);
      if (grad == nullptr || NodeOf(maxima) != pool || TileOf(*pool_grad, norm->output_shape(0)) != tile) return false;
      if (!FuseGradient(grad, *norm, pool_grad->inputs()[2], *tile)) return false;
      replacements_.Replace(pool_grad, {OutputOf(grad, 0)});  // `grad` was its only consumer
    }
    if (!FuseForward(norm, *tile)) return false;
    replacements_.Replace(relu, {OutputOf(norm, 0)});
    replacements_.Replace(pool, {OutputOf(norm, 0)});
    return true;
  }

  GraphImpl& impl_;
  PassContext& context_;
  Replacements replacements_;
  std::vector<std::vector<Use>> uses_;  // indexed by id
  std::vector<bool> waited_for_;        // indexed by id, whether a node has a control input from it
};

}  // namespace

Status FuseBatchNorms(Graph* graph, PassContext& context) {
  const auto& nodes = ImplOf(*graph).nodes();
  const auto is_norm = [](const auto& node) { return node->type() == "FusedBatchNormV3"; };
  const bool any = std::any_of(nodes.begin(), nodes.end(), is_norm);
  return any ? BatchNormFusion(graph, context).Run() : OkStatus();
}

}  // namespace tensorbraid
