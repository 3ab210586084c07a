// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CHUNKS_HPP
#define TRIKKOS_IMPL_CHUNKS_HPP

#include <Trikkos_Workspace.hpp>
#include <algorithm>
#include <impl/partition/Trikkos_BlockChain.hpp>
#include <impl/partition/Trikkos_BlockMethods.hpp>
#include <stdexcept>
#include <string>

/// \file
/// How systems on the host are cut into chunks for a device, and what these take of its memory.

namespace Trikkos {

/// Of an OutOfCore.
struct OutOfCoreOptions {
  /// Bytes of device memory to be taken at most, and as many of the host's for arrays that are not
  /// copied as they lie.
  std::size_t memory_limit = std::size_t(1) << 30;
  /// Rows of a system that go together, at most; 0: what is good for the link.
  std::int64_t chunk_rows = 0;
  /// Execution space instances, where one is given: chunks that are on their way at a time.
  int instances = 3;
};

namespace Impl {

/// `rows` of `systems` in a chunk, fewer in the last ones. Systems go in groups: where they fit as
/// a whole, a chunk is such a group, else a block of rows of one.
struct Chunks {
  std::int64_t n = 0, count = 0;
  bool is_shared = false;  // one matrix serves all systems
  std::int64_t rows = 0, systems = 0;
  bool is_whole = false;
  std::int64_t slots = 0;  // chunks that the device has memory for

  std::int64_t groups() const { return systems > 0 ? (count + systems - 1) / systems : 0; }
  std::int64_t first_system(std::int64_t group) const { return group * systems; }
  std::int64_t systems_of(std::int64_t group) const {
    return std::min(systems, count - first_system(group));
  }
  std::int64_t blocks() const { return rows > 0 ? (n + rows - 1) / rows : 0; }
  std::int64_t first(std::int64_t block) const { return block * rows; }
  std::int64_t end(std::int64_t block) const { return std::min(n, first(block + 1)); }
  std::int64_t total() const { return n; }
  std::int64_t matrices() const { return is_shared ? 1 : systems; }
};

/// A chunk in device memory, at `start`, or nowhere, to see how much it takes.
template <class T>
struct SlotMemory {
  T *band[3], *rhs, *storage;  // rhs becomes the solution
  std::size_t bytes;

  SlotMemory(std::byte* start, const Chunks& chunks, std::int64_t storage_words) {
    Parts parts(start);
    for (T*& b : band) b = parts.take<T>(chunks.rows * chunks.matrices());
    rhs = parts.take<T>(chunks.rows * chunks.systems);
    storage = parts.take<T>(storage_words);
    bytes = parts.bytes();
  }
};

/// What ties the blocks of a group together.
template <class T>
struct ChainMemory {
  T *segments, *bounds, *tree;  // [blocks][systems], [blocks][systems], [systems]
  std::int64_t* found;          // of each block, then of their chain
  std::size_t bytes;

  ChainMemory(std::byte* start, const Chunks& chunks) {
    const std::int64_t blocks = chunks.blocks(), systems = chunks.systems;
    Parts parts(start);
    segments = parts.take<T>(Segment<T>::words * blocks * systems);
    bounds = parts.take<T>(4 * blocks * systems);
    tree = parts.take<T>(BlockChain<T>::layout(blocks).words * systems);
    found = parts.take<std::int64_t>(Diagnosis::words * (blocks + 1));
    bytes = parts.bytes();
  }
};

/// The choice of chunks.
template <class T, class Exec>
class ChunkChoice {
 public:
  /// Long enough for a link's full speed and for a device's; more of them overlap better.
  static constexpr std::size_t most_bytes = std::size_t(128) << 20;
  /// Of many right-hand sides fewer go together before blocks get shorter.
  static constexpr std::int64_t shortest = 4096, most_systems = std::int64_t(1) << 20;

  ChunkChoice(const char* function, std::int64_t n, std::int64_t count, bool is_shared,
              const Options& options, const OutOfCoreOptions& limits)
      : m_function(function), m_options(options), m_limits(limits) {
    m_all.n = n;
    m_all.count = count;
    m_all.is_shared = is_shared;
  }

  /// Of any chunk: one of fewer rows or systems, as the last ones are, may take more on a host.
  static std::int64_t storage_words(const Chunks& c, const Options& options) {
    const std::int64_t last_rows = c.n - c.first(c.blocks() - 1);
    const std::int64_t last_systems = c.systems_of(c.groups() - 1);
    std::int64_t most = 0;
    for (const std::int64_t rows : {c.rows, last_rows})
      for (const std::int64_t systems : {c.systems, last_systems}) {
        const BlockMethod<T, Exec> method({rows, systems, systems}, options);
        most = std::max(most, method.shared_words() + systems * method.storage_words());
      }
    return most;
  }

