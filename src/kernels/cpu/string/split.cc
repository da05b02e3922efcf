// Splits strings at separators, and makes n-grams.
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

using Parts = std::vector<std::string_view>;

// Splits at each of the characters in `delimiters`, or into bytes if `delimiters` is empty.
Parts SplitAtAny(std::string_view text, std::string_view delimiters, bool skip_empty) {
  Parts parts;
  if (text.empty()) return parts;
  if (delimiters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) parts.push_back(text.substr(i, 1));
    return parts;
  }
  size_t begin = 0;
  while (true) {
    const size_t end = text.find_first_of(delimiters, begin);
    const std::string_view part = text.substr(begin, end - begin);
    if (!skip_empty || !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// Splits at runs of white space. After `max` parts, the rest of the text, without its leading white space, is the last
// part, even if it is empty.
Parts SplitAtSpace(std::string_view text, int64_t max) {
  Parts parts;
  const auto strip_front = [&] {
    while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  };
  for (strip_front(); !text.empty(); strip_front()) {
    const auto end = std::find_if(text.begin(), text.end(), IsSpace);
    const auto size = static_cast<size_t>(end - text.begin());
    parts.push_back(text.substr(0, size));
    text.remove_prefix(size);
    if (static_cast<int64_t>(parts.size()) == max) {
      strip_front();
      parts.push_back(text);
      break;
    }
  }
  return parts;
}

// Splits at each `separator`, like Python's str.split.
Parts SplitAt(std::string_view text, std::string_view separator, int64_t max) {
  if (max == 0) return {text};
  if (separator.empty()) return SplitAtSpace(text, max);
  Parts parts;
  while (max < 0 || static_cast<int64_t>(parts.size()) < max) {
    const size_t end = text.find(separator);
    if (end == std::string_view::npos) break;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.push_back(text);
  return parts;
}

// Splits every string and outputs the parts as a sparse matrix.
template <typename Split>
Status SplitAll(KernelContext& ctx, const Split& split) {
  const Tensor& in = ctx.input(0);
  if (in.shape().rank() != 1) return InvalidArgument("the strings must be a vector, got shape ", in.shape());
  std::vector<Parts> rows;
  int64_t total = 0;
  int64_t widest = 0;
  for (const std::string& s : in.data<std::string>()) {
    rows.push_back(split(s));
    const auto count = static_cast<int64_t>(rows.back().size());
    total += count;
    widest = std::max(widest, count);
  }
  TF_ASSIGN_OR_RETURN(Tensor * indices, ctx.AllocateOutput(0, Shape({total, 2})));
  TF_ASSIGN_OR_RETURN(Tensor * values, ctx.AllocateOutput(1, Shape({total})));
  TF_ASSIGN_OR_RETURN(Tensor * shape, ctx.AllocateOutput(2, Shape({2})));
  int64_t* index = indices->inplace_data<int64_t>().data();
  std::string* value = values->inplace_data<std::string>().data();
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t column = 0; column < rows[row].size(); ++column) {
      *index++ = static_cast<int64_t>(row);
      *index++ = static_cast<int64_t>(column);
      *value++ = std::string(rows[row][column]);
    }
  }
  shape->inplace_data<int64_t>()[0] = static_cast<int64_t>(rows.size());
  shape->inplace_data<int64_t>()[1] = widest;
  return OkStatus();
}

Status StringSplit(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* delimiter, TextOf(ctx, 1, "the delimiter"));
  const bool skip_empty = ctx.node().attr<bool>("skip_empty");
  return SplitAll(ctx, [&](const std::string& s) { return SplitAtAny(s, *delimiter, skip_empty); });
}

Status StringSplitV2(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* separator, TextOf(ctx, 1, "the separator"));
  const int64_t max = ctx.node().attr<int64_t>("maxsplit");
  return SplitAll(ctx, [&](const std::string& s) { return SplitAt(s, *separator, max); });
}

// The limit of the number of parts in all n-grams of a tensor together.
constexpr int64_t kMaxGramParts = int64_t{1} << 28;

template <typename T>
class NGramsKernel final : public Kernel {
 public:
  explicit NGramsKernel(const KernelConstruction& c)
      : separator_(c.attr<std::string>("separator")),
        widths_(c.attr<std::vector<int64_t>>("ngram_widths")),
        left_(c.attr<std::string>("left_pad")),
        right_(c.attr<std::string>("right_pad")),
        pad_width_(c.attr<int64_t>("pad_width")),
        preserve_short_(c.attr<bool>("preserve_short_sequences")) {}

