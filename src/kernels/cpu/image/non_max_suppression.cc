// Non-maximum suppression: of boxes that overlap, only those with the highest scores are selected.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/image/floats.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The area of the intersection of two boxes, divided by the area of their union. A box is two opposite corners, in any
// order.
float Overlap(const float* a, const float* b) {
  const float a_top = std::min(a[0], a[2]), a_bottom = std::max(a[0], a[2]);
  const float a_left = std::min(a[1], a[3]), a_right = std::max(a[1], a[3]);
  const float b_top = std::min(b[0], b[2]), b_bottom = std::max(b[0], b[2]);
  const float b_left = std::min(b[1], b[3]), b_right = std::max(b[1], b[3]);
  const float a_area = (a_bottom - a_top) * (a_right - a_left), b_area = (b_bottom - b_top) * (b_right - b_left);
  if (a_area <= 0 || b_area <= 0) return 0;
  const float height = std::max(std::min(a_bottom, b_bottom) - std::max(a_top, b_top), 0.0f);
  const float width = std::max(std::min(a_right, b_right) - std::max(a_left, b_left), 0.0f);
  const float both = height * width;
  return both / (a_area + b_area - both);
}

struct SuppressionRules {
  int64_t max_selected = 0;
  float overlap_threshold = 0.5f;
  float score_threshold = std::numeric_limits<float>::lowest();
  float sigma = 0;  // if positive, overlapping boxes get lower scores instead of being suppressed
};

struct Selected {
  std::vector<int32_t> indices;
  std::vector<float> scores;
};

// Selects boxes in the order of falling scores. `overlap(i, j)` returns how much boxes i and j overlap.
template <typename OverlapFn>
Selected Suppress(std::span<const float> scores, const SuppressionRules& rules, const OverlapFn& overlap) {
  struct Candidate {
    int32_t index;
    float score;
    size_t compared;  // the number of selected boxes that it was compared with
  };
  // Of candidates with equal scores, the one with the lower index comes first.
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.score < b.score || (a.score == b.score && a.index > b.index);
  };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > rules.score_threshold) queue.push({static_cast<int32_t>(i), scores[i], 0});
  }
  Selected selected;
  while (static_cast<int64_t>(selected.indices.size()) < rules.max_selected && !queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    const float original = next.score;
    bool suppressed = false;
    // Compares with the boxes that were selected last first, because boxes with similar scores often overlap.
    for (size_t j = selected.indices.size(); j-- > next.compared;) {
      const float shared = overlap(next.index, selected.indices[j]);
      if (rules.sigma > 0) {
        next.score *= std::exp(-0.5f / rules.sigma * shared * shared);
      } else if (shared > rules.overlap_threshold) {
        suppressed = true;
        break;
      }
      if (next.score <= rules.score_threshold) break;
    }
    next.compared = selected.indices.size();
    if (suppressed) continue;
    if (next.score == original) {
      selected.indices.push_back(next.index);
      selected.scores.push_back(next.score);
    } else if (next.score > rules.score_threshold) {
      queue.push(next);  // others may have higher scores now
    }
  }
  return selected;
}

StatusOr<float> FloatScalar(const KernelContext& ctx, int i, const char* what) {
  const Tensor& t = ctx.input(i);
  if (!t.shape().is_scalar()) return InvalidArgument(what, " must be a scalar, got shape ", t.shape());
  return t.dtype() == kFloat16 ? static_cast<float>(t.scalar<Float16>()) : t.scalar<float>();
}

StatusOr<int64_t> CountScalar(const KernelContext& ctx, int i, const char* what, int64_t least) {
  const Tensor& t = ctx.input(i);
  if (!t.shape().is_scalar()) return InvalidArgument(what, " must be a scalar, got shape ", t.shape());
  const int64_t v = t.scalar<int32_t>();
  if (v < least) return InvalidArgument(what, " must be ", least, " or more, got ", v);
  return v;
}

