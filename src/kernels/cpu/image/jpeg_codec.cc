#include "kernels/cpu/image/jpeg_codec.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// clang-format off: jpeglib.h needs <cstdio>, and jerror.h needs jpeglib.h
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

namespace tensorbraid::cpu {
namespace {

// libjpeg's own handler of fatal errors ends the process. Our handler must not return, and must not throw through
// libjpeg, which is C. So it jumps back to the last setjmp. The jump skips destructors. Therefore a function of this
// file that calls setjmp has no local objects with destructors after the call. Everything that must be freed is a
// member of JpegReader or JpegWriter.
struct JpegErrors {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it also points to this struct
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";

  JpegErrors() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr info) {
      auto* errors = reinterpret_cast<JpegErrors*>(info->err);
      info->err->format_message(info, errors->message);
      std::longjmp(errors->jump, 1);
    };
    manager.emit_message = [](j_common_ptr, int) {};
    manager.output_message = [](j_common_ptr) {};
  }
};

// The memory that a decoder may allocate for coefficients and tables: somewhat more than two bytes for each pixel of
// the largest image.
constexpr long kMaxJpegMemory = long{5} << 28;
// The limit of scans. A progressive file with many scans takes long to decode; real files have 10 or so.
constexpr int kMaxScans = 500;

class JpegReader {
 public:
  JpegReader(std::string_view contents, bool recover) : contents_(contents), recover_(recover) {
    info_.err = &errors_.manager;
    info_.client_data = this;
    source_.init_source = [](j_decompress_ptr) {};
    source_.term_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = FillInputBuffer;
    source_.skip_input_data = [](j_decompress_ptr info, long n) {
      jpeg_source_mgr& source = *info->src;
      const size_t skip = n <= 0 ? 0 : std::min(static_cast<size_t>(n), source.bytes_in_buffer);
      source.next_input_byte += skip;
      source.bytes_in_buffer -= skip;
    };
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(contents.data());
    source_.bytes_in_buffer = contents.size();
    progress_.progress_monitor = [](j_common_ptr info) {
      if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) ERREXIT(info, JERR_BAD_PROGRESSION);
    };
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Each function returns false on an error, and message() then describes the error.
  bool ReadHeader() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    info_.src = &source_;
    info_.progress = &progress_;
    info_.mem->max_memory_to_use = kMaxJpegMemory;
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  bool Prepare(const JpegReadOptions& options) {
    if (setjmp(errors_.jump) != 0) return false;
    channels_ = options.channels != 0 ? options.channels : std::min(info_.num_components, 3);
    four_colors_ = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    if (channels_ == 1) {
      info_.out_color_space = JCS_GRAYSCALE;
    } else {
      info_.out_color_space = four_colors_ ? JCS_CMYK : JCS_RGB;
    }
    info_.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
    info_.scale_num = 1;
    info_.scale_denom = static_cast<unsigned>(options.ratio);
    info_.dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
    jpeg_calc_output_dimensions(&info_);
    return true;
  }

