#include "kernels/cpu/image/gif_codec.h"

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace tensorbraid::cpu {
namespace {

// One frame: the index of a colour for each of its pixels.
struct GifFrame {
  int64_t top = 0, left = 0, height = 0, width = 0;
  int transparent = -1;  // the index of pixels that show the frame before; -1: none
  std::vector<std::array<uint8_t, 3>> colors;
  std::vector<uint8_t> indices;
};

// Unlike libpng and libjpeg, which jump, giflib returns errors. The frames are read record by record. DGifSlurp is not
// used, because it allocates the size that a header claims, and leaves the missing pixels of a truncated frame
// uninitialised.
class GifReader {
 public:
  explicit GifReader(std::string_view contents) : contents_(contents), left_(contents) {
    file_ = DGifOpen(this, ReadBytes, &error_);
  }
  ~GifReader() {
    if (file_ != nullptr) DGifCloseFile(file_, nullptr);
  }
  GifReader(const GifReader&) = delete;
  GifReader& operator=(const GifReader&) = delete;

  Status ReadFrames(bool first_only) {
    if (file_ == nullptr) return Error(error_);
    int transparent = NO_TRANSPARENT_COLOR;
    while (true) {
      GifRecordType type;
      if (DGifGetRecordType(file_, &type) == GIF_ERROR) return EndEarly(file_->Error);
      if (type == TERMINATE_RECORD_TYPE) break;
      if (type == EXTENSION_RECORD_TYPE) {
        if (!ReadExtension(&transparent)) return EndEarly(file_->Error);
      } else if (type == IMAGE_DESC_RECORD_TYPE) {
        bool complete = false;
        TF_RETURN_IF_ERROR(ReadFrame(transparent, &complete));
        if (!complete) return EndEarly(file_->Error);
        transparent = NO_TRANSPARENT_COLOR;
        if (first_only && frames_.size() > 1) frames_.pop_back();  // only its size is needed
      }
    }
    if (frames_.empty()) return InvalidArgument("Invalid GIF data of ", contents_.size(), " bytes: it has no frames");
    return OkStatus();
  }

  const std::vector<GifFrame>& frames() const { return frames_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

 private:
  Status Error(int code) const {
    const char* text = GifErrorString(code);
    return InvalidArgument("Invalid GIF data of ", contents_.size(),
                           " bytes: ", text != nullptr ? text : "the file is malformed");
  }
  // Ends the reading at an error. Frames that were read before it are kept.
  Status EndEarly(int code) const { return frames_.empty() ? Error(code) : OkStatus(); }

  bool ReadExtension(int* transparent) {
    int function = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(file_, &function, &block) == GIF_ERROR) return false;
    while (block != nullptr) {
      GraphicsControlBlock control;
      if (function == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        *transparent = control.TransparentColor;
      }
      if (DGifGetExtensionNext(file_, &block) == GIF_ERROR) return false;
    }
    return true;
  }

  // Sets *complete to whether the file has the whole frame, and keeps the frame if so.
  Status ReadFrame(int transparent, bool* complete) {
    *complete = false;
    if (DGifGetImageDesc(file_) == GIF_ERROR) return OkStatus();
    const GifImageDesc& desc = file_->Image;
    GifFrame frame{desc.Top, desc.Left, desc.Height, desc.Width, transparent, {}, {}};
    const int64_t height = std::max(height_, frame.height), width = std::max(width_, frame.width);
    TF_RETURN_IF_ERROR(CheckImageSize("GIF", static_cast<int64_t>(frames_.size()) + 1, {height, width, 3}));
    // A code stands for at most 4096 pixels and takes more than two bits, so a byte holds fewer than four codes.
    constexpr double kLzwRatio = 4096;
    TF_RETURN_IF_ERROR(CheckHolds("GIF", contents_, static_cast<double>(frame.height * frame.width), kLzwRatio * 4));
    const ColorMapObject* map = desc.ColorMap != nullptr ? desc.ColorMap : file_->SColorMap;
    if (map == nullptr) {
      return InvalidArgument("Invalid GIF data: frame ", frames_.size(), " has no colour map");
    }
    for (int i = 0; i < map->ColorCount; ++i) {
      frame.colors.push_back({map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue});
    }
    frame.indices.resize(static_cast<size_t>(frame.height * frame.width));
    const auto read_row = [&](int64_t y) {
      return DGifGetLine(file_, frame.indices.data() + y * frame.width, static_cast<int>(frame.width)) != GIF_ERROR;
    };
    if (desc.Interlace) {
      constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
      for (int pass = 0; pass < 4; ++pass) {
        for (int64_t y = kFirst[pass]; y < frame.height; y += kStep[pass]) {
          if (!read_row(y)) return OkStatus();
        }
      }
    } else {
      for (int64_t y = 0; y < frame.height; ++y) {
        if (!read_row(y)) return OkStatus();
      }
    }
    *complete = true;
    height_ = height;
    width_ = width;
    frames_.push_back(std::move(frame));
    return OkStatus();
  }

  static int ReadBytes(GifFileType* file, GifByteType* out, int n) {
    auto* reader = static_cast<GifReader*>(file->UserData);
    const size_t read = std::min(reader->left_.size(), static_cast<size_t>(std::max(n, 0)));
    std::memcpy(out, reader->left_.data(), read);
    reader->left_.remove_prefix(read);
    return static_cast<int>(read);
  }

  const std::string_view contents_;
  std::string_view left_;
  GifFileType* file_ = nullptr;
  int error_ = 0;
  std::vector<GifFrame> frames_;
  int64_t height_ = 0, width_ = 0;
};

// Draws the frame over `image`.
Status DrawGifFrame(const GifFrame& frame, int64_t height, int64_t width, uint8_t* image) {
  const int64_t bottom = std::min(frame.top + frame.height, height), right = std::min(frame.left + frame.width, width);
  for (int64_t y = frame.top; y < bottom; ++y) {
    for (int64_t x = frame.left; x < right; ++x) {
      const uint8_t index = frame.indices[static_cast<size_t>((y - frame.top) * frame.width + x - frame.left)];
      if (index == frame.transparent) continue;
      if (index >= frame.colors.size()) {
        return InvalidArgument("Invalid GIF data: colour ", static_cast<int>(index), " is not in the map of ",
                               frame.colors.size(), " colours");
      }
      std::copy_n(frame.colors[index].data(), 3, image + (y * width + x) * 3);
    }
  }
  return OkStatus();
}

}  // namespace

Status ReadGif(std::string_view contents, bool first_only, const AllocatePixels& allocate) {
  GifReader reader(contents);
  TF_RETURN_IF_ERROR(reader.ReadFrames(first_only));
  const auto frames = static_cast<int64_t>(reader.frames().size());  // 1 if first_only
  const ImageSize size{reader.height(), reader.width(), 3};
  TF_ASSIGN_OR_RETURN(void* const memory, allocate(frames, size));
  auto* const pixels = static_cast<uint8_t*>(memory);
  const int64_t bytes = size.height * size.width * 3;
  for (int64_t i = 0; i < frames; ++i) {
    uint8_t* image = pixels + i * bytes;
    if (i == 0) {
      std::memset(image, 0, static_cast<size_t>(bytes));
    } else {
      std::memcpy(image, image - bytes, static_cast<size_t>(bytes));
    }
    TF_RETURN_IF_ERROR(DrawGifFrame(reader.frames()[static_cast<size_t>(i)], size.height, size.width, image));
  }
  return OkStatus();
}

}  // namespace tensorbraid::cpu