// Returns an error if an output of `size` entries is out of proportion to the boxes that may be selected. (The client
// chooses the size to which the output is padded.)
Status CheckPaddedSize(const char* what, int64_t size, int64_t boxes) {
  constexpr int64_t kMostPadded = int64_t{1} << 24;
  if (size <= std::max(boxes, kMostPadded)) return OkStatus();
  return InvalidArgument(what, " is ", size, ", but an output for ", boxes, " boxes can be padded to at most ",
                         kMostPadded, " entries");
}

Status CheckThreshold(float threshold) {
  if (threshold >= 0 && threshold <= 1) return OkStatus();
  return InvalidArgument("iou_threshold must be in [0, 1], got ", threshold);
}

Status CheckBoxesAndScores(const Shape& boxes, const Shape& scores) {
  if (boxes.rank() != 2 || boxes.dim(1) != 4) return InvalidArgument("boxes must have shape [n, 4], got ", boxes);
  if (scores != Shape({boxes.dim(0)})) {
    return InvalidArgument("scores must have one element for each of the ", boxes.dim(0), " boxes, got shape ", scores);
  }
  if (boxes.dim(0) > INT32_MAX) return InvalidArgument("there are too many boxes: ", boxes.dim(0));
  return OkStatus();
}

// Sets output i to the indices, followed by zeros up to `size` elements.
Status SetIndices(KernelContext& ctx, int i, const std::vector<int32_t>& indices, int64_t size) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(i, {size}));
  const auto to = out->inplace_data<int32_t>();
  std::copy(indices.begin(), indices.end(), to.begin());
  std::fill(to.begin() + static_cast<int64_t>(indices.size()), to.end(), 0);
  return OkStatus();
}

// NonMaxSuppression and its versions 2 to 5. Each version has the inputs and outputs of the one before, and some
// more.
template <int kVersion>
Status NonMaxSuppression(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckBoxesAndScores(ctx.input(0).shape(), ctx.input(1).shape()));
  SuppressionRules rules;
  TF_ASSIGN_OR_RETURN(rules.max_selected, CountScalar(ctx, 2, "max_output_size", 0));
  if constexpr (kVersion == 1) {
    rules.overlap_threshold = ctx.node().attr<float>("iou_threshold");
  } else {
    TF_ASSIGN_OR_RETURN(rules.overlap_threshold, FloatScalar(ctx, 3, "iou_threshold"));
  }
  TF_RETURN_IF_ERROR(CheckThreshold(rules.overlap_threshold));
  if constexpr (kVersion >= 3) {
    TF_ASSIGN_OR_RETURN(rules.score_threshold, FloatScalar(ctx, 4, "score_threshold"));
  }
  if constexpr (kVersion >= 5) {
    TF_ASSIGN_OR_RETURN(rules.sigma, FloatScalar(ctx, 5, "soft_nms_sigma"));
    if (!(rules.sigma >= 0)) return InvalidArgument("soft_nms_sigma must not be negative, got ", rules.sigma);
  }
  TF_ASSIGN_OR_RETURN(const Tensor boxes, WidenToFloat(ctx, ctx.input(0)));
  TF_ASSIGN_OR_RETURN(const Tensor scores, WidenToFloat(ctx, ctx.input(1)));
  const float* at = boxes.data<float>().data();
  const Selected selected =
      Suppress(scores.data<float>(), rules, [at](int64_t i, int64_t j) { return Overlap(at + 4 * i, at + 4 * j); });
  const auto count = static_cast<int64_t>(selected.indices.size());
  int64_t size = count;
  if constexpr (kVersion >= 4) {
    if (ctx.node().attr<bool>("pad_to_max_output_size")) size = rules.max_selected;
    TF_RETURN_IF_ERROR(CheckPaddedSize("max_output_size", size, scores.num_elements()));
  }
  TF_RETURN_IF_ERROR(SetIndices(ctx, 0, selected.indices, size));
  if constexpr (kVersion >= 5) {
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(1, {size}));
    if (out->num_bytes() > 0) std::memset(out->inplace_raw_data(), 0, out->num_bytes());
    NarrowFromFloat(selected.scores.data(), count, out);
  }
  // valid_outputs is output 1 of version 4 and output 2 of version 5.
  if constexpr (kVersion >= 4) ctx.set_output(kVersion - 3, Tensor::Scalar(static_cast<int32_t>(count)));
  return OkStatus();
}

