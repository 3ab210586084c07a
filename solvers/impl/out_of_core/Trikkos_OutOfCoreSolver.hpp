// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_OUTOFCORESOLVER_HPP
#define TRIKKOS_IMPL_OUTOFCORESOLVER_HPP

#include <impl/out_of_core/Trikkos_Chunks.hpp>
#include <impl/out_of_core/Trikkos_HostLink.hpp>
#include <memory>
#include <vector>

namespace Trikkos::Impl {

/// The chain of a group's chunks, by one thread a system.
template <class T>
struct SolveChunks {
  BlockChain<T> chunks;
  T* bounds;  // [chunks][systems]
  std::int64_t systems;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    chunks.solve(system);
    for (std::int64_t c = 0; c < chunks.chain.layout.segments; ++c)
      chunks.put_bounds_of(c, system, PackedBounds<T>{bounds + 4 * systems * c});
  }
};

/// Matrices and vectors on the host.
template <class T>
struct HostProblem {
  ArrayOnHost<const T> band[3], b;
  ArrayOnHost<T> x;  // may be b
};

/// `segmented` for systems on the host: chunks take turns on the execution space instances, so that
/// those of one are copied while others' are solved.
template <class T, class Exec>
class OutOfCoreSolver {
 public:
  OutOfCoreSolver(const std::vector<Exec>& instances, const Chunks& chunks, Boundary boundary,
                  const Options& options)
      : m_chunks(chunks), m_boundary(boundary), m_options(options) {
    for (const Exec& exec : instances) m_links.emplace_back(exec);
    m_slots.resize(static_cast<std::size_t>(chunks.slots));
    if (chunks.slots == 0) return;
    const std::int64_t words =
        chunks.is_whole ? 0 : ChunkChoice<T, Exec>::storage_words(chunks, options);
    for (std::size_t s = 0; s < m_slots.size(); ++s) {
      Slot& slot = m_slots[s];
      slot.memory = buffer("chunk", SlotMemory<T>(nullptr, chunks, words).bytes);
      slot.place = std::make_shared<SlotMemory<T>>(slot.memory.data(), chunks, words);
      if (chunks.is_whole)
        slot.work =
            std::make_shared<Workspace<T, Exec>>(link(s).exec(), chunks.n, chunks.systems, options);
    }
    if (chunks.is_whole) return;
    m_chain = buffer("chain", ChainMemory<T>(nullptr, chunks).bytes);
    for (const HostLink<T, Exec>& l : m_links) prepare_for_teams(l.exec());
    finish();
  }

  const Chunks& chunks() const { return m_chunks; }
  Boundary boundary() const { return m_boundary; }
  const Options& options() const { return m_options; }
  std::size_t bytes() const {
    std::size_t sum = m_chain.size();
    for (const Slot& s : m_slots) sum += s.memory.size() + (s.work ? s.work->bytes() : 0);
    return sum;
  }
  std::size_t staging_bytes() const {
    std::size_t sum = 0;
    for (const HostLink<T, Exec>& l : m_links) sum += l.staging_bytes();
    return sum;
  }
  LinkTraffic traffic() const {
    LinkTraffic sum;
    for (const HostLink<T, Exec>& l : m_links) {
      sum.to_device += l.traffic().to_device;
      sum.to_host += l.traffic().to_host;
    }
    return sum;
  }

  /// Waits.
  Status solve(const HostProblem<T>& problem) {
    for (HostLink<T, Exec>& l : m_links) l.clear_traffic();
    for (Slot& s : m_slots) s.held = -1;
    if (m_chunks.slots == 0) return {};
    return m_chunks.is_whole ? solve_whole(problem) : solve_blocks(problem);
  }

 private:
  using Buffer = Kokkos::View<std::byte*, typename Exec::memory_space>;
  /// A chunk on the device, always by the same instance.
  struct Slot {
    Buffer memory;
    std::shared_ptr<SlotMemory<T>> place;
    std::shared_ptr<Workspace<T, Exec>> work;  // of whole systems
    Vectors<T> band[3], rhs;                   // as they lie now
    std::int64_t held = -1;                    // number of the chunk, or of the group
  };

