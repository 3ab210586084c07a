// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RELAXEDMEMORY_HPP
#define TRIKKOS_IMPL_RELAXEDMEMORY_HPP

#include <Trikkos_Concepts.hpp>
#include <atomic>
#include <impl/Trikkos_Scalar.hpp>
#include <thread>

/// \file
/// What threads need that wait for each other's values while a kernel runs.

namespace Trikkos::Impl {

/// Whether threads of a running kernel may wait for others of it: those that run are never stopped
/// for good, and threads of one warp get on independently (Cuda: since Volta).
template <class Exec>
inline constexpr bool spin_safe_v = is_host_v<Exec>;
#ifdef KOKKOS_ENABLE_CUDA
template <>
inline constexpr bool spin_safe_v<Kokkos::Cuda> = true;
#endif

/// Relaxed atomic access to a word that others write and read. Kokkos::atomic_load and atomic_store
/// are loops of compare and swap on CUDA and hosts (Kokkos 4.6): three times as slow from thread to
/// thread on an H200. A volatile access is a relaxed one in CUDA's memory model.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word relaxed_load(const Word* from) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return *static_cast<const volatile Word*>(from);
#else
  return std::atomic_ref<Word>(*const_cast<Word*>(from)).load(std::memory_order_relaxed);
#endif
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void relaxed_store(Word* to, Word word) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  *static_cast<volatile Word*>(to) = word;
#else
  std::atomic_ref<Word>(*to).store(word, std::memory_order_relaxed);
#endif
}

/// The same of adjacent words, each by itself, but as many with one instruction as a device can,
/// where they begin at a multiple of their size.
template <int count, class Word>
KOKKOS_FORCEINLINE_FUNCTION void relaxed_load(const Word* from, Word (&word)[count]) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(Word) == 8 && count % 2 == 0) {
    for (int i = 0; i < count; i += 2)
      asm volatile("ld.volatile.v2.u64 {%0, %1}, [%2];"
                   : "=l"(word[i]), "=l"(word[i + 1])
                   : "l"(from + i));
  } else if constexpr (sizeof(Word) == 4 && count % 2 == 0) {
    for (int i = 0; i < count; i += 2)
      asm volatile("ld.volatile.v2.u32 {%0, %1}, [%2];"
                   : "=r"(word[i]), "=r"(word[i + 1])
                   : "l"(from + i));
  } else
#endif
    for (int i = 0; i < count; ++i) word[i] = relaxed_load(from + i);
}
template <int count, class Word>
KOKKOS_FORCEINLINE_FUNCTION void relaxed_store(Word* to, const Word (&word)[count]) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(Word) == 8 && count % 2 == 0) {
    for (int i = 0; i < count; i += 2)
      asm volatile("st.volatile.v2.u64 [%0], {%1, %2};" ::"l"(to + i), "l"(word[i]),
                   "l"(word[i + 1]));
  } else if constexpr (sizeof(Word) == 4 && count % 2 == 0) {
    for (int i = 0; i < count; i += 2)
      asm volatile("st.volatile.v2.u32 [%0], {%1, %2};" ::"l"(to + i), "r"(word[i]),
                   "r"(word[i + 1]));
  } else
#endif
    for (int i = 0; i < count; ++i) relaxed_store(to + i, word[i]);
}

/// Between two looks at a word that is not there yet. A host's thread first spins, then lets others
/// run: the one that it waits for may have no core. A device's threads only look again.
class Backoff {
 public:
  KOKKOS_FORCEINLINE_FUNCTION void wait() {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
    constexpr int patience = 500;  // about 10 us
    if (++m_looks > patience)
      std::this_thread::yield();
    else
      pause();
#endif
  }

 private:
  static void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
  }
  [[maybe_unused]] int m_looks = 0;
};

// ---- values that are their own flags

