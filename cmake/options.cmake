# SPDX-License-Identifier: BSD-3-Clause
#
# The options and compiler flags that the builds of this repository share. CMakeLists.txt,
# linux/CMakeLists.txt and ns3/CMakeLists.txt include this file after project().
include_guard()

option(WW_TESTS "Build the C++ tests" ${PROJECT_IS_TOP_LEVEL})
option(WW_FUZZ "Build the fuzz targets (needs clang)" OFF)
option(WW_SANITIZE "Build with address and undefined-behaviour sanitizers" OFF)
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
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Our own targets get these flags by linking ww_options. It does not use link-time optimisation, which spreads
# the hot path over more functions and costs a sixth of the speed (gcc 12). It uses neither fused multiply-add
# nor -march=native: the same scenario and seed must give the same bytes on every machine, and the same losses
# in the simulator and on the emulated path.
get_filename_component(WW_ROOT ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(WW_WARNINGS -Wall -Wextra -Wconversion -Wswitch-enum) # ns3/ uses only these, since ns-3 sets the rest
add_library(ww_options INTERFACE)
target_include_directories(ww_options INTERFACE ${WW_ROOT})
target_compile_options(ww_options INTERFACE ${WW_WARNINGS} -ffp-contract=off
                                            $<$<BOOL:${WW_WERROR}>:-Werror>)
if(WW_SANITIZE OR WW_FUZZ)
  set(sanitizers -fsanitize=address,undefined,float-cast-overflow$<$<BOOL:${WW_FUZZ}>:,fuzzer-no-link>)
  target_compile_options(ww_options INTERFACE ${sanitizers} -fno-sanitize-recover=all -O1 -g1)
  target_compile_definitions(ww_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(ww_options INTERFACE ${sanitizers})
endif()

# Builds a fuzz target from one source file. ctest runs it as ROOM/NAME, from a fixed seed for about five seconds.
function(ww_add_fuzz_target room name source library)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${library} -fsanitize=fuzzer)
  add_test(NAME ${room}/${name} COMMAND ${name} -seed=1 -runs=1000000 -max_total_time=5)
endfunction()
