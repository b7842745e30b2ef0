# embed_kernels(<out-variable>): one C file per kernel source (.cl, .clh, .h of
# kernels/ and its folders), holding it as a byte array, and one table of all.  C11
# promises only 4095 characters per string literal, hence the arrays.
function(embed_kernels out)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*.cl
       ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*.clh
       ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*/*.clh
       ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*.h)
  set(files "")
  foreach(source ${sources})
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/kernels ${source})
    string(MAKE_C_IDENTIFIER ${name} identifier)
    set(file ${directory}/${name}.c)
    add_custom_command(
      OUTPUT ${file}
      COMMAND ${CMAKE_COMMAND} -DIN=${source} -DOUT=${file} -DNAME=${identifier}
              -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
      VERBATIM)
    list(APPEND files ${file})
    string(APPEND declarations "extern const char kernel_${identifier}[];\n")
    string(APPEND rows "    {\"${name}\", kernel_${identifier}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${directory}/table.c CONTENT
"#include \"kernel_source.h\"
${declarations}
const kernel_source KERNEL_SOURCES[] = {
${rows}    {0, 0},
};
")
  set(${out} ${files} ${directory}/table.c PARENT_SCOPE)
endfunction()
