# SPDX-License-Identifier: BSD-3-Clause
#
# The options and compiler flags that the builds of this repository share. CMakeLists.txt,
# linux/CMakeLists.txt and ns3/CMakeLists.txt include this file after project().
include_guard()

option(WW_TESTS "Build the C++ tests" ${PROJECT_IS_TOP_LEVEL})
option(WW_SANITIZE "Build with address and undefined-behaviour sanitizers; with clang also the fuzz targets" OFF)
option(WW_WERROR "Treat warnings as errors" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
if(NOT CMAKE_CXX_STANDARD)
  set(CMAKE_CXX_STANDARD 20)
endif()
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

# Our own targets get these flags by linking ww_options. It does not use link-time optimisation, which spreads
# the hot path over more functions and costs a sixth of the speed (gcc 12). It uses neither fused multiply-add
# nor -march=native: the same scenario and seed must give the same bytes on every machine, and the same losses
# in the simulator and on the emulated path.
get_filename_component(WW_ROOT ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)

# The user's cache (~/.cache/ccache) serves all builds of all clones: paths in it are relative to the clone. It also
# keeps precompiled headers.
find_program(CCACHE ccache)
if(CCACHE)
  foreach(language C CXX)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${WW_ROOT} CCACHE_NOHASHDIR=1
                                            CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  endforeach()
endif()

set(WW_WARNINGS -Wall -Wextra -Wconversion -Wswitch-enum) # ns3/ uses only these, since ns-3 sets the rest
add_library(ww_options INTERFACE)
target_include_directories(ww_options INTERFACE ${WW_ROOT})
target_compile_options(ww_options INTERFACE ${WW_WARNINGS} -ffp-contract=off
                                            $<$<BOOL:${WW_WERROR}>:-Werror>)
if(WW_SANITIZE)
  set(sanitizers -fsanitize=address,undefined,float-cast-overflow)
  target_compile_options(ww_options INTERFACE ${sanitizers} -fno-sanitize-recover=all -g1
                                              $<IF:$<BOOL:$<TARGET_PROPERTY:WW_UNOPTIMISED>>,-O0,-O1>)
  target_compile_definitions(ww_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(ww_options INTERFACE ${sanitizers})
endif()

# Builds fuzz targets, each from one source file, if this build is sanitized by clang. They link the library that the
# tests link, so it is compiled with the instructions that guide a fuzzer. ctest runs each target as ROOM/NAME, from a
# fixed seed for about two seconds; `make test-slow` adds half a minute with other seeds.
function(ww_add_fuzz_targets room library) # ARGN: sources
  if(NOT WW_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    return()
  endif()
  target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_libraries(${name} PRIVATE ${library} -fsanitize=fuzzer)
    add_test(NAME ${room}/${name} COMMAND ${name} -seed=1 -max_total_time=2)
    add_test(NAME ${room}/${name}-long CONFIGURATIONS long COMMAND ${name} -max_total_time=30)
  endforeach()
endfunction()