  Buffer buffer(const char* name, std::size_t bytes) const {
    return Buffer(Kokkos::view_alloc(m_links.front().exec(), Kokkos::WithoutInitializing,
                                     std::string("Trikkos::OutOfCore::") + name),
                  bytes);
  }
  HostLink<T, Exec>& link(std::size_t slot) { return m_links[slot % m_links.size()]; }
  std::size_t slot_of(std::int64_t chunk) const {
    return static_cast<std::size_t>(chunk % m_chunks.slots);
  }
  void finish() {
    for (HostLink<T, Exec>& l : m_links) l.finish();
  }

  // -- chunks of whole systems: over the link once

  Status solve_whole(const HostProblem<T>& problem) {
    Status status;
    const std::int64_t groups = m_chunks.groups();
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::size_t s = slot_of(group);
      Slot& slot = m_slots[s];
      collect(slot, link(s), status);
      load(problem, slot, link(s), group, 0);
      slot.held = group;
      const std::int64_t first = m_chunks.first_system(group), count = m_chunks.systems_of(group);
      slot.work->run(link(s).exec(), systems(slot, m_chunks.n, count), slot.rhs.read_only(),
                     slot.rhs, Numbering{first});
      link(s).store(slot.rhs, problem.x, {first, count, 0, m_chunks.n});
    }
    for (std::size_t s = 0; s < m_slots.size(); ++s) collect(m_slots[s], link(s), status);
    finish();
    return status;
  }
  /// What the group in the slot has come to, if it is the first bad one. Waits.
  void collect(const Slot& slot, const HostLink<T, Exec>& link, Status& status) const {
    if (slot.held < 0) return;
    Status s = slot.work->status(link.exec());
    if (s.ok()) return;
    if (m_chunks.count > 1 && s.system < 0) s.system = m_chunks.first_system(slot.held);
    if (status.ok() || s.system < status.system) status = s;
  }

  // -- chunks of rows: over the link twice, but for the last ones of the first pass

  Status solve_blocks(const HostProblem<T>& problem) {
    const Exec& first = m_links.front().exec();
    const std::int64_t blocks = m_chunks.blocks();
    Kokkos::parallel_for("Trikkos::OutOfCore::reset", range(first, blocks + 1),
                         ResetMany{chain().found, m_chunks.count});
    first.fence("Trikkos::OutOfCore: reset");  // before the other instances report
    for (std::int64_t group = 0; group < m_chunks.groups(); ++group) {
      for (std::int64_t block = 0; block < blocks; ++block) reduce(problem, group, block);
      finish();
      solve_chain(group);
      for (std::int64_t block = blocks - 1; block >= 0; --block) {
        Slot& slot = m_slots[slot_of(block)];
        if (slot.held != number(group, block)) reduce(problem, group, block);
        substitute(problem, group, block);
      }
    }
    finish();
    return status();
  }
  std::int64_t number(std::int64_t group, std::int64_t block) const {
    return group * m_chunks.blocks() + block;
  }
  /// A chunk that is not on the device: from the host, up to its segments.
  void reduce(const HostProblem<T>& problem, std::int64_t group, std::int64_t block) {
    const std::size_t s = slot_of(block);
    Slot& slot = m_slots[s];
    load(problem, slot, link(s), group, block);
    slot.held = number(group, block);
    const std::int64_t words = Segment<T>::words * m_chunks.systems;
    method(group, block)
        .reduce(link(s).exec(), on_device(slot, group, block),
                PackedSegments<T>{chain().segments + words * block});
  }
  void substitute(const HostProblem<T>& problem, std::int64_t group, std::int64_t block) {
    const std::size_t s = slot_of(block);
    Slot& slot = m_slots[s];
    method(group, block)
        .substitute(link(s).exec(), on_device(slot, group, block),
                    PackedBounds<T>{chain().bounds + 4 * m_chunks.systems * block});
    link(s).store(slot.rhs, problem.x, window(group, block));
    slot.held = -1;
  }
  void solve_chain(std::int64_t group) {
    const Exec& exec = m_links.front().exec();
    const ChainMemory<T> memory = chain();
    const std::int64_t blocks = m_chunks.blocks();
    const BlockChain<T> chunks{
        memory.segments,
        Segment<T>::words * m_chunks.systems,
        {memory.tree, BlockChain<T>::layout(blocks), m_boundary == Boundary::periodic,
         BlockChain<T>::rows_of_block, diagnosis(blocks, group)}};
    Kokkos::parallel_for("Trikkos::OutOfCore::chain", range(exec, m_chunks.systems_of(group)),
                         SolveChunks<T>{chunks, memory.bounds, m_chunks.systems});
    exec.fence("Trikkos::OutOfCore: the values around all chunks are known");
  }

  BlockMethod<T, Exec> method(std::int64_t group, std::int64_t block) const {
    const Window2D w = window(group, block);
    return {Shape{w.rows, w.systems, w.systems}, m_options};
  }
  BlockProblem<T> on_device(const Slot& slot, std::int64_t group, std::int64_t block) const {
    const Window2D w = window(group, block);
    const bool periodic = m_boundary == Boundary::periodic;
    Systems<T> rows = systems(slot, w.rows, w.systems);
    rows.first.scale_rows = m_options.scaling() == Scaling::rows;
    return {{rows, periodic || w.row > 0, periodic || w.row + w.rows < m_chunks.n},
            slot.rhs.read_only(),
            slot.rhs,
            slot.place->storage,
            diagnosis(block, group),
            false};
  }
  Diagnosis diagnosis(std::int64_t block, std::int64_t group) const {
    return {chain().found + Diagnosis::words * block, m_chunks.count, 0,
            Numbering{m_chunks.first_system(group)}};
  }
  ChainMemory<T> chain() const { return {const_cast<std::byte*>(m_chain.data()), m_chunks}; }
  /// What all chunks have found, as rows of the whole.
  Status status() const {
    const std::int64_t blocks = m_chunks.blocks();
    std::vector<DiagnosisWords> found(static_cast<std::size_t>(blocks + 1));
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const Exec& exec = m_links.front().exec();
    Kokkos::deep_copy(
        exec, Kokkos::View<DiagnosisWords*, Kokkos::HostSpace, Unmanaged>(found.data(), blocks + 1),
        Kokkos::View<const DiagnosisWords*, typename Exec::memory_space, Unmanaged>(
            reinterpret_cast<const DiagnosisWords*>(chain().found), blocks + 1));
    exec.fence("Trikkos::OutOfCore: status");
    const std::int64_t* const of_chain = found.back().word;
    DiagnosisWords all = found.back();
    all.word[Diagnosis::merge] = report_at_block(of_chain[Diagnosis::merge], m_chunks, blocks);
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t* const word = found[static_cast<std::size_t>(block)].word;
      const std::int64_t first = m_chunks.first(block), rows = m_chunks.end(block) - first;
      for (const int k : {Diagnosis::elimination, Diagnosis::merge, Diagnosis::solution})
        all.word[k] =
            std::min(all.word[k], report_in_whole(word[k], rows, first, m_chunks.total()));
      all.word[Diagnosis::suspect] =
          std::min(all.word[Diagnosis::suspect], word[Diagnosis::suspect]);
    }
    return decode(all.word, m_chunks.n);
  }

  // -- both

  Window2D window(std::int64_t group, std::int64_t block) const {
    const std::int64_t row = m_chunks.first(block);
    return {m_chunks.first_system(group), m_chunks.systems_of(group), row,
            m_chunks.end(block) - row};
  }
  void load(const HostProblem<T>& problem, Slot& slot, HostLink<T, Exec>& link, std::int64_t group,
            std::int64_t block) {
    const Window2D w = window(group, block);
    Window2D of_matrix = w;
    if (m_chunks.is_shared) {
      of_matrix.system = 0;
      of_matrix.systems = 1;
    }
    link.begin(3 * of_matrix.count() + w.count());
    const bool has_matrix = m_chunks.is_shared && m_chunks.is_whole && slot.held >= 0;
    for (int j = 0; j < 3 && !has_matrix; ++j)
      slot.band[j] = link.load(problem.band[j], of_matrix, slot.place->band[j]);
    slot.rhs = link.load(problem.b, w, slot.place->rhs);
  }
  Systems<T> systems(const Slot& slot, std::int64_t rows, std::int64_t count) const {
    Systems<T> r({}, count);
    for (int j = 0; j < 3; ++j) {
      r.first.band[j] = slot.band[j].read_only()[0];
      r.stride[j] = m_chunks.is_shared ? 0 : slot.band[j].system_stride;
    }
    r.first.n = rows;
    r.first.periodic = m_boundary == Boundary::periodic;
    return r;
  }

  Chunks m_chunks;
  Boundary m_boundary;
  Options m_options;
  std::vector<HostLink<T, Exec>> m_links;
  std::vector<Slot> m_slots;
  Buffer m_chain;
};

}  // namespace Trikkos::Impl

#endif
