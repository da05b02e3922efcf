// How this thread computes with numbers too small to be normal.
#ifndef TENSORBRAID_CORE_DENORMALS_H_
#define TENSORBRAID_CORE_DENORMALS_H_

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tensorbraid {

// While one lives, this thread takes denormal numbers for 0 and makes none, as TensorFlow's do: results agree, and
// numbers that fade away do not slow a step down. The thread's rounding and what it did before come back at the end.
class ScopedFlushDenormals {
 public:
#if defined(__SSE__)
  ScopedFlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero); }
  ~ScopedFlushDenormals() { _mm_setcsr(before_); }
#else
  ScopedFlushDenormals() {}
  ~ScopedFlushDenormals() {}
#endif
  ScopedFlushDenormals(const ScopedFlushDenormals&) = delete;
  ScopedFlushDenormals& operator=(const ScopedFlushDenormals&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kFlushToZero = 0x8000;
  static constexpr unsigned kDenormalsAreZero = 0x0040;
  const unsigned before_;
#endif
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_DENORMALS_H_
