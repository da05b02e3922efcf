#include "kernels/cpu/nn/convolution/convolution_primitives.h"

#include <algorithm>
#include <array>
#include <limits>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/threads/mutex.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/nn/convolution/read_ahead.h"
#include "kernels/cpu/nn/convolution/scratch.h"
#include "kernels/cpu/onednn_thread.h"

namespace tensorbraid::cpu {
namespace {

using DnnlMemory = dnnl::memory;
using DnnlDims = dnnl::memory::dims;
using DnnlDesc = dnnl::memory::desc;

// The three tensors of a convolution.
enum ConvolutionTensor { kX, kFilter, kY };
using TensorPointers = std::array<float*, 3>;

const dnnl::engine& CpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

int64_t SpatialElements(const Convolution& c, bool output) {
  int64_t n = 1;
  for (const WindowAxis& a : c.axes) n *= output ? a.output : a.input;
  return n;
}
int64_t FilterElements(const Convolution& c) {
  int64_t n = c.in_channels / c.groups * c.out_channels;
  for (const WindowAxis& a : c.axes) n *= a.window;
  return n;
}
double FlopsPerImage(const Convolution& c) { return 2.0 * SpatialElements(c, /*output=*/true) * FilterElements(c); }

// Whether these sizes are safe for oneDNN, which computes some offsets in 32 bits.
bool IsModest(const Convolution& c) {
  constexpr double kMost = std::numeric_limits<int32_t>::max() / static_cast<double>(sizeof(float));
  for (const WindowAxis& a : c.axes) {
    const int64_t extent = (a.window - 1) * a.dilation + 1;
    if (std::max({a.input, a.output, a.stride, a.dilation, extent}) > (1 << 24)) return false;
    if (std::max(a.pad_before, a.pad_after) >= extent) return false;
  }
  return static_cast<double>(SpatialElements(c, /*output=*/false)) * c.in_channels < kMost &&
         static_cast<double>(SpatialElements(c, /*output=*/true)) * c.out_channels < kMost && FilterElements(c) < kMost;
}

constexpr double kLeastFlops = 5e6;  // the least work of a part; it takes some 50 us

// The number of images that one primitive computes.
int64_t ImagesPerPart(ConvolutionResult result, const Convolution& c) {
  const auto part = [](double n) { return static_cast<int64_t>(n) + 1; };
  // The second term limits the number of parts to 64.
  int64_t images = std::max(part(kLeastFlops / FlopsPerImage(c)), (c.batch + 63) / 64);
  if (result == ConvolutionResult::kFilter) {
    // Each part has its own sum for the filter. If a part had fewer output pixels than kPixels, adding these sums would
    // take more than a twentieth of the time.
    constexpr double kPixels = 1000;
    constexpr double kMostElements = 1 << 26;  // of the sums
    const int64_t parts = std::clamp<int64_t>(static_cast<int64_t>(kMostElements / FilterElements(c)), 1, 16);
    images = std::max({images, part(kPixels / SpatialElements(c, /*output=*/true)), (c.batch + parts - 1) / parts});
  }
  images = std::min(images, c.batch);
  const int64_t parts = (c.batch + images - 1) / images;
  return (c.batch + parts - 1) / parts;  // of equal size, as far as possible
}

// A part of a convolution: some images, or some rows of one image. Offsets are in elements.
struct ConvolutionPiece {
  Convolution sizes;
  int64_t x = 0, y = 0;
};

// Splits the rows (the first spatial axis) of the output of each image. REQUIRES: channels are last.
std::vector<ConvolutionPiece> SplitRows(const Convolution& c, int64_t rows_per_piece) {
  std::vector<ConvolutionPiece> pieces;
  const WindowAxis& all = c.axes[0];
  const int64_t x_row = SpatialElements(c, /*output=*/false) / all.input * c.in_channels;
  const int64_t y_row = SpatialElements(c, /*output=*/true) / all.output * c.out_channels;
  for (int64_t image = 0; image < c.batch; ++image) {
    for (int64_t first = 0; first < all.output; first += rows_per_piece) {
      const int64_t rows = std::min(rows_per_piece, all.output - first);
      // The part of the input, and of its padding, that the windows of these rows cover.
      const int64_t begin = first * all.stride - all.pad_before;
      const int64_t end = begin + (rows - 1) * all.stride + (all.window - 1) * all.dilation + 1;
      const int64_t from = std::max<int64_t>(0, begin), to = std::min(all.input, end);
      ConvolutionPiece piece{c, (image * all.input + from) * x_row, (image * all.output + first) * y_row};
      piece.sizes.batch = 1;
      WindowAxis& axis = piece.sizes.axes[0];
      axis.input = to - from;
      axis.output = rows;
      axis.pad_before = from - begin;
      axis.pad_after = end - to;
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

// Splits the work. The split depends only on the sizes, as the header promises.
std::vector<ConvolutionPiece> Split(ConvolutionResult result, const Convolution& c) {
  // A few images would be too few parts for the threads, so their rows are split.
  constexpr int64_t kFewImages = 4, kPieces = 8;
  if (result == ConvolutionResult::kOutput && !c.channels_first && c.batch < kFewImages) {
    const double worthwhile = std::min<double>(kPieces, c.batch * FlopsPerImage(c) / kLeastFlops);
    const int64_t per_image = static_cast<int64_t>(worthwhile) / c.batch, rows = c.axes[0].output;
    if (per_image > 1 && rows > 1) return SplitRows(c, (rows + per_image - 1) / per_image);
  }
  const int64_t images = ImagesPerPart(result, c);
  std::vector<ConvolutionPiece> pieces;
  for (int64_t first = 0; first < c.batch; first += images) {
    pieces.push_back({c, first * SpatialElements(c, /*output=*/false) * c.in_channels,
                      first * SpatialElements(c, /*output=*/true) * c.out_channels});
    pieces.back().sizes.batch = std::min(images, c.batch - first);
  }
  return pieces;
}

dnnl::primitive_attr UserScratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // a primitive may then run on several threads at once
  return attr;
}

// Converts tensors from one layout to another. An object may convert any number of tensors.
class LayoutConversion {
 public:
  LayoutConversion() = default;
  LayoutConversion(const DnnlDesc& from, const DnnlDesc& to) : from_(from), to_(to) {
    const dnnl::reorder::primitive_desc desc(CpuEngine(), from, CpuEngine(), to, UserScratchpad());
    scratch_ = desc.scratchpad_desc();
    reorder_ = dnnl::reorder(desc);
  }
  Status Run(dnnl::stream& stream, void* from, void* to) const {
    TF_ASSIGN_OR_RETURN(const RefPtr<Buffer> scratch, ScratchOf(scratch_.get_size()));
    reorder_.execute(stream, {{DNNL_ARG_FROM, DnnlMemory(from_, CpuEngine(), from)},
                              {DNNL_ARG_TO, DnnlMemory(to_, CpuEngine(), to)},
                              {DNNL_ARG_SCRATCHPAD, DnnlMemory(scratch_, CpuEngine(), scratch->data())}});
    return OkStatus();
  }

 private:
  DnnlDesc from_, to_, scratch_;
  dnnl::reorder reorder_;
};

// A primitive for a part of a batch, with the conversions of its tensors between TensorFlow's layouts ("ours") and the
// primitive's ("theirs").
class PartPlan {
 public:
  // Throws dnnl::error if oneDNN has no implementation at all.
  PartPlan(ConvolutionResult result, const Convolution& c);

  bool is_fast() const { return is_fast_; }
  bool converts(ConvolutionTensor t) const { return theirs_[t] != ours_[t]; }

  // The filter in the layout of the primitive: `filter` itself, or a copy in `*buffer`.
  Status ConvertedFilter(float* filter, RefPtr<Buffer>* buffer, float** converted) const {
    *converted = filter;
    if (!converts(kFilter)) return OkStatus();
    TF_ASSIGN_OR_RETURN(*buffer, ScratchOf(theirs_[kFilter].get_size()));
    *converted = static_cast<float*>((*buffer)->data());
    dnnl::stream stream(CpuEngine());
    return reorders_[kFilter].Run(stream, filter, *converted);
  }

  // Computes the part. The filter is in the layout of the primitive if it is an operand; the other tensors, and the
  // result, are in our layout.
  Status Run(const TensorPointers& arguments) const {
    dnnl::stream stream(CpuEngine());
    if (reads_in_order_) {
      for (const ConvolutionTensor t : {kX, kY}) {
        if (t != computed_ && !converts(t))
          BringIntoCache(arguments[t], arguments[t] + ours_[t].get_size() / sizeof(float));
      }
    }
    std::unordered_map<int, DnnlMemory> args;
    std::array<RefPtr<Buffer>, 3> buffers;
    for (const ConvolutionTensor t : {kX, kFilter, kY}) {
      void* data = arguments[t];
      if (converts(t) && (t != kFilter || t == computed_)) {
        TF_ASSIGN_OR_RETURN(buffers[t], ScratchOf(theirs_[t].get_size()));
        if (t != computed_) TF_RETURN_IF_ERROR(reorders_[t].Run(stream, data, buffers[t]->data()));
        data = buffers[t]->data();
      }
      args.emplace(names_[t], DnnlMemory(theirs_[t], CpuEngine(), data));
    }
    TF_ASSIGN_OR_RETURN(const RefPtr<Buffer> scratch, ScratchOf(scratch_.get_size()));
    args.emplace(DNNL_ARG_SCRATCHPAD, DnnlMemory(scratch_, CpuEngine(), scratch->data()));
    primitive_.execute(stream, args);
    if (buffers[computed_]) {
      return reorders_[computed_].Run(stream, buffers[computed_]->data(), arguments[computed_]);
    }
    return OkStatus();
  }

 private:
  template <typename PrimitiveDesc>
  void Take(const PrimitiveDesc& desc, const std::array<DnnlDesc, 3>& theirs) {
    theirs_ = theirs;
    scratch_ = desc.scratchpad_desc();
    is_fast_ = std::string_view(desc.impl_info_str()).find("ref") == std::string_view::npos;
    constexpr size_t kCache = 1 << 20;  // the cache of a core
    size_t operands = 0;                // bytes of the images that oneDNN reads in our layout
    for (const ConvolutionTensor t : {kX, kY}) {
      if (t != computed_ && !converts(t)) operands += ours_[t].get_size();
    }
    reads_in_order_ = operands > 0 && operands <= kCache;
    for (const ConvolutionTensor t : {kX, kFilter, kY}) {
      if (!converts(t)) continue;
      reorders_[t] = t == computed_ ? LayoutConversion(theirs_[t], ours_[t]) : LayoutConversion(ours_[t], theirs_[t]);
    }
  }

  ConvolutionTensor computed_;
  std::array<int, 3> names_;  // oneDNN's numbers of the three tensors, DNNL_ARG_...
  std::array<DnnlDesc, 3> ours_, theirs_;
  std::array<LayoutConversion, 3> reorders_;
  DnnlDesc scratch_;
  dnnl::primitive primitive_;
  bool is_fast_ = false;
  bool reads_in_order_ = false;  // whether Run brings the images into the cache first
};

PartPlan::PartPlan(ConvolutionResult result, const Convolution& c) {
  using Tag = DnnlMemory::format_tag;
  constexpr DnnlMemory::data_type kFloats = DnnlMemory::data_type::f32;
  const bool volume = c.axes.size() == 3;
  const int64_t in = c.in_channels / c.groups, out = c.out_channels / c.groups;
  DnnlDims x{c.batch, c.in_channels}, y{c.batch, c.out_channels}, filter{out, in}, filter_strides{1, c.out_channels};
  DnnlDims strides, dilations, before, after, steps;
  int64_t step = in * c.out_channels;
  for (size_t i = c.axes.size(); i-- > 0; step *= c.axes[i].window) steps.insert(steps.begin(), step);
  if (c.groups > 1) {
    filter.insert(filter.begin(), c.groups);
    filter_strides.insert(filter_strides.begin(), out);
  }
  for (size_t i = 0; i < c.axes.size(); ++i) {
    const WindowAxis& a = c.axes[i];
    x.push_back(a.input);
    y.push_back(a.output);
    filter.push_back(a.window);
    filter_strides.push_back(steps[i]);
    strides.push_back(a.stride);
    dilations.push_back(a.dilation - 1);  // for oneDNN, 0 is dense
    before.push_back(a.pad_before);
    after.push_back(a.pad_after);
  }
  const Tag ours = c.channels_first ? (volume ? Tag::ncdhw : Tag::nchw) : (volume ? Tag::ndhwc : Tag::nhwc);
  ours_ = {DnnlDesc(x, kFloats, ours), DnnlDesc(filter, kFloats, filter_strides), DnnlDesc(y, kFloats, ours)};
  // With channels last, oneDNN 2.6 is as fast on our layout as on its own blocked ones. With channels first it is not.
  std::array<DnnlDesc, 3> wanted = ours_;
  wanted[kFilter] = DnnlDesc(filter, kFloats, Tag::any);
  if (c.channels_first) {
    wanted[kX] = DnnlDesc(x, kFloats, Tag::any);
    wanted[kY] = DnnlDesc(y, kFloats, Tag::any);
  }
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  using Forward = dnnl::convolution_forward;
  const auto forward = [&](dnnl::prop_kind kind) {
    return Forward::primitive_desc(
        {kind, kDirect, wanted[kX], wanted[kFilter], wanted[kY], strides, dilations, before, after}, UserScratchpad(),
        CpuEngine());
  };
  switch (result) {
    case ConvolutionResult::kOutput: {
      computed_ = kY;
      names_ = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
      const auto desc = forward(dnnl::prop_kind::forward_inference);
      Take(desc, {desc.src_desc(), desc.weights_desc(), desc.dst_desc()});
      primitive_ = Forward(desc);
      break;
    }
    case ConvolutionResult::kInput: {
      computed_ = kX;
      names_ = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
      using Backward = dnnl::convolution_backward_data;
      const Backward::primitive_desc desc(
          {kDirect, wanted[kX], wanted[kFilter], wanted[kY], strides, dilations, before, after}, UserScratchpad(),
          CpuEngine(), forward(dnnl::prop_kind::forward_training));
      Take(desc, {desc.diff_src_desc(), desc.weights_desc(), desc.diff_dst_desc()});
      primitive_ = Backward(desc);
      break;
    }
    case ConvolutionResult::kFilter: {
      computed_ = kFilter;
      names_ = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
      using Backward = dnnl::convolution_backward_weights;
      const Backward::primitive_desc desc(
          {kDirect, wanted[kX], wanted[kFilter], wanted[kY], strides, dilations, before, after}, UserScratchpad(),
          CpuEngine(), forward(dnnl::prop_kind::forward_training));
      Take(desc, {desc.src_desc(), desc.diff_weights_desc(), desc.diff_dst_desc()});
      primitive_ = Backward(desc);
      break;
    }
  }
}

class PlanCache {
 public:
  // Null if oneDNN has no fast implementation.
  std::shared_ptr<const PartPlan> Get(ConvolutionResult result, const Convolution& c) {
    MutexLock lock(mu_);
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i].first != c) continue;
      std::rotate(plans_.begin(), plans_.begin() + i, plans_.begin() + i + 1);
      return plans_.front().second;
    }
    std::shared_ptr<const PartPlan> plan;
    try {
      plan = std::make_shared<const PartPlan>(result, c);
      if (!plan->is_fast()) plan = nullptr;
    } catch (const dnnl::error&) {
    }
    // The parts of one call have up to three geometries: the first, the middle and the last parts may differ. Batches
    // or images of other sizes, in other calls, have others.
    constexpr size_t kMost = 16;
    if (plans_.size() == kMost) plans_.pop_back();
    plans_.insert(plans_.begin(), {c, plan});
    return plan;
  }

