// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_STAGING_HPP
#define TRIKKOS_IMPL_STAGING_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/Trikkos_Scalar.hpp>

/// \file
/// Copies between memory and the scratch of a team without a detour through registers: in bulk, a
/// run by one thread, where the device has that (NVIDIA from sm_90 on) and addresses and sizes are
/// multiples of 16 bytes; 16 bytes or a word at a time (from sm_80 on); elsewhere by loads and
/// stores.

namespace Trikkos::Impl {

/// What bulk copies want addresses and sizes to be multiples of.
inline constexpr std::size_t staging_alignment = 16;
/// Scratch that a Staging wants, so aligned.
inline constexpr std::size_t staging_bytes = staging_alignment;
/// So many words of scratch, and as many more as keep what follows aligned.
template <class T>
KOKKOS_INLINE_FUNCTION constexpr int staged_words(int words) {
  constexpr int multiple = staging_alignment / sizeof(T);
  return (words + multiple - 1) / multiple * multiple;
}

/// Runs of so many bytes are worth a bulk copy each, as a rule: an SM starts one every 12 cycles.
inline constexpr int long_run = 512;
/// Whether a run of so many bytes is, if it and the strides and addresses in `all` are aligned.
constexpr bool is_bulk(std::size_t all, std::size_t bytes, std::size_t long_enough = long_run) {
  return (all | bytes) % staging_alignment == 0 && bytes >= long_enough;
}

/// As many bytes as one instruction moves.
struct alignas(staging_alignment) WideWord {
  std::uint32_t part[4];
};

/// Starts to copy a word to scratch.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void start_copy(T* to, const T* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto scratch = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (sizeof(T) == sizeof(WideWord))
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(scratch), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(scratch), "l"(from),
                 "n"(sizeof(T))
                 : "memory");
#else
  *to = *from;
#endif
}

/// A word of memory, or `otherwise`. nvcc 13.0 makes a branch of a load that depends on something,
/// and what is behind one is not on its way together with what is before it.
template <class T>
requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T load_if(bool wanted,
                                                                           const T* from,
                                                                           T otherwise) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8)
    asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.f64 %0, [%1];}"
                 : "+d"(otherwise)
                 : "l"(from), "r"(static_cast<int>(wanted)));
  else
    asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.f32 %0, [%1];}"
                 : "+f"(otherwise)
                 : "l"(from), "r"(static_cast<int>(wanted)));
  return otherwise;
#else
  return wanted ? *from : otherwise;
#endif
}

/// `count` runs of `words` words each, in scratch and in memory.
template <class T>
struct Runs {
  std::remove_const_t<T>* scratch;
  T* memory;
  int count, words;
  int scratch_stride;                           // between runs; their words are adjacent
  std::int64_t memory_stride, memory_step = 1;  // between runs, between words of a run

  /// As one run, where they touch.
  KOKKOS_FORCEINLINE_FUNCTION Runs joined() const {
    if (memory_step != 1 || scratch_stride != words || memory_stride != words) return *this;
    return {scratch, memory, 1, count * words, 0, 0, 1};
  }
  /// Whether bulk copies, and copies of wide words, are for them.
  KOKKOS_FORCEINLINE_FUNCTION bool is_aligned() const {
    const auto bytes =
        reinterpret_cast<std::uintptr_t>(scratch) | reinterpret_cast<std::uintptr_t>(memory) |
        sizeof(T) * (words | scratch_stride | static_cast<std::size_t>(memory_stride));
    return memory_step == 1 && bytes % staging_alignment == 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool are_of(int bytes) const {
    return static_cast<int>(sizeof(T)) * words >= bytes;
  }
  /// Aligned ones in words of that size.
  KOKKOS_FORCEINLINE_FUNCTION auto wide() const {
    using Wide = std::conditional_t<std::is_const_v<T>, const WideWord, WideWord>;
    constexpr int each = sizeof(WideWord) / sizeof(T);
    return Runs<Wide>{reinterpret_cast<WideWord*>(scratch),
                      reinterpret_cast<Wide*>(memory),
                      count,
                      words / each,
                      scratch_stride / each,
                      memory_stride / each};
  }
  /// f(scratch, memory) for the words that fall to a thread of a team: neighbours to neighbours.
  template <class Member, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_words(const Member& member, const F& f) const {
    if (words <= 0) return;
    const int team = member.team_size(), runs = team / words, rest = team % words;
    int run = member.team_rank() / words, word = member.team_rank() % words;
    auto* at = scratch + run * scratch_stride + word;
    T* from = memory + run * memory_stride + word * memory_step;
    const int step = runs * scratch_stride + rest, wrap = scratch_stride - words;
    const std::int64_t memory_run = runs * memory_stride + rest * memory_step,
                       memory_wrap = memory_stride - words * memory_step;
    if (rest == 0) {
      TRIKKOS_UNROLL(4)
      for (; run < count; run += runs, at += step, from += memory_run) f(at, from);
      return;
    }
    while (run < count) {
      f(at, from);
      run += runs;
      word += rest;
      at += step;
      from += memory_run;
      if (word >= words) {
        word -= words;
        ++run;
        at += wrap;
        from += memory_wrap;
      }
    }
  }
};

/// Of one team: what all threads have started to load is there after wait(), once for each object.
template <class Member>
class Staging {
 public:
  KOKKOS_FORCEINLINE_FUNCTION Staging(const Member& member, void* scratch)
      : m_member(member), m_arrivals(static_cast<std::uint64_t*>(scratch)) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (m_member.team_rank() == 0)
      asm volatile(
          "mbarrier.init.shared::cta.b64 [%0], 1;\n"
          "fence.mbarrier_init.release.cluster;" ::"r"(shared(m_arrivals))
          : "memory");
#endif
  }