  Status Compute(KernelContext& ctx) override {
    for (int64_t w : widths_) {
      if (w < 1) return InvalidArgument("ngram_widths must be positive, got ", w);
    }
    const Tensor& data = ctx.input(0);
    const Tensor& splits = ctx.input(1);
    if (data.shape().rank() != 1) return InvalidArgument("data must be a vector, got shape ", data.shape());
    if (splits.shape().rank() == 1 && splits.num_elements() == 0) {
      TF_RETURN_IF_ERROR(ctx.AllocateOutput(0, data.shape()));
      return ctx.AllocateOutput(1, splits.shape()).status();
    }
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, RowSplits(splits, data.num_elements()));
    std::vector<int64_t> ends = {0};
    int64_t parts = 0;
    for (size_t row = 0; row + 1 < rows.size(); ++row) {
      int64_t count = 0;
      for (const auto& [grams, width, pad] : GramsOf(rows[row + 1] - rows[row])) {
        count += grams;
        // The product is only computed if neither factor exceeds the limit, so it does not overflow.
        parts += grams > kMaxGramParts || width > kMaxGramParts ? kMaxGramParts + 1 : grams * width;
        if (parts > kMaxGramParts)
          return ResourceExhausted("the n-grams have more than ", kMaxGramParts, " parts in total");
      }
      ends.push_back(ends.back() + count);
    }
    TF_ASSIGN_OR_RETURN(Tensor * ngrams, ctx.AllocateOutput(0, Shape({ends.back()})));
    TF_ASSIGN_OR_RETURN(Tensor * out_splits, ctx.AllocateOutput(1, splits.shape()));
    for (size_t i = 0; i < ends.size(); ++i) out_splits->inplace_data<T>()[i] = static_cast<T>(ends[i]);
    std::string* to = ngrams->inplace_data<std::string>().data();
    TextMemory memory;
    for (size_t row = 0; row + 1 < rows.size(); ++row) {
      const auto tokens = data.data<std::string>().subspan(static_cast<size_t>(rows[row]), rows[row + 1] - rows[row]);
      for (const auto& [grams, width, pad] : GramsOf(static_cast<int64_t>(tokens.size()))) {
        for (int64_t n = 0; n < grams; ++n) {
          TF_ASSIGN_OR_RETURN(*to++, Gram(tokens, n - pad, width, memory));
        }
      }
    }
    return OkStatus();
  }

 private:
  struct Grams {
    int64_t count;
    int64_t width;
    int64_t pad;  // number of padding parts on each side
  };

  std::vector<Grams> GramsOf(int64_t length) const {
    std::vector<Grams> all;
    int64_t total = 0;
    for (int64_t width : widths_) {
      const int64_t pad = pad_width_ < 0 ? width - 1 : std::min(pad_width_, width - 1);
      const int64_t count = std::max<int64_t>(0, length + 2 * std::min(pad, int64_t{1} << 40) - width + 1);
      all.push_back({count, width, pad});
      total += count;
    }
    if (preserve_short_ && total == 0 && length > 0) {
      const int64_t pad = std::max<int64_t>(0, pad_width_);
      all.push_back({1, length + 2 * std::min(pad, kMaxGramParts), pad});
    }
    return all;
  }

  // The n-gram of parts [begin, begin + width) of the padded sequence. Part 0 is the first token of the data.
  StatusOr<std::string> Gram(std::span<const std::string> tokens, int64_t begin, int64_t width,
                             TextMemory& memory) const {
    Joined text(separator_, memory);
    for (int64_t i = begin; i < begin + width; ++i) {
      const bool inside = i >= 0 && i < static_cast<int64_t>(tokens.size());
      TF_RETURN_IF_ERROR(text.Add(inside ? tokens[static_cast<size_t>(i)] : i < 0 ? left_ : right_));
    }
    return text.Take();
  }

  const std::string separator_;
  const std::vector<int64_t> widths_;
  const std::string left_;
  const std::string right_;
  const int64_t pad_width_;
  const bool preserve_short_;
};

}  // namespace

void RegisterStringSplitKernels(KernelRegistry& r) {
  r.Add("StringSplit", {}, StringSplit);
  r.Add("StringSplitV2", {}, StringSplitV2);
  r.Add<NGramsKernel<int32_t>>("StringNGrams", {{"Tsplits", {kInt32}}});
  r.Add<NGramsKernel<int64_t>>("StringNGrams", {{"Tsplits", {kInt64}}});
}

}  // namespace tensorbraid::cpu