  // Call after Prepare. Decodes the rows of the crop window to `pixels`, or as many of them as the file has;
  // rows_read() is their number. `row` is scratch memory for a row of row_bytes() bytes.
  bool ReadRows(const CropWindow& crop, uint8_t* row, uint8_t* pixels) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_start_decompress(&info_);
    if (info_.output_components != row_channels()) ERREXIT(&info_, JERR_BAD_J_COLORSPACE);
    // Decodes and drops the rows above the crop window and the columns beside it. jpeg_crop_scanline and
    // jpeg_skip_scanlines are not used, because they interpolate chroma differently at the edges of the window.
    const int64_t stride = crop.width * channels_;
    for (int64_t y = 0; y < crop.y + crop.height; ++y) {
      JSAMPROW rows[] = {row};
      if (jpeg_read_scanlines(&info_, rows, 1) != 1) return false;
      if (y < crop.y) continue;
      CopyRow(row + crop.x * row_channels(), crop.width, pixels + (y - crop.y) * stride);
      ++rows_read_;
    }
    // The rest of the file is not needed. jpeg_finish_decompress would refuse a file without the end marker.
    jpeg_abort_decompress(&info_);
    return true;
  }

  std::string message() const { return errors_.message[0] != 0 ? errors_.message : "the file is truncated"; }
  const jpeg_decompress_struct& info() const { return info_; }
  ImageSize size() const { return {info_.output_height, info_.output_width, channels_}; }
  int64_t row_bytes() const { return int64_t{info_.output_width} * row_channels(); }
  int64_t rows_read() const { return rows_read_; }

 private:
  int row_channels() const { return four_colors_ && channels_ == 3 ? 4 : channels_; }

  void CopyRow(const uint8_t* from, int64_t width, uint8_t* to) const {
    if (row_channels() == channels_) {
      std::memcpy(to, from, static_cast<size_t>(width * channels_));
      return;
    }
    // Adobe's files have inverted CMYK.
    for (int64_t x = 0; x < width; ++x, from += 4, to += 3) {
      const int black = info_.saw_Adobe_marker != 0 ? from[3] : 255 - from[3];
      for (int c = 0; c < 3; ++c) {
        to[c] = static_cast<uint8_t>(black * (info_.saw_Adobe_marker != 0 ? from[c] : 255 - from[c]) / 255);
      }
    }
  }

  static boolean FillInputBuffer(j_decompress_ptr info) {
    static constexpr JOCTET kEnd[] = {0xff, JPEG_EOI};
    auto* reader = static_cast<JpegReader*>(info->client_data);
    if (!reader->recover_ || reader->gave_end_) ERREXIT(info, JERR_INPUT_EOF);
    // With an end marker in place of the missing data, libjpeg fills the rest of the image.
    reader->gave_end_ = true;
    info->src->next_input_byte = kEnd;
    info->src->bytes_in_buffer = sizeof kEnd;
    return TRUE;
  }

  const std::string_view contents_;
  const bool recover_;
  bool gave_end_ = false;
  JpegErrors errors_;
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
  int channels_ = 0;
  bool four_colors_ = false;
  int64_t rows_read_ = 0;
};

Status BadJpeg(const JpegReader& reader, std::string_view contents) {
  return InvalidArgument("Invalid JPEG data of ", contents.size(), " bytes: ", reader.message());
}

