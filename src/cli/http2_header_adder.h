// Adds a header to every request of an HTTP/2 connection that passes through.
#ifndef TENSORBRAID_CLI_HTTP2_HEADER_ADDER_H_
#define TENSORBRAID_CLI_HTTP2_HEADER_ADDER_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace tensorbraid {

// Adds one header to each header block of the bytes that an HTTP/2 client sends, from the connection preface on. The
// header is in an additional CONTINUATION frame at the end of the block. It is not entered into the table of the header
// compression, so the rest of the stream need not change (RFC 9113, sections 4 and 6; RFC 7541, section 6.2.3). Bytes
// that are not HTTP/2 may be changed, but the server refuses them in any case. Not thread-safe.
class Http2HeaderAdder {
 public:
  // `name` is lower case. REQUIRES: the encoded header field fits into a frame of 16 KiB.
  Http2HeaderAdder(std::string_view name, std::string_view value);

  // Processes the next bytes of the connection and appends the result to `out`. Keeps back at most the 9 bytes of a
  // frame header.
  void Pass(std::string_view bytes, std::string* out);

 private:
  void EndFrame(std::string* out);

  const std::string field_;   // the encoded header field
  size_t preface_left_ = 24;  // of "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
  std::string header_;        // of the frame that begins, until it is complete
  size_t payload_left_ = 0;   // of the current frame
  std::string ends_block_;    // the stream number of the frame, if it is the last of a header block
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_HTTP2_HEADER_ADDER_H_
