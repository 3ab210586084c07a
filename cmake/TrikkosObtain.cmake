# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# trikkos_obtain(<prefix> SUITES <suite>... [PREFER <pattern>] PACKAGES <package>... [ALONE <package>...])
#
# Unpacks Debian packages into <prefix>, for machines without Kokkos; with all that they depend on, but
# for those after ALONE. apt-get resolves, downloads and verifies them with a configuration of its own
# (sources, lists, cache, and an empty status file), dpkg -x unpacks them: nothing on the system changes
# and nobody needs to be root. The last suite is the one whose versions are preferred, of all packages
# or of those whose names match the pattern. A <prefix> that exists is complete and is kept.
function(trikkos_obtain prefix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFER" "SUITES;PACKAGES;ALONE")
  list(JOIN arg_PACKAGES " and " wanted)
  set(sorry "Trikkos cannot obtain ${wanted} for itself")
  set(instead "provide a Kokkos of your own with -DKokkos_ROOT=<its prefix>")

  get_filename_component(directory "${prefix}" DIRECTORY)
  file(MAKE_DIRECTORY "${directory}")
  file(LOCK "${directory}" DIRECTORY GUARD FUNCTION TIMEOUT 600)  # presets share the prefix
  if(EXISTS "${prefix}")
    return()
  endif()

  find_program(apt_get apt-get NO_CACHE)
  find_program(dpkg dpkg NO_CACHE)
  find_file(keyring NAMES debian-archive-keyring.gpg debian-archive-keyring.pgp
            PATHS /usr/share/keyrings NO_DEFAULT_PATH NO_CACHE)
  if(NOT apt_get OR NOT dpkg OR NOT keyring)
    message(FATAL_ERROR "${sorry} because this machine lacks apt-get, dpkg or Debian's keyring: "
            "${instead}.")
  endif()

  # The mirrors from which this machine takes its own main suite. Only after the machine has fetched
  # its lists are they known to be Debian's ($(ORIGIN) stays as it is until then); the signature
  # tells anyway.
  cmake_host_system_information(RESULT codename QUERY DISTRIB_VERSION_CODENAME)
  set(mirrors "")
  foreach(fetched IN ITEMS --release-info --no-release-info)
    execute_process(
      COMMAND "${apt_get}" indextargets ${fetched}
              --format "$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)" "Created-By: Packages"
      OUTPUT_VARIABLE targets ERROR_QUIET)
    string(REGEX MATCHALL "[^\n]+" targets "${targets}")
    list(FILTER targets INCLUDE REGEX
         " (${codename}|oldstable|stable|testing|unstable|sid) main (Debian|\\$.ORIGIN.)$")
    if(targets)
      list(TRANSFORM targets REPLACE " .*" "" OUTPUT_VARIABLE mirrors)
      list(REMOVE_DUPLICATES mirrors)
      break()
    endif()
  endforeach()
  if(NOT mirrors)
    message(FATAL_ERROR "${sorry} because no Debian mirror is in this machine's apt sources: "
            "${instead}.")
  endif()

  # Appended to the machine's apt configuration, whose proxy and transport settings stay in force.
  set(work "${prefix}-work")
  file(REMOVE_RECURSE "${work}")
  file(MAKE_DIRECTORY "${work}/lists/partial" "${work}/cache/archives/partial" "${work}/root")
  file(TOUCH "${work}/status")
  file(WRITE "${work}/apt.conf" "\
Dir::Etc::sourcelist \"${work}/sources.list\";
Dir::Etc::sourceparts \"/dev/null\";
Dir::Etc::preferences \"${work}/preferences\";
Dir::Etc::preferencesparts \"/dev/null\";
Dir::State \"${work}\";
Dir::State::status \"${work}/status\";
Dir::Cache \"${work}/cache\";
Dir::Log \"${work}\";
APT::Install-Recommends \"false\";
APT::Update::Error-Mode \"any\";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
")
  message(STATUS "Trikkos: obtaining ${wanted} from the Debian mirror of this machine")
  list(GET arg_SUITES -1 preferred)
  if(NOT arg_PREFER)
    set(arg_PREFER "*")
  endif()
  file(WRITE "${work}/preferences" "\
Package: ${arg_PREFER}
Pin: release a=${preferred}
Pin-Priority: 990
")
  foreach(mirror IN LISTS mirrors)
    list(TRANSFORM arg_SUITES REPLACE "(.+)" "deb [signed-by=${keyring}] ${mirror} \\1 main\n"
         OUTPUT_VARIABLE sources)
    string(JOIN "" sources ${sources})
    file(WRITE "${work}/sources.list" "${sources}")
    execute_process(
      COMMAND "${apt_get}" -c "${work}/apt.conf" -q update
      RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE complaint)
    if(result EQUAL 0)
      execute_process(
        COMMAND "${apt_get}" -c "${work}/apt.conf" -q -y --download-only install ${arg_PACKAGES}
        RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE complaint)
    endif()
    if(result EQUAL 0 AND arg_ALONE)
      execute_process(
        COMMAND "${apt_get}" -c "${work}/apt.conf" -q download ${arg_ALONE}
        WORKING_DIRECTORY "${work}/cache/archives"
        RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE complaint)
    endif()
    if(result EQUAL 0)
      break()
    endif()
  endforeach()
  if(NOT result EQUAL 0)
    string(REGEX MATCH "E: [^\n]*" complaint "${complaint}")
    message(FATAL_ERROR "${sorry} because apt-get failed (${complaint}): ${instead}.")
  endif()

  file(GLOB archives "${work}/cache/archives/*.deb")
  foreach(archive IN LISTS archives)
    execute_process(COMMAND "${dpkg}" -x "${archive}" "${work}/root" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  trikkos_mend_packages("${work}/root")
  file(RENAME "${work}/root" "${prefix}")
  file(REMOVE_RECURSE "${work}")
endfunction()

# Makes unpacked packages usable where they are.
function(trikkos_mend_packages root)
  # 1. Absolute paths become relative to the file that names them.
  file(GLOB_RECURSE configs "${root}/usr/lib/*.cmake")
  foreach(config IN LISTS configs)
    file(READ "${config}" text)
    string(REPLACE "\"/usr/include/" "\"\${_IMPORT_PREFIX}/include/" mended "${text}")
    string(REPLACE "\"/usr/bin/mpiexec\"" "\"\${CMAKE_CURRENT_LIST_DIR}/../../../../bin/mpiexec\""
           mended "${mended}")
    if(NOT mended STREQUAL text)
      file(WRITE "${config}" "${mended}")
    endif()
  endforeach()

  # Kokkos Kernels finds BLAS and LAPACK when it is loaded; nobody else has to link them.
  foreach(library IN ITEMS BLAS LAPACK)
    file(GLOB config "${root}/usr/lib/*/cmake/trilinos_external_packages/${library}/*Config.cmake")
    if(config)
      file(WRITE "${config}" "\
# Written by Trikkos.
if(NOT TARGET ${library}::all_libs)
  add_library(${library}::all_libs INTERFACE IMPORTED)
endif()
")
    endif()
  endforeach()

  # 2. Static libraries that have no objects are named but not packaged: an empty archive will do.
  file(GLOB kokkos_cmake "${root}/usr/lib/*/cmake/Kokkos")
  get_filename_component(libraries "${kokkos_cmake}/../.." ABSOLUTE)
  file(GLOB imports "${kokkos_cmake}/KokkosTargets-*.cmake")
  file(STRINGS "${imports}" archives REGEX "IMPORTED_LOCATION.*/lib[^/]+\\.a\"")
  list(TRANSFORM archives REPLACE ".*/(lib[^/]+\\.a)\".*" "\\1")
  foreach(archive IN LISTS archives)
    if(NOT EXISTS "${libraries}/${archive}")
      file(WRITE "${libraries}/${archive}" "!<arch>\n")
    endif()
  endforeach()

  # 3. The libraries need a newer C library than the system may have, so executables that link this
  # Kokkos start with the unpacked dynamic linker and look up libraries here first. That is a link
  # option of this Kokkos target, read with its other files, so that no other Kokkos and no other
  # target ever sees it. What targets do not name goes to a directory of its own, or CMake would
  # warn that it hides the system's.
  set(runtime "${root}/usr/runtime")
  file(MAKE_DIRECTORY "${runtime}")
  file(GLOB libraries "${libraries}/*.so.*" "${libraries}/blas/*" "${libraries}/lapack/*")
  list(FILTER libraries EXCLUDE REGEX "/lib(trilinos_|kokkos|mpi[.]|open_mpi[.])[^/]*$")
  file(COPY ${libraries} DESTINATION "${runtime}" FOLLOW_SYMLINK_CHAIN)  # some lie deeper
  file(REMOVE ${libraries})
  file(GLOB dynamic_linker RELATIVE "${root}/usr" "${runtime}/ld-linux*.so.*")
  file(WRITE "${kokkos_cmake}/KokkosTargets-unpacked.cmake" "\
# Written by Trikkos, see cmake/TrikkosObtain.cmake there.
set_property(TARGET Kokkos::kokkoscore APPEND PROPERTY INTERFACE_LINK_OPTIONS
  \"LINKER:--dynamic-linker=\${_IMPORT_PREFIX}/${dynamic_linker}\"
  \"LINKER:-rpath,\${_IMPORT_PREFIX}/runtime\"
  \"LINKER:--disable-new-dtags,--allow-shlib-undefined\")
")

  # 4. Trilinos was compiled by MPI's own compiler, so its targets name no MPI: that of the packages. And
  # a launcher that finds what is its own.
  if(EXISTS "${root}/usr/bin/prterun")
    file(GLOB mpi_config "${root}/usr/lib/*/cmake/trilinos_external_packages/MPI/MPIConfig.cmake")
    file(WRITE "${mpi_config}" "\
# Written by Trikkos.
if(NOT TARGET MPI::all_libs)
  add_library(MPI::all_libs INTERFACE IMPORTED)
  get_filename_component(_trikkos_lib \"\${CMAKE_CURRENT_LIST_DIR}/../../..\" ABSOLUTE)
  target_include_directories(MPI::all_libs SYSTEM INTERFACE \"\${_trikkos_lib}/openmpi/include\")
  target_link_libraries(MPI::all_libs INTERFACE
    \"\${_trikkos_lib}/libmpi.so.40\" \"\${_trikkos_lib}/libopen_mpi.so.40\")
  unset(_trikkos_lib)
endif()
")
    file(WRITE "${root}/usr/bin/mpiexec" "\
#!/bin/sh
# Written by Trikkos.
usr=$(cd \"$(dirname \"$0\")/..\" && pwd)
export OPAL_PREFIX=\"$usr\" PMIX_PREFIX=\"$usr\" PRTE_PREFIX=\"$usr\"
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_mapby=:oversubscribe
export PMIX_MCA_pcompress_base_silence_warning=1
exec \"$usr/${dynamic_linker}\" --library-path \"$usr/runtime\" \"$usr/bin/prterun\" \"$@\"
")
    file(CHMOD "${root}/usr/bin/mpiexec" FILE_PERMISSIONS
         OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endfunction()
