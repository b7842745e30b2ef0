# cmake -DIN=a.cl -DOUT=a.cl.c -DNAME=a_cl -P embed.cmake
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "extern const char kernel_${NAME}[];\nconst char kernel_${NAME}[] = {\n${bytes}0x00\n};\n")