 private:
  Mutex mu_;
  std::vector<std::pair<Convolution, std::shared_ptr<const PartPlan>>> plans_ TB_GUARDED_BY(mu_);  // last used first
};

class PooledPrimitives final : public ConvolutionPrimitives {
 public:
  explicit PooledPrimitives(ConvolutionResult result) : result_(result) {}
  StatusOr<bool> Convolve(KernelContext& ctx, const Convolution& c, float* x, float* filter, float* y,
                          const BiasRelu* bias) override;

 private:
  const ConvolutionResult result_;
  PlanCache cache_;
};

StatusOr<bool> PooledPrimitives::Convolve(KernelContext& ctx, const Convolution& c, float* x, float* filter, float* y,
                                          const BiasRelu* bias) {
  if (!IsModest(c)) return false;
  UseOneOpenMpThread();
  const std::vector<ConvolutionPiece> pieces = Split(result_, c);
  const int64_t parts = static_cast<int64_t>(pieces.size());
  const bool to_filter = result_ == ConvolutionResult::kFilter;
  const int64_t filter_elements = FilterElements(c);
  RefPtr<Buffer> sums;
  if (to_filter && parts > 1) {
    TF_ASSIGN_OR_RETURN(sums, ScratchOf(parts * filter_elements * sizeof(float)));
  }
  // Parts of equal size share a plan and the filter that was converted for it.
  struct Shared {
    std::shared_ptr<const PartPlan> plan;
    RefPtr<Buffer> buffer;
    float* filter = nullptr;
  };
  std::vector<Shared> shared;
  std::vector<size_t> shared_by(parts);  // for each part, its index in `shared`
  try {
    for (int64_t i = 0; i < parts; ++i) {
      if (i > 0 && pieces[i].sizes == pieces[i - 1].sizes) {
        shared_by[i] = shared_by[i - 1];
        continue;
      }
      Shared next;
      next.plan = cache_.Get(result_, pieces[i].sizes);
      if (next.plan == nullptr) return false;
      if (!to_filter) TF_RETURN_IF_ERROR(next.plan->ConvertedFilter(filter, &next.buffer, &next.filter));
      shared_by[i] = shared.size();
      shared.push_back(std::move(next));
    }
    Mutex mu;
    Status status;
    // The cost assumes 100 operations per nanosecond.
    Parallel(ctx, parts, c.batch * FlopsPerImage(c) / parts / 100, [&](int64_t begin, int64_t end) {
      UseOneOpenMpThread();
      for (int64_t i = begin; i < end; ++i) {
        const Shared& use = shared[shared_by[i]];
        float* const part_filter = !to_filter ? use.filter
                                   : sums     ? static_cast<float*>(sums->data()) + i * filter_elements
                                              : filter;
        const Status done = use.plan->Run({x + pieces[i].x, part_filter, y + pieces[i].y});
        if (done.ok()) {
          const Convolution& sizes = pieces[i].sizes;
          if (bias != nullptr) bias->Apply(y + pieces[i].y, sizes.batch * SpatialElements(sizes, /*output=*/true));
          continue;
        }
        MutexLock lock(mu);
        if (status.ok()) status = done;
      }
    });
    TF_RETURN_IF_ERROR(status);
  } catch (const dnnl::error& e) {
    return Internal("oneDNN cannot run a convolution: ", e.what());
  }
  if (sums) {
    const float* from = static_cast<const float*>(sums->data());
    Parallel(ctx, filter_elements, 0.2 * parts, [&](int64_t begin, int64_t end) {
      std::copy(from + begin, from + end, filter + begin);
      for (int64_t part = 1; part < parts; ++part) {
        const float* more = from + part * filter_elements;
#pragma GCC ivdep
        for (int64_t i = begin; i < end; ++i) filter[i] += more[i];
      }
    });
  }
  return true;
}

}  // namespace

std::unique_ptr<ConvolutionPrimitives> MakeConvolutionPrimitives(ConvolutionResult result) {
  return std::make_unique<PooledPrimitives>(result);
}

}  // namespace tensorbraid::cpu
