# SPDX-License-Identifier: GPL-2.0-only
#
# ww_find_ns3(TARGET MODULE...) makes an interface library TARGET with what programs need from the ns-3 in NS3_ROOT:
# its headers and the libraries of these modules. It sets WW_NS3_STANDARD to the C++ standard that they require.
#
# ns-3's own find_package and pkg-config files name files that PyPI's wheels and Debian's package lack.
set(WW_NS3_MODULES core network stats bridge traffic-control internet point-to-point applications)

# Sets `variable` to the library of a module: libns3-core.so, libns3.48-core-default.so, libns3-dev-core-debug.so...
function(ww_ns3_library variable module)
  file(GLOB found "${NS3_ROOT}/lib*/libns3*-${module}*.so" "${NS3_ROOT}/lib/*/libns3*-${module}*.so")
  set(profiles "default|debug|release|optimized|relwithdebinfo|minsizerel")
  list(FILTER found INCLUDE REGEX "/libns3(-dev|[.0-9]*)-${module}(-(${profiles}))?\\.so$")
  if(NOT found)
    message(FATAL_ERROR "NS3_ROOT='${NS3_ROOT}' has no library of ns-3's module ${module}")
  endif()
  list(GET found 0 library)
  set(${variable} ${library} PARENT_SCOPE)
endfunction()

function(ww_find_ns3 target)
  if(NOT EXISTS "${NS3_ROOT}/include/ns3/core-module.h")
    message(FATAL_ERROR "NS3_ROOT='${NS3_ROOT}' has no include/ns3/core-module.h: name an installed ns-3, or a tree's build/")
  endif()
  add_library(${target} INTERFACE IMPORTED)
  foreach(module ${ARGN})
    ww_ns3_library(library ${module})
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${library})
  endforeach()
  get_filename_component(folder ${library} DIRECTORY)
  # The libraries that these depend on lie next to them. A program may name a class only in a string.
  set_property(TARGET ${target} PROPERTY INTERFACE_LINK_OPTIONS -Wl,--allow-shlib-undefined -Wl,--no-as-needed "-L${folder}")
  file(STRINGS "${NS3_ROOT}/include/ns3/singleton.h" for_17 REGEX " Singleton<T>\\(const")
  set(standard 20)
  if(for_17) # before 3.40; C++20 breaks their headers
    set(standard 17)
  endif()
  set(WW_NS3_STANDARD ${standard} PARENT_SCOPE)
  set_property(TARGET ${target} PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_${standard})
  if(NOT NS3_ROOT STREQUAL "/usr") # compilers search it anyway, and -isystem /usr/include breaks them
    set_property(TARGET ${target} PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${NS3_ROOT}/include")
    set_property(TARGET ${target} PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${NS3_ROOT}/include")
  endif()
endfunction()