Status NonMaxSuppressionWithOverlaps(KernelContext& ctx) {
  const Shape& overlaps = ctx.input(0).shape();
  if (overlaps.rank() != 2 || overlaps.dim(0) != overlaps.dim(1)) {
    return InvalidArgument("overlaps must be a square matrix, got shape ", overlaps);
  }
  const int64_t n = overlaps.dim(0);
  if (ctx.input(1).shape() != Shape({n})) {
    return InvalidArgument("scores must have one element for each of the ", n, " boxes, got shape ",
                           ctx.input(1).shape());
  }
  SuppressionRules rules;
  TF_ASSIGN_OR_RETURN(rules.max_selected, CountScalar(ctx, 2, "max_output_size", 0));
  TF_ASSIGN_OR_RETURN(rules.overlap_threshold, FloatScalar(ctx, 3, "overlap_threshold"));
  TF_ASSIGN_OR_RETURN(rules.score_threshold, FloatScalar(ctx, 4, "score_threshold"));
  const float* at = ctx.input(0).data<float>().data();
  const Selected selected =
      Suppress(ctx.input(1).data<float>(), rules, [at, n](int64_t i, int64_t j) { return at[i * n + j]; });
  return SetIndices(ctx, 0, selected.indices, static_cast<int64_t>(selected.indices.size()));
}

// A box that was selected for a class.
struct Detection {
  float score;
  int32_t class_index;
  const float* box;
};

// The best detections of one image. `boxes` is [n, q, 4], with one box for all classes (q = 1) or one for each;
// `scores` is [n, classes].
std::vector<Detection> DetectionsOf(const float* boxes, const float* scores, int64_t n, int64_t q, int64_t classes,
                                    const SuppressionRules& per_class) {
  std::vector<Detection> all;
  std::vector<float> of_class(static_cast<size_t>(n));
  for (int64_t k = 0; k < classes; ++k) {
    for (int64_t i = 0; i < n; ++i) of_class[static_cast<size_t>(i)] = scores[i * classes + k];
    const auto box = [&](int64_t i) { return boxes + (i * q + (q > 1 ? k : 0)) * 4; };
    const Selected selected =
        Suppress(of_class, per_class, [&](int64_t i, int64_t j) { return Overlap(box(i), box(j)); });
    for (size_t i = 0; i < selected.indices.size(); ++i) {
      all.push_back({selected.scores[i], static_cast<int32_t>(k), box(selected.indices[i])});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Detection& a, const Detection& b) { return a.score > b.score; });
  return all;
}