/// A real number as a word of memory that can be empty: a NaN that no arithmetic makes. Complex
/// numbers are two such words. So value and flag arrive together, and no fence is needed. The upper
/// half of a double tells: half the work where threads look at words all the time.
template <class R>
struct FlaggedWord;
template <>
struct FlaggedWord<double> {
  using Word = std::uint64_t;
  static constexpr Word empty = 0x7ff8dead5eed0001u, nan = 0x7ff8000000000000u;
  static KOKKOS_FORCEINLINE_FUNCTION bool is_empty(Word w) {
    return static_cast<std::uint32_t>(w >> 32) == static_cast<std::uint32_t>(empty >> 32);
  }
};
template <>
struct FlaggedWord<float> {
  using Word = std::uint32_t;
  static constexpr Word empty = 0x7fc5eed1u, nan = 0x7fc00000u;
  static KOKKOS_FORCEINLINE_FUNCTION bool is_empty(Word w) { return w == empty; }
};

template <class T>
struct Flagged {
  using Of = FlaggedWord<Real<T>>;
  using Word = typename Of::Word;
  static constexpr int words = is_complex_v<T> ? 2 : 1;

  /// As many words as a T has, not all of which need be there.
  struct Seen {
    Word word[words];
    KOKKOS_FORCEINLINE_FUNCTION bool is_empty() const {
      bool found = Of::is_empty(word[0]);
      if constexpr (words == 2) found |= Of::is_empty(word[1]);
      return found;
    }
    KOKKOS_FORCEINLINE_FUNCTION T value() const {
      if constexpr (words == 2)
        return {Kokkos::bit_cast<Real<T>>(word[0]), Kokkos::bit_cast<Real<T>>(word[1])};
      else
        return Kokkos::bit_cast<T>(word[0]);
    }
  };
  static KOKKOS_FORCEINLINE_FUNCTION Seen nothing() {
    Seen r;
    for (Word& w : r.word) w = Of::empty;
    return r;
  }
  static KOKKOS_FORCEINLINE_FUNCTION Seen look(const Word* from) {
    Seen r;
    for (int i = 0; i < words; ++i) r.word[i] = relaxed_load(from + i);
    return r;
  }
  static KOKKOS_FORCEINLINE_FUNCTION void publish(Word* to, const T& value) {
    Word word[words];
    take_words(value, word);
    for (int i = 0; i < words; ++i) relaxed_store(to + i, word[i]);
  }
  static KOKKOS_FORCEINLINE_FUNCTION void clear(Word* to) {
    for (int i = 0; i < words; ++i) to[i] = Of::empty;
  }

  // ---- of values that lie side by side, all of them aligned to their size

  template <int count>
  static KOKKOS_FORCEINLINE_FUNCTION void look(const Word* from, Seen (&seen)[count]) {
    Word word[count * words];
    relaxed_load(from, word);
    for (int i = 0; i < count * words; ++i) seen[i / words].word[i % words] = word[i];
  }
  template <int count>
  static KOKKOS_FORCEINLINE_FUNCTION void publish(Word* to, const T (&value)[count]) {
    Word word[count * words];
    for (int i = 0; i < count; ++i) take_words(value[i], word + i * words);
    relaxed_store(to, word);
  }
  template <int count>
  static KOKKOS_FORCEINLINE_FUNCTION void clear(Word* to) {
    Word word[count * words];
    for (Word& w : word) w = Of::empty;
    relaxed_store(to, word);
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION void take_words(const T& value, Word* word) {
    if constexpr (words == 2) {
      word[0] = word_of(value.real());
      word[1] = word_of(value.imag());
    } else {
      word[0] = word_of(value);
    }
  }
  /// A NaN that looks empty, as it may come with b, is stored as another one.
  static KOKKOS_FORCEINLINE_FUNCTION Word word_of(const Real<T>& part) {
    const Word w = Kokkos::bit_cast<Word>(part);
    return Of::is_empty(w) ? Of::nan : w;
  }
};

}  // namespace Trikkos::Impl

#endif
