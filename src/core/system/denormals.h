// Sets how a thread computes with denormal floating-point numbers.
#ifndef TENSORBRAID_CORE_SYSTEM_DENORMALS_H_
#define TENSORBRAID_CORE_SYSTEM_DENORMALS_H_

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tensorbraid {

// While an object of this class exists, its thread treats denormal operands as 0 and flushes denormal results to 0, as
// TensorFlow's threads do. So results agree, and values that decay towards 0 do not slow a step down. The destructor
// restores the thread's previous floating-point settings, including its rounding mode.
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

#endif  // TENSORBRAID_CORE_SYSTEM_DENORMALS_H_