Status CombinedNonMaxSuppression(KernelContext& ctx) {
  const Shape& boxes = ctx.input(0).shape();
  const Shape& scores = ctx.input(1).shape();
  if (boxes.rank() != 4 || boxes.dim(3) != 4) {
    return InvalidArgument("boxes must have shape [batch, n, q, 4], got ", boxes);
  }
  const int64_t batch = boxes.dim(0), n = boxes.dim(1), q = boxes.dim(2);
  if (scores.rank() != 3 || scores.dim(0) != batch || scores.dim(1) != n) {
    return InvalidArgument("scores must have shape [", batch, ", ", n, ", classes], got ", scores);
  }
  const int64_t classes = scores.dim(2);
  if (q != 1 && q != classes) {
    return InvalidArgument("boxes must be for all classes or for each of the ", classes, " classes, got shape ", boxes);
  }
  if (n <= 0 || n > INT32_MAX || classes > INT32_MAX) return InvalidArgument("cannot select from ", n, " boxes");
  SuppressionRules rules;
  TF_ASSIGN_OR_RETURN(rules.max_selected, CountScalar(ctx, 2, "max_output_size_per_class", 1));
  TF_ASSIGN_OR_RETURN(const int64_t max_total, CountScalar(ctx, 3, "max_total_size", 1));
  TF_ASSIGN_OR_RETURN(rules.overlap_threshold, FloatScalar(ctx, 4, "iou_threshold"));
  TF_ASSIGN_OR_RETURN(rules.score_threshold, FloatScalar(ctx, 5, "score_threshold"));
  TF_RETURN_IF_ERROR(CheckThreshold(rules.overlap_threshold));
  int64_t size = max_total;
  if (ctx.node().attr<bool>("pad_per_class")) size = std::min(size, rules.max_selected * classes);
  TF_RETURN_IF_ERROR(CheckPaddedSize("max_total_size", size, n * classes));
  const bool clip = ctx.node().attr<bool>("clip_boxes");
  TF_ASSIGN_OR_RETURN(Tensor * out_boxes, ctx.AllocateOutput(0, {batch, size, 4}));
  TF_ASSIGN_OR_RETURN(Tensor * out_scores, ctx.AllocateOutput(1, {batch, size}));
  TF_ASSIGN_OR_RETURN(Tensor * out_classes, ctx.AllocateOutput(2, {batch, size}));
  TF_ASSIGN_OR_RETURN(Tensor * out_counts, ctx.AllocateOutput(3, {batch}));
  const auto to_boxes = out_boxes->inplace_data<float>(), to_scores = out_scores->inplace_data<float>(),
             to_classes = out_classes->inplace_data<float>();
  std::fill(to_boxes.begin(), to_boxes.end(), 0.0f);
  std::fill(to_scores.begin(), to_scores.end(), 0.0f);
  std::fill(to_classes.begin(), to_classes.end(), 0.0f);
  const float* from_boxes = ctx.input(0).data<float>().data();
  const float* from_scores = ctx.input(1).data<float>().data();
  const double cost = 100.0 * static_cast<double>(n * classes);
  Parallel(ctx, batch, cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const std::vector<Detection> found =
          DetectionsOf(from_boxes + b * n * q * 4, from_scores + b * n * classes, n, q, classes, rules);
      const int64_t count = std::min(static_cast<int64_t>(found.size()), size);
      for (int64_t i = 0; i < count; ++i) {
        const Detection& d = found[static_cast<size_t>(i)];
        const auto at = static_cast<size_t>(b * size + i);
        for (size_t c = 0; c < 4; ++c) to_boxes[at * 4 + c] = clip ? std::clamp(d.box[c], 0.0f, 1.0f) : d.box[c];
        to_scores[at] = d.score;
        to_classes[at] = static_cast<float>(d.class_index);
      }
      out_counts->inplace_data<int32_t>()[static_cast<size_t>(b)] = static_cast<int32_t>(count);
    }
  });
  return OkStatus();
}

}  // namespace

void RegisterImageNonMaxSuppressionKernels(KernelRegistry& r) {
  r.Add("NonMaxSuppression", {}, NonMaxSuppression<1>, ElementCost<100'000>);
  r.Add("NonMaxSuppressionV2", {}, NonMaxSuppression<2>, ElementCost<100'000>);
  r.Add("NonMaxSuppressionV3", {}, NonMaxSuppression<3>, ElementCost<100'000>);
  r.Add("NonMaxSuppressionV4", {}, NonMaxSuppression<4>, ElementCost<100'000>);
  r.Add("NonMaxSuppressionV5", {}, NonMaxSuppression<5>, ElementCost<100'000>);
  r.Add("NonMaxSuppressionWithOverlaps", {}, NonMaxSuppressionWithOverlaps, ElementCost<10'000>);
  r.Add("CombinedNonMaxSuppression", {}, CombinedNonMaxSuppression, ElementCost<100'000>);
}

}  // namespace tensorbraid::cpu
