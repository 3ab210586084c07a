// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_COMMUNICATOR_HPP
#define TRIKKOS_IMPL_COMMUNICATOR_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

/// \file
/// The few collective calls of MPI that are used, checked. There is nothing from one rank to
/// another alone, so that the communicator can be the user's: messages of his cannot be mistaken
/// for these.

namespace Trikkos::Impl {

/// For communicators whose errors return; those of others end the program.
inline void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string("Trikkos: ") + call +
                           " failed: " + std::string(text, static_cast<std::size_t>(length)));
}

/// How T goes into messages: as so many real numbers.
template <class T>
struct MessageOf;
template <>
struct MessageOf<std::int64_t> {
  static constexpr int words = 1;
  static MPI_Datatype type() { return MPI_INT64_T; }
};
template <>
struct MessageOf<float> {
  static constexpr int words = 1;
  static MPI_Datatype type() { return MPI_FLOAT; }
};
template <>
struct MessageOf<double> {
  static constexpr int words = 1;
  static MPI_Datatype type() { return MPI_DOUBLE; }
};
template <class R>
struct MessageOf<Kokkos::complex<R>> {
  static constexpr int words = 2;
  static MPI_Datatype type() { return MessageOf<R>::type(); }
};

/// A buffer of words for or from each rank, one rank's behind the other's.
struct RankParts {
  std::vector<int> words, first;

  /// count(rank) values of T.
  template <class T, class Count>
  static RankParts of(int ranks, const Count& count) {
    RankParts r;
    for (int k = 0, sum = 0; k < ranks; ++k) {
      r.words.push_back(static_cast<int>(MessageOf<T>::words * count(k)));
      r.first.push_back(sum);
      sum += r.words.back();
    }
    return r;
  }
};

class Communicator {
 public:
  /// \throws std::invalid_argument where there is none, on the ranks where that is so
  Communicator(const char* function, MPI_Comm comm) : m_comm(comm) {
    const auto refuse = [&](const char* what, const char* expected) {
      throw std::invalid_argument(std::string(function) + ": " + what + ", expected " + expected);
    };
    int is_on = 0, is_off = 0, is_inter = 0;
    MPI_Initialized(&is_on);
    MPI_Finalized(&is_off);
    if (!is_on || is_off) refuse("MPI is not running", "a call between MPI_Init and MPI_Finalize");
    if (comm == MPI_COMM_NULL) refuse("comm is MPI_COMM_NULL", "a communicator");
    check_mpi(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
    if (is_inter) refuse("comm is an intercommunicator", "one group of ranks");
    ask();
  }

  /// Of the ranks that give the same color, in the order of their keys. It is freed with its last
  /// copy: these must go on all ranks, in the order of other collective calls. Collective.
  Communicator split(int color, int key) const {
    Communicator part;
    part.m_own = {new MPI_Comm(MPI_COMM_NULL), FreeCommunicator()};
    check_mpi(MPI_Comm_split(m_comm, color, key, part.m_own.get()), "MPI_Comm_split");
    part.m_comm = *part.m_own;
    part.ask();
    return part;
  }

  MPI_Comm comm() const { return m_comm; }
  int rank() const { return m_rank; }
  int size() const { return m_size; }

  /// `count` values of each rank, one rank's behind the other's.
  template <class T>
  void gather_to_all(const T* mine, T* all, std::int64_t count) const {
    const int words = static_cast<int>(MessageOf<T>::words * count);
    const MPI_Datatype type = MessageOf<T>::type();
    check_mpi(MPI_Allgather(mine, words, type, all, words, type, m_comm), "MPI_Allgather");
  }
  /// From each rank to each, without waiting.
  template <class T>
  void start_to_each(const T* mine, const RankParts& sent, T* theirs, const RankParts& received,
                     MPI_Request& request) const {
    const MPI_Datatype type = MessageOf<T>::type();
    check_mpi(MPI_Ialltoallv(mine, sent.words.data(), sent.first.data(), type, theirs,
                             received.words.data(), received.first.data(), type, m_comm, &request),
              "MPI_Ialltoallv");
  }
  void start_minimum_of_all(const std::int64_t& mine, std::int64_t& least,
                            MPI_Request& request) const {
    check_mpi(MPI_Iallreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, m_comm, &request),
              "MPI_Iallreduce");
  }
  template <int count>
  void minimum_of_all(const std::int64_t (&mine)[count], std::int64_t (&least)[count]) const {
    check_mpi(MPI_Allreduce(mine, least, count, MPI_INT64_T, MPI_MIN, m_comm), "MPI_Allreduce");
  }
  void broadcast(char* text, int length, int from) const {
    check_mpi(MPI_Bcast(text, length, MPI_CHAR, from, m_comm), "MPI_Bcast");
  }

 private:
  struct FreeCommunicator {
    void operator()(MPI_Comm* comm) const {
      int is_off = 0;
      MPI_Finalized(&is_off);
      if (!is_off && *comm != MPI_COMM_NULL) MPI_Comm_free(comm);  // MPI_Finalize has freed all
      delete comm;
    }
  };

  Communicator() = default;
  void ask() {
    check_mpi(MPI_Comm_rank(m_comm, &m_rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(m_comm, &m_size), "MPI_Comm_size");
  }

  MPI_Comm m_comm = MPI_COMM_NULL;
  int m_rank = 0, m_size = 1;
  std::shared_ptr<MPI_Comm> m_own;  // none, if it is the user's
};

}  // namespace Trikkos::Impl

#endif