  /// \throws std::invalid_argument where the memory is too small
  Chunks operator()() const {
    if (m_all.n == 0 || m_all.count == 0) return m_all;
    const std::int64_t asked = m_limits.chunk_rows;
    if ((asked == 0 || asked >= m_all.n) && whole_bytes(whole(1)) <= m_limits.memory_limit)
      return whole_systems();
    return blocks_of_rows();
  }

 private:
  // -- systems as a whole, each chunk with a Workspace

  Chunks whole(std::int64_t systems) const {
    Chunks c = m_all;
    c.is_whole = true;
    c.rows = c.n;
    c.systems = systems;
    c.slots = std::min<std::int64_t>(m_limits.instances, c.groups());
    return c;
  }
  std::size_t whole_slot(const Chunks& c) const {
    return SlotMemory<T>(nullptr, c, 0).bytes +
           Workspace<T, Exec>::required_bytes(c.n, c.systems, m_options);
  }
  std::size_t whole_bytes(const Chunks& c) const {
    return static_cast<std::size_t>(c.slots) * whole_slot(c);
  }
  Chunks whole_systems() const {
    const std::int64_t most =
        (m_all.count + m_limits.instances - 1) / m_limits.instances;  // so that some overlap
    return whole(largest(most, [&](std::int64_t systems) {
      const Chunks c = whole(systems);
      return whole_bytes(c) <= m_limits.memory_limit &&
             (systems == 1 || whole_slot(c) <= most_bytes);
    }));
  }

  // -- blocks of rows

  Chunks blocks(std::int64_t rows, std::int64_t systems) const {
    Chunks c = m_all;
    c.rows = rows;
    c.systems = systems;
    c.slots = std::min<std::int64_t>(m_limits.instances, c.blocks());
    return c;
  }
  std::size_t slot(const Chunks& c) const {
    return SlotMemory<T>(nullptr, c, storage_words(c, m_options)).bytes;
  }
  std::size_t bytes(const Chunks& c) const {
    return static_cast<std::size_t>(c.slots) * slot(c) + ChainMemory<T>(nullptr, c).bytes;
  }
  bool fits(std::int64_t rows, std::int64_t systems) const {
    return bytes(blocks(rows, systems)) <= m_limits.memory_limit;
  }
  Chunks blocks_of_rows() const {
    const std::int64_t asked = m_limits.chunk_rows;
    const std::int64_t most = asked > 0 ? std::min(asked, m_all.n) : m_all.n;
    std::int64_t systems = m_all.is_shared ? std::min(m_all.count, most_systems) : 1;
    while (systems > 1 && !fits(std::min(most, shortest), systems)) systems = (systems + 1) / 2;

    // the fewer rows, the more blocks to be tied together
    const auto is_good = [&](std::int64_t rows) {
      return fits(rows, systems) && (asked > 0 || slot(blocks(rows, systems)) <= most_bytes);
    };
    std::int64_t rows = most;
    std::size_t least = bytes(blocks(most, systems));
    while (rows > 1 && !is_good(rows)) {
      rows = (rows + 1) / 2;
      least = std::min(least, bytes(blocks(rows, systems)));
    }
    if (!fits(rows, systems))
      throw std::invalid_argument(std::string(m_function) + ": memory_limit is " +
                                  std::to_string(m_limits.memory_limit) + ", expected at least " +
                                  std::to_string(least));
    rows = largest(
        std::min(2 * rows, most), [&](std::int64_t more) { return is_good(more); }, rows);
    constexpr std::int64_t lines = 64;  // chunks that begin with a cache line
    const std::int64_t in_lines = rows / lines * lines;
    if (asked == 0 && rows >= shortest && rows < m_all.n && fits(in_lines, systems))
      rows = in_lines;

    Chunks c = blocks(rows, systems);
    const std::size_t rest = m_limits.memory_limit - ChainMemory<T>(nullptr, c).bytes;
    const auto room = static_cast<std::int64_t>(rest / slot(c));
    const std::int64_t turns = room / m_limits.instances * m_limits.instances;
    c.slots = std::max(c.slots, std::min(room >= c.blocks() ? c.blocks() : turns, c.blocks()));
    return c;
  }

  /// The largest k of [least, most] that is good, where all smaller ones are.
  template <class IsGood>
  static std::int64_t largest(std::int64_t most, const IsGood& is_good, std::int64_t least = 1) {
    while (least < most) {
      const std::int64_t middle = least + (most - least + 1) / 2;
      if (is_good(middle))
        least = middle;
      else
        most = middle - 1;
    }
    return least;
  }

  const char* m_function;
  Chunks m_all;
  Options m_options;
  OutOfCoreOptions m_limits;
};

}  // namespace Impl
}  // namespace Trikkos

#endif