class JpegWriter {
 public:
  JpegWriter() { info_.err = &errors_.manager; }
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(bytes_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  bool Write(const uint8_t* pixels, const ImageSize& size, const JpegWriteOptions& options, const std::string& xmp) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &bytes_, &num_bytes_);
    info_.image_width = static_cast<JDIMENSION>(size.width);
    info_.image_height = static_cast<JDIMENSION>(size.height);
    info_.input_components = static_cast<int>(size.channels);
    info_.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    if (options.optimize_size) info_.optimize_coding = TRUE;
    info_.density_unit = options.density_in_cm ? 2 : 1;
    info_.X_density = static_cast<UINT16>(options.x_density);
    info_.Y_density = static_cast<UINT16>(options.y_density);
    jpeg_set_quality(&info_, options.quality, TRUE);
    if (options.progressive) jpeg_simple_progression(&info_);
    if (!options.chroma_downsampling) {
      for (int i = 0; i < info_.num_components; ++i) {
        info_.comp_info[i].h_samp_factor = 1;
        info_.comp_info[i].v_samp_factor = 1;
      }
    }
    jpeg_start_compress(&info_, TRUE);
    if (!xmp.empty()) {
      jpeg_write_marker(&info_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(xmp.data()),
                        static_cast<unsigned>(xmp.size()));
    }
    const int64_t stride = size.width * size.channels;
    for (int64_t y = 0; y < size.height; ++y) {
      JSAMPROW rows[] = {const_cast<JSAMPROW>(pixels + y * stride)};  // libjpeg does not change them
      jpeg_write_scanlines(&info_, rows, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  std::string_view bytes() const { return {reinterpret_cast<const char*>(bytes_), num_bytes_}; }
  std::string message() const { return errors_.message; }

 private:
  JpegErrors errors_;
  jpeg_compress_struct info_{};
  unsigned char* bytes_ = nullptr;
  unsigned long num_bytes_ = 0;
};

}  // namespace

Status ReadJpeg(std::string_view contents, const JpegReadOptions& options, const AllocatePixels& allocate) {
  JpegReader reader(contents, options.try_recover_truncated);
  if (!reader.ReadHeader() || !reader.Prepare(options)) return BadJpeg(reader, contents);
  const jpeg_decompress_struct& info = reader.info();
  ImageSize size = reader.size();
  TF_RETURN_IF_ERROR(CheckImageSize("JPEG", 1, size));
  TF_RETURN_IF_ERROR(CheckImageSize("JPEG", 1, {info.image_height, info.image_width, info.num_components}));
  if (!options.try_recover_truncated && options.acceptable_fraction > 0 && info.arith_code == FALSE) {
    // Each block of 8 x 8 pixels takes one bit or more of Huffman code.
    const double blocks = static_cast<double>(info.image_height) * info.image_width / 64;
    TF_RETURN_IF_ERROR(
        CheckHolds("JPEG", contents, blocks * std::min(options.acceptable_fraction, 1.0f), /*units_per_byte=*/8));
  }
  CropWindow crop{0, 0, size.height, size.width};
  if (options.crop.has_value()) {
    crop = *options.crop;
    if (crop.y < 0 || crop.x < 0 || crop.height <= 0 || crop.width <= 0 || crop.height > size.height ||
        crop.width > size.width || crop.y > size.height - crop.height || crop.x > size.width - crop.width) {
      return InvalidArgument("Invalid JPEG data or crop window: the window [", crop.y, ", ", crop.x, ", ", crop.height,
                             ", ", crop.width, "] does not lie within the image of ", size.height, " x ", size.width,
                             " pixels");
    }
    size.height = crop.height;
    size.width = crop.width;
  }
  std::vector<uint8_t> row(static_cast<size_t>(reader.row_bytes()));
  TF_ASSIGN_OR_RETURN(void* const memory, allocate(1, size));
  auto* const pixels = static_cast<uint8_t*>(memory);
  reader.ReadRows(crop, row.data(), pixels);
  const int64_t rows = reader.rows_read();
  if (static_cast<float>(rows) / static_cast<float>(size.height) < std::min(1.0f, options.acceptable_fraction)) {
    return BadJpeg(reader, contents);
  }
  const int64_t stride = size.width * size.channels;
  std::memset(pixels + rows * stride, 0, static_cast<size_t>((size.height - rows) * stride));
  return OkStatus();
}

StatusOr<ImageSize> ReadJpegSize(std::string_view contents) {
  JpegReader reader(contents, /*recover=*/false);
  if (!reader.ReadHeader()) return BadJpeg(reader, contents);
  const jpeg_decompress_struct& info = reader.info();
  return ImageSize{info.image_height, info.image_width, info.num_components};
}

StatusOr<std::string> WriteJpeg(const uint8_t* pixels, const ImageSize& size, const JpegWriteOptions& options) {
  if (size.height < 1 || size.width < 1 || size.height > JPEG_MAX_DIMENSION || size.width > JPEG_MAX_DIMENSION) {
    return InvalidArgument("cannot encode ", size.height, " x ", size.width,
                           " pixels as JPEG; each side must have 1 to ", JPEG_MAX_DIMENSION, " pixels");
  }
  std::string xmp;
  if (!options.xmp_metadata.empty()) {
    constexpr char kHeader[] = "http://ns.adobe.com/xap/1.0/";  // with the 0 at its end
    constexpr size_t kMaxMarker = 65533;                        // the most bytes of data in a marker segment
    xmp = std::string(kHeader, sizeof kHeader) + options.xmp_metadata;
    if (xmp.size() > kMaxMarker) {
      return InvalidArgument("xmp_metadata has ", options.xmp_metadata.size(), " bytes; JPEG holds at most ",
                             kMaxMarker - sizeof kHeader);
    }
  }
  JpegWriter writer;
  if (!writer.Write(pixels, size, options, xmp)) {
    return InvalidArgument("cannot encode ", size.height, " x ", size.width, " pixels as JPEG: ", writer.message());
  }
  return std::string(writer.bytes());
}

}  // namespace tensorbraid::cpu
