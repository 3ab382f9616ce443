# Starts a server in a process of its own, connects to it, and completes with its `port`, `pid`, `version` and `warnings`, or with an
# Error of the code 0. The server ends with this node, and with the game, however that ends. Options:
# program: such as a `node` that is shipped with the game. arguments: before `serve`, the path of lorekeep's dist/src/cli/lorekeep.cjs.
# flags: more flags of `serve`. config, data_dir: as --config and --data-dir. start_ms: until it listens, 30000.
func start_server(options: Dictionary) -> Request:
	stop_server()
	if options.has("config") and not File.new().file_exists(options["config"]):
		return _refused("the server did not start: %s does not exist" % options["config"])
	_server = Request.new()
	_server.deadline = OS.get_ticks_msec() + options.get("start_ms", 30000)
	_ready_file = OS.get_user_data_dir() + "/lorekeep-%d-%d.json" % [OS.get_process_id(), OS.get_ticks_usec()]
	Directory.new().make_dir_recursive(OS.get_user_data_dir())
	var arguments = options.get("arguments", ["node_modules/lorekeep/dist/src/cli/lorekeep.cjs"]) + ["serve", "--port", "0"]
	arguments += ["--parent-pid", str(OS.get_process_id()), "--ready-file", _ready_file]
	for name in ["config", "data_dir"]:
		if options.has(name):
			arguments += ["--" + name.replace("_", "-"), options[name]]
	_server_pid = OS.execute(options.get("program", "node"), PoolStringArray(arguments + options.get("flags", [])), false)
	if _server_pid > 0:
		return _server
	_server = null
	return _refused("the server did not start: its program cannot be run")


func _refused(message: String) -> Request:
	var request = Request.new()
	# Not now: the caller does not listen yet.
	call_deferred("_complete", request, _error(message))
	return request


# Ends the server: on Windows at once, elsewhere as SIGTERM does. Twice is fine.
func stop_server() -> void:
	if _server_pid > 0:
		if OS.get_name() == "Windows":
			OS.kill(_server_pid)
		else:
			OS.execute("kill", PoolStringArray(["-TERM", str(_server_pid)]), true)
	_server_pid = 0
	_server_failed("the server was stopped")


# Before Godot 3.5 this tells only whether it was started, and not stopped.
func is_server_running() -> bool:
	return _server_pid > 0 and (not OS.has_method("is_process_running") or OS.call("is_process_running", _server_pid))


func _notification(what: int) -> void:
	if what == NOTIFICATION_PREDELETE and _server_pid > 0:
		stop_server()


func _look_at_server() -> void:
	if _server == null or _server_pid <= 0:
		return
	var file = File.new()
	if file.file_exists(_ready_file) and file.open(_ready_file, File.READ) == OK:
		var ready = JSON.parse(file.get_as_text()).result
		file.close()
		Directory.new().remove(_ready_file)
		if typeof(ready) != TYPE_DICTIONARY or not ready.has("port"):
			_server_failed("the server did not start: " + str(ready))
			return
		var started = _server
		_server = null
		access_token = ready.get("token", access_token)
		open("127.0.0.1", int(ready["port"]))
		_complete(started, ready)
	elif not is_server_running():
		_server_failed("the server did not start: its log on stderr says why")
	elif OS.get_ticks_msec() > _server.deadline:
		OS.kill(_server_pid)
		_server_failed("the server did not listen in time")


func _server_failed(message: String) -> void:
	var failed = _server
	_server = null
	_server_pid = 0
	if failed != null:
		_complete(failed, _error(message))