  /// All threads call it. Runs of less than `bulk` bytes are copied in words, wide ones if wanted.
  template <bool wide = false, int bulk = long_run, class T>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Runs<const T>& given) {
    const Runs<const T> runs = given.joined();
    start_by_all();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (runs.is_aligned() && runs.are_of(bulk)) {
      const unsigned bytes = static_cast<unsigned>(sizeof(T)) * runs.words;
      m_bytes += bytes * runs.count;
      for (int i = m_member.team_rank(); i < runs.count; i += m_member.team_size())
        start_bulk(runs.scratch + i * runs.scratch_stride, runs.memory + i * runs.memory_stride,
                   bytes);
      return;
    }
#endif
    if (wide && sizeof(T) < sizeof(WideWord) && runs.is_aligned())
      load_words(runs.wide());
    else
      load_words(runs);
  }
  /// Runs that bulk copies are for, `words` of T in all. `start_all(start)`, by one thread where
  /// there are such copies, calls start(to, from, words) for each. All threads call it.
  template <class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION void load_by_one(int words, const F& start_all) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    m_bytes += static_cast<unsigned>(sizeof(T)) * words;
    if (m_member.team_rank() == 0)
      start_all([&](T* to, const T* from, int count) {
        start_bulk(to, from, static_cast<unsigned>(sizeof(T)) * count);
      });
#else
    static_cast<void>(words);
    start_by_all();
    start_all([&](T* to, const T* from, int count) {
      expect_bulk(to, from, count);
      load_words(Runs<const T>{to, from, 1, count, 0, 0});
    });
#endif
  }
  /// `count` runs of `words` words each, run(i) -> {scratch, memory}, that bulk copies are for: a
  /// run is all that a thread looks at. All threads call it.
  template <class Run>
  KOKKOS_FORCEINLINE_FUNCTION void load_runs(int count, int words, const Run& run) {
    using T = std::remove_pointer_t<decltype(run(0).first)>;
    start_by_all();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const unsigned bytes = static_cast<unsigned>(sizeof(T)) * words;
    m_bytes += bytes * count;
    for (int i = m_member.team_rank(); i < count; i += m_member.team_size()) {
      const auto [to, from] = run(i);
      start_bulk(to, from, bytes);
    }
#else
    for (int i = 0; i < count; ++i) {
      const auto [to, from] = run(i);
      load_words(Runs<const T>{to, from, 1, words, 0, 0});
    }
#endif
  }
  /// `start_all()` calls `start_copy`. All threads call it.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void load_by_all(const F& start_all) {
    start_by_all();
    start_all();
  }
  /// All threads: whatever any of them has loaded is there.
  KOKKOS_FORCEINLINE_FUNCTION void wait() const {
    if (!m_by_all) m_member.team_barrier();  // so that all see what they wait for
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (m_bytes > 0) {
      if (m_member.team_rank() == 0)
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(m_arrivals)),
            "r"(m_bytes)
            : "memory");
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
          "@!p bra again;\n"
          "}" ::"r"(shared(m_arrivals))
          : "memory");
    }
