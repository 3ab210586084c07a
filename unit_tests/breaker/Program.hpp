// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <Breaker.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

/// \file
/// The search of Breaker.hpp for as long as one likes. A table of the worst backward errors under
/// an ok status goes to the standard output; the exit status is 1 if one exceeds what the method
/// promises.

namespace Test::Breaker {

constexpr const char* usage = R"(usage: %s [option]...
  --seconds=60         in all, divided among the partition sizes
  --seed=1             other seeds search elsewhere
  --matrix=tridiagonal or pentadiagonal (no spike, pcr, thread; factored: plan,
                       thread_with_factors)
  --algorithm=segmented, spike, pcr, thomas or automatic
  --partition-sizes=2,3,7,8,15,16,31,32,64,66,100,128,512,0    0: what the algorithm chooses
  --scalar=double, float, complex_double or complex_float
  --level=call, batch, interleaved, plan, team, thread_in_memory, thread_with_factors or thread
  --transpose=none, transpose or conjugate_transpose
  --refine=0           steps of refinement (call)
  --pivoting=diagonal or none (spike)
  --reduction-steps=0  (pcr)
  --corners=bordered or sherman_morrison (thomas)
  --climbers=10        matrices in flight; inside kernels and in batches they are solved together,
                       on a host in SIMD lanes, of which there are up to 16
  --worst=<file>       writes the worst find there: n, then bands and b of each row
)";

struct Settings {
  double seconds = 60;
  std::uint64_t seed = 1;
  std::vector<std::int64_t> partition_sizes{2, 3, 7, 8, 15, 16, 31, 32, 64, 66, 100, 128, 512, 0};
  std::string scalar = "double", worst;
  int half_bandwidth = 1;
  Method method{Options{}.algorithm(Algorithm::segmented)};
  int climbers = 10;
};

/// The value whose name is `text`.
template <class Value>
bool choose(std::string_view text, std::initializer_list<std::pair<std::string_view, Value>> values,
            Value& result) {
  for (const auto& [name, value] : values)
    if (text == name) {
      result = value;
      return true;
    }
  return false;
}

/// Understands one option.
inline bool read_option(std::string_view option, Settings& s) {
  const auto equals = option.find('=');
  if (equals == option.npos) return false;
  const std::string_view name = option.substr(0, equals);
  const std::string text(option.substr(equals + 1));
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0' && number >= 0;
  const auto take = [&](auto& to) {
    to = static_cast<std::remove_reference_t<decltype(to)>>(number);
    return is_number;
  };
  Options& o = s.method.options;
  int value = 0;
  if (name == "--seconds") return take(s.seconds);
  if (name == "--seed") return take(s.seed);
  if (name == "--climbers") return take(s.climbers) && s.climbers > 0;
  if (name == "--refine") return take(value) && (o.refine(value), true);
  if (name == "--reduction-steps") return take(value) && (o.pcr({.reduction_steps = value}), true);
  if (name == "--matrix")
    return choose(text, {{"tridiagonal", 1}, {"pentadiagonal", 2}}, s.half_bandwidth);
  if (name == "--scalar") {
    s.scalar = text;
    return true;
  }
  if (name == "--worst") {
    s.worst = text;
    return true;
  }
  if (name == "--partition-sizes") {
    s.partition_sizes.clear();
    for (const char* at = text.c_str();; at = end + 1) {
      s.partition_sizes.push_back(std::strtoll(at, &end, 10));
      if (end == at || s.partition_sizes.back() < 0) return false;
      if (*end != ',') return *end == '\0';
    }
  }
  if (name == "--level")
    return choose(text,
                  {{"call", Level::call},
                   {"batch", Level::batch},
                   {"interleaved", Level::interleaved},
                   {"interleaved_thousands", Level::interleaved_thousands},
                   {"plan", Level::plan},
                   {"plan_thousands", Level::plan_thousands},
                   {"team", Level::team},
                   {"thread_in_memory", Level::thread_in_memory},
                   {"thread_with_factors", Level::thread_with_factors},
                   {"thread", Level::thread}},
                  s.method.level);
  if (name == "--algorithm") {
    for (const Algorithm a : Trikkos::algorithms)
      if (text == Trikkos::name(a)) return o.algorithm(a), true;
  }
  if (name == "--transpose") {
    Transpose t{};
    return choose(text,
                  {{"none", Transpose::none},
                   {"transpose", Transpose::transpose},
                   {"conjugate_transpose", Transpose::conjugate_transpose}},
                  t) &&
           (o.transpose(t), true);
  }
  if (name == "--corners") {
    using Trikkos::Corners;
    Corners c{};
    return choose(
               text,
               {{"bordered", Corners::bordered}, {"sherman_morrison", Corners::sherman_morrison}},
               c) &&
           (o.thomas({c}), true);
  }
  if (name == "--pivoting") {
    using Trikkos::Pivoting;
    Pivoting p{};
    return choose(text, {{"diagonal", Pivoting::diagonal}, {"none", Pivoting::none}}, p) &&
           (o.spike({.pivoting = p}), true);
  }
  return false;
}

