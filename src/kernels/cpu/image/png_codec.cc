#include "kernels/cpu/image/png_codec.h"

#include <png.h>

#include <cstring>
#include <vector>

namespace tensorbraid::cpu {
namespace {

// libpng reports an error by calling a function that must not return. This function must not throw either, because
// libpng is C, through whose frames an exception may not be able to pass. So it jumps back to the last setjmp. The jump
// skips destructors. Therefore a function of this file that calls setjmp has no local objects with destructors after
// the call, and neither have the functions between it and libpng. Everything that must be freed is a member of
// PngReader or PngWriter.
struct PngError {
  char message[128] = "";
};

void PngFail(png_structp png, png_const_charp message) {
  auto* error = static_cast<PngError*>(png_get_error_ptr(png));
  std::strncpy(error->message, message, sizeof error->message - 1);
  png_longjmp(png, 1);
}
void PngWarn(png_structp, png_const_charp) {}

class PngReader {
 public:
  explicit PngReader(std::string_view contents) : left_(contents) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &error_, PngFail, PngWarn);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() {
    if (png_ != nullptr) png_destroy_read_struct(&png_, &info_, nullptr);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // Each function returns false on an error, and message() then describes the error.
  bool ReadHeader(int channels, int bits) {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // the caller checks the size
    png_set_read_fn(png_, this, ReadBytes);
    png_read_info(png_, info_);
    int color = 0, depth = 0;
    png_get_IHDR(png_, info_, &width_, &height_, &depth, &color, nullptr, nullptr, nullptr);
    row_bits_ = static_cast<double>(width_) * depth * png_get_channels(png_, info_);
    const bool palette = color == PNG_COLOR_TYPE_PALETTE;
    const bool has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
    const bool has_transparency = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    channels_ = channels != 0 ? channels : palette ? (has_transparency ? 4 : 3) : png_get_channels(png_, info_);
    if (channels_ % 2 == 0) {  // with alpha
      if (!has_alpha && has_transparency) png_set_tRNS_to_alpha(png_);
      if (!has_alpha && !has_transparency) png_set_add_alpha(png_, 0xffff, PNG_FILLER_AFTER);
    } else if (has_alpha || has_transparency) {
      png_set_strip_alpha(png_);
    }
    if (depth > 8 && bits == 8) png_set_strip_16(png_);
    widen_ = depth <= 8 && bits == 16;
    png_set_packing(png_);
    if (depth > 8 && bits == 16) png_set_swap(png_);  // PNG is big-endian
    if (palette) png_set_palette_to_rgb(png_);
    const bool is_grey = (color & PNG_COLOR_MASK_COLOR) == 0;
    if (is_grey && depth < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (channels_ < 3 && !is_grey) png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
    if (channels_ >= 3 && is_grey) png_set_gray_to_rgb(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    row_bytes_ = png_get_rowbytes(png_, info_);
    return true;
  }

  // Reads row y to `pixels` + y * `stride`. REQUIRES: `stride` is at least row_bytes().
  bool ReadRows(uint8_t* pixels, size_t stride) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int pass = 0; pass < passes_; ++pass) {
      for (png_uint_32 y = 0; y < height_; ++y) png_read_row(png_, pixels + y * stride, nullptr);
    }
    png_read_end(png_, nullptr);
    return true;
  }

  std::string message() const { return error_.message[0] != 0 ? error_.message : "libpng cannot be initialised"; }
  ImageSize size() const { return {height_, width_, channels_}; }
  double row_bits() const { return row_bits_; }  // in the file, before compression
  size_t row_bytes() const { return row_bytes_; }
  bool widen() const { return widen_; }  // rows have 8 bits per channel, although 16 are wanted

 private:
  static void ReadBytes(png_structp png, png_bytep out, size_t n) {
    auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (n > reader->left_.size()) png_error(png, "the file is truncated");
    std::memcpy(out, reader->left_.data(), n);
    reader->left_.remove_prefix(n);
  }

  std::string_view left_;
  PngError error_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  png_uint_32 width_ = 0, height_ = 0;
  int channels_ = 0, passes_ = 1;
  double row_bits_ = 0;
  size_t row_bytes_ = 0;
  bool widen_ = false;
};

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error_, PngFail, PngWarn);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngWriter() {
    if (png_ != nullptr) png_destroy_write_struct(&png_, &info_);
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  bool Write(const uint8_t* pixels, const ImageSize& size, int bits, int compression) {
    constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png_, this, WriteBytes, nullptr);
    png_set_compression_level(png_, compression);
    png_set_compression_mem_level(png_, 9);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(size.width), static_cast<png_uint_32>(size.height), bits,
                 kColors[size.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (bits == 16) png_set_swap(png_);
    const int64_t stride = size.width * size.channels * (bits / 8);
    for (int64_t y = 0; y < size.height; ++y) png_write_row(png_, pixels + y * stride);
    png_write_end(png_, nullptr);
    return true;
  }

  std::string& bytes() { return bytes_; }
  std::string message() const { return error_.message[0] != 0 ? error_.message : "libpng cannot be initialised"; }

 private:
  static bool Append(std::string* bytes, const uint8_t* data, size_t n) {
    try {
      bytes->append(reinterpret_cast<const char*>(data), n);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  static void WriteBytes(png_structp png, png_bytep data, size_t n) {
    auto* writer = static_cast<PngWriter*>(png_get_io_ptr(png));
    if (!Append(&writer->bytes_, data, n)) png_error(png, "memory is exhausted");
  }

  PngError error_;
  std::string bytes_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

Status BadPng(const PngReader& reader, std::string_view contents) {
  return InvalidArgument("Invalid PNG data of ", contents.size(), " bytes: ", reader.message());
}

}  // namespace

Status ReadPng(std::string_view contents, int channels, int bits, const AllocatePixels& allocate) {
  PngReader reader(contents);
  if (!reader.ReadHeader(channels, bits)) return BadPng(reader, contents);
  const ImageSize size = reader.size();
  TF_RETURN_IF_ERROR(CheckImageSize("PNG", 1, size, bits / 8));
  constexpr double kDeflateRatio = 1032;  // zlib's format stores at most 258 bytes in two bits
  TF_RETURN_IF_ERROR(
      CheckHolds("PNG", contents, static_cast<double>(size.height) * reader.row_bits() / 8, kDeflateRatio));
  const auto stride = static_cast<size_t>(size.width * size.channels * (bits / 8));
  if (reader.row_bytes() * (reader.widen() ? 2 : 1) != stride) {
    return Internal("libpng gives rows of ", reader.row_bytes(), " bytes for ", stride);
  }
  TF_ASSIGN_OR_RETURN(void* const memory, allocate(1, size));
  auto* const pixels = static_cast<uint8_t*>(memory);
  if (!reader.ReadRows(pixels, stride)) return BadPng(reader, contents);
  if (reader.widen()) {
    // Each row has its bytes in its first half. They are widened from the end, so that no byte is overwritten before it
    // is read.
    const int64_t n = size.width * size.channels;
    for (int64_t y = 0; y < size.height; ++y) {
      const uint8_t* from = pixels + static_cast<size_t>(y) * stride;
      auto* to = reinterpret_cast<uint16_t*>(pixels + static_cast<size_t>(y) * stride);
      for (int64_t i = n - 1; i >= 0; --i) to[i] = static_cast<uint16_t>(from[i] * 257);  // 255 -> 65535
    }
  }
  return OkStatus();
}

StatusOr<std::string> WritePng(const void* pixels, const ImageSize& size, int bits, int compression) {
  if (size.height < 1 || size.width < 1 || size.height > PNG_UINT_31_MAX || size.width > PNG_UINT_31_MAX) {
    return InvalidArgument("cannot encode ", size.height, " x ", size.width, " pixels as PNG");
  }
  PngWriter writer;
  if (!writer.Write(static_cast<const uint8_t*>(pixels), size, bits, compression)) {
    return InvalidArgument("cannot encode ", size.height, " x ", size.width, " pixels as PNG: ", writer.message());
  }
  return std::move(writer.bytes());
}

}  // namespace tensorbraid::cpu