#endif
    if (m_by_all) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
      asm volatile("cp.async.wait_all;" ::: "memory");
#endif
      m_member.team_barrier();
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (requires { Member::restages; }) {
      if (!m_by_all) m_member.team_barrier();
      if (m_member.team_rank() == 0)
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared(m_arrivals)) : "memory");
    }
#endif
  }
  /// Before a team that `restages` starts with another Staging in the same scratch.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static void finish(const Team& team) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    team.team_barrier();
  }

  /// Runs that bulk copies are for, as below. `start_all(start)`, by one thread where there are
  /// such copies, calls start(to, from, words) for each. All threads call it.
  template <class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void store_by_one(const Member& member, const F& start_all) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    member.team_barrier();
    if (member.team_rank() == 0)
      start_all([](T* to, T* from, int words) {
        start_store(to, from, static_cast<unsigned>(sizeof(T)) * words);
      });
    finish_stores();
#else
    start_all([&](T* to, T* from, int words) {
      expect_bulk(to, from, words);
      store(member, Runs<T>{from, to, 1, words, 0, 0});
    });
#endif
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void store_run(const Member& member, T* to, T* from,
                                                    int words) {
    store_by_one<T>(member, [&](const auto& start) { start(to, from, words); });
  }
  /// Scratch, written before by any thread and not any more, to memory. All threads call it.
  template <bool wide = false, int bulk = long_run, class T>
  KOKKOS_FORCEINLINE_FUNCTION static void store(const Member& member, const Runs<T>& given) {
    const Runs<T> runs = given.joined();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (runs.is_aligned() && runs.are_of(bulk)) {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      member.team_barrier();
      for (int i = member.team_rank(); i < runs.count; i += member.team_size())
        start_store(runs.memory + i * runs.memory_stride, runs.scratch + i * runs.scratch_stride,
                    static_cast<unsigned>(sizeof(T)) * runs.words);
      return finish_stores();
    }
#endif
    member.team_barrier();
    const auto copy = [](const auto* from, auto* to) { *to = *from; };
    if (wide && sizeof(T) < sizeof(WideWord) && runs.is_aligned())
      runs.wide().for_words(member, copy);
    else
      runs.for_words(member, copy);
  }

 private:
  /// A bulk copy that cannot be is waited for without end: where there are none, tests find it.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void expect_bulk([[maybe_unused]] const T* to,
                                                      [[maybe_unused]] const T* from,
                                                      [[maybe_unused]] int words) {
    KOKKOS_IF_ON_HOST(
        (if (!is_bulk(reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from),
                      sizeof(T) * static_cast<std::size_t>(words), 1))
             Kokkos::abort("Trikkos: no bulk copy can move this run");))
  }
  /// Before any thread but the first starts a copy.
  KOKKOS_FORCEINLINE_FUNCTION void start_by_all() {
    if (!m_by_all) m_member.team_barrier();
    m_by_all = true;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void load_words(const Runs<const T>& runs) const {
    runs.for_words(m_member, [](T* to, const T* from) { start_copy(to, from); });
  }
#if defined(__CUDA_ARCH__)
  KOKKOS_FORCEINLINE_FUNCTION static unsigned shared(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
  }
  KOKKOS_FORCEINLINE_FUNCTION void start_bulk(void* to, const void* from, unsigned bytes) const {
#  if __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(shared(to)),
        "l"(from), "r"(bytes), "r"(shared(m_arrivals))
        : "memory");
#  endif
  }
  KOKKOS_FORCEINLINE_FUNCTION static void start_store(void* to, const void* from, unsigned bytes) {
#  if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared(from)), "r"(bytes)
                 : "memory");
#  endif
  }
  KOKKOS_FORCEINLINE_FUNCTION static void finish_stores() {
#  if __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group.read 0;" ::
            : "memory");
#  endif
  }
#endif

  const Member& m_member;
  std::uint64_t* m_arrivals;
  unsigned m_bytes = 0;
  bool m_by_all = false;  // whether others than the first thread have started copies, too
};

}  // namespace Trikkos::Impl

#endif
