# cmake -DOUTPUT=file.c -DNAME=prefix -DFILES="a;b" -P embed.cmake: writes files as C arrays
# <prefix>_<name>_<extension>, each with a terminating zero. The files must be ASCII.
set(text "/* Made by tools/embed.cmake. */\n")
foreach(file ${FILES})
	get_filename_component(name ${file} NAME)
	string(MAKE_C_IDENTIFIER ${name} name)
	file(READ ${file} bytes HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	string(APPEND text "extern const char ${NAME}_${name}[];\nconst char ${NAME}_${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
