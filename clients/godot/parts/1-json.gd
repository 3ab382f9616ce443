# The object of a payload; null for others. Godot's parser takes too much, and is recursive: a hostile text would end the game.
func _parse(payload: PoolByteArray):
	# Empty for bytes that are not UTF-8.
	var text = payload.get_string_from_utf8()
	var bare = _texts.sub(text, "", true).strip_edges()
	if not bare.begins_with("{"):
		return null
	var depth = 0
	var pieces = bare.replace("{", "[").replace("}", "]").split("[")
	for index in range(1, pieces.size()):
		depth += 1
		if depth > MAX_DEPTH:
			return null
		depth -= pieces[index].count("]")
		# Only the last piece closes the first container.
		if (depth <= 0) != (index == pieces.size() - 1) or depth < 0:
			return null
	if not bare.ends_with("}"):
		return null
	var parsed = JSON.parse(text)
	return parsed.result if parsed.error == OK else null


# JSON.print() would not escape all control characters.
func _write(value) -> String:
	match typeof(value):
		TYPE_NIL:
			return "null"
		TYPE_BOOL:
			return "true" if value else "false"
		TYPE_INT:
			return str(value)
		TYPE_REAL:
			return JSON.print(value)
		TYPE_DICTIONARY:
			var members = PoolStringArray()
			for key in value:
				members.append(_quoted(str(key)) + ":" + _write(value[key]))
			return "{" + members.join(",") + "}"
		TYPE_ARRAY, TYPE_STRING_ARRAY, TYPE_INT_ARRAY, TYPE_REAL_ARRAY:
			var items = PoolStringArray()
			for item in value:
				items.append(_write(item))
			return "[" + items.join(",") + "]"
		_:
			return _quoted(str(value))


func _quoted(text: String) -> String:
	text = text.replace("\\", "\\\\").replace("\"", "\\\"")
	for code in range(1, 32):
		text = text.replace(char(code), "\\u%04x" % code)
	return "\"" + text + "\""