template <class T, int W>
void write(const std::string& file, const Problem<T, W>& found, const std::string& what) {
  std::ofstream out(file);
  Problem<T, W> p = found;
  apply_row_exponents(p);
  out.precision(17);
  out << "# " << what << (p.A.periodic ? ", periodic" : ", open") << "\n" << p.A.size() << "\n";
  for (std::int64_t i = 0; i < p.A.size(); ++i) {
    for (int j = -W; j <= W; ++j) out << p.A.band(j)[i] << ' ';
    out << p.b[i] << '\n';
  }
}

/// Whether there is a way to solve such matrices with such a method.
inline bool is_possible(const Settings& s) {
  const Method& m = s.method;
  const Algorithm a = m.options.algorithm();
  const bool everywhere =
      a == Algorithm::segmented || a == Algorithm::automatic || a == Algorithm::thomas;
  const bool with_factors = is_plan(m.level) || m.level == Level::thread_with_factors;
  return s.half_bandwidth == 1 || (everywhere && m.level != Level::thread) ||
         (a == Algorithm::factored && with_factors);
}

/// Returns whether all is well.
template <class T, int W>
bool run(const Settings& s) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  std::printf("%s, %s, %s, seed %llu\n%9s %11s", W == 1 ? "tridiagonal" : "pentadiagonal",
              s.scalar.c_str(), describe(s.method).c_str(), static_cast<unsigned long long>(s.seed),
              "partition", "evaluations");
  for (const Mode mode : modes) std::printf(" %8s", name(mode));
  std::printf("   promised\n");
  const auto start = Clock::now();
  double worst = -1;
  std::int64_t evaluations = 0;
  bool well = true;
  for (std::size_t p = 0; p < s.partition_sizes.size(); ++p) {
    Method method = s.method;
    method.options.partition_size(s.partition_sizes[p]);
    const double until =
        s.seconds * static_cast<double>(p + 1) / static_cast<double>(s.partition_sizes.size());
    Search how{.seed = 1000 * s.seed, .rounds = 8, .climbers = s.climbers, .steps = 100};
    how.stop = [&] { return seconds_since(start) > until; };
    Found<T, W> all;
    double here = -1;
    do {  // every pass takes twice as long as the one before
      const auto found = search<T, W>(method, how);
      all.evaluations += found.evaluations;
      for (std::size_t m = 0; m < std::size(modes); ++m)
        all.worst_of[m] = std::max(all.worst_of[m], found.worst_of[m]);
      if (found.worst() > here) {
        here = found.worst();
        all.problem = found.problem;
      }
      ++how.seed;
      how.steps *= 2;
    } while (!how.stop());
    const double promise = promised<T>(method);
    std::printf("%9lld %11lld", static_cast<long long>(s.partition_sizes[p]),
                static_cast<long long>(all.evaluations));
    for (const double eta : all.worst_of) std::printf(" %8.1e", eta);
    std::printf("   %8.1e%s\n", promise, here <= promise ? "" : "  BROKEN");
    std::fflush(stdout);
    evaluations += all.evaluations;
    well = well && here <= promise;
    if (here > worst) {
      worst = here;
      if (!s.worst.empty())
        write(s.worst, all.problem,
              s.scalar + ", " + describe(method) + ", eta " + std::to_string(worst));
    }
  }
  std::printf("worst %.2e, %lld evaluations in %.0f s\n", worst,
              static_cast<long long>(evaluations), seconds_since(start));
  return well;
}

inline int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);  // takes its own options away
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (read_option(argv[i], settings)) continue;
    std::fprintf(stderr, usage, argv[0]);
    return 2;
  }
  const auto run_with = [&]<class T>(T) {
    return (settings.half_bandwidth == 1 ? run<T, 1>(settings) : run<T, 2>(settings)) ? 0 : 1;
  };
  if (is_possible(settings)) {
    if (settings.scalar == "double") return run_with(0.);
    if (settings.scalar == "float") return run_with(0.f);
    if (settings.scalar == "complex_double") return run_with(Kokkos::complex<double>{});
    if (settings.scalar == "complex_float") return run_with(Kokkos::complex<float>{});
  }
  std::fprintf(stderr, usage, argv[0]);
  return 2;
}

}  // namespace Test::Breaker

int main(int argc, char** argv) { return Test::Breaker::main(argc, argv); }
