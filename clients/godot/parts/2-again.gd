# Counts an attempt that failed, and gives up after the last one.
func _try_again(message: String) -> void:
	if not _replacing:
		_attempts = 0
		emit_signal("reconnecting", message)
	_replacing = _attempts < reconnect_attempts
	var longest = min(reconnect_max_ms, reconnect_min_ms * pow(2, _attempts))
	_retry_at = OS.get_ticks_msec() + int(longest * rand_range(0.5, 1))
	_attempts += 1


func _give_up(message: String) -> void:
	var waiting = _waiting
	_waiting = []
	_sessions = {}
	_may_replace = false
	for request in waiting:
		_complete(request, _error(message))
	emit_signal("lost", message)


# Makes everything again on a connection that has greeted.
func _make_again(hello: Dictionary) -> void:
	_restoring = true
	var connection = _connections
	for session in _sessions.values():
		if session["broken"] != null:
			continue
		var refusal = yield(_remake(session), "completed")
		# Another connection is tried already.
		if connection != _connections or not _greeted:
			return
		if refusal != null and _is_transient(int(refusal["code"])):
			_lose(refusal["message"])
			return
		if refusal != null:
			refusal["message"] = "the session could not be made again after the connection was lost: " + refusal["message"]
			session["broken"] = refusal
	_restoring = false
	_replacing = false
	var waiting = _waiting
	_waiting = []
	for request in waiting:
		_post(request)
	emit_signal("connected", hello)


# Whether an error is about the server or the connection rather than the session: another attempt may succeed.
func _is_transient(code: int) -> bool:
	return code in [0, Code.ServerShuttingDown, Code.TooManyWrongTokens, Code.SessionNotKept, Code.OutOfMemory, Code.ServerMemoryExceeded]


# Null, or the Error that refused a part of it.
func _remake(session: Dictionary):
	var fields = session["fields"].duplicate()
	fields.erase("keep")
	fields.erase("resume")
	if session["resume"] != null:
		fields["resume"] = session["resume"]
	var made = yield(_ask("CreateSessionRequest", "", fields), "completed")
	if session["resume"] != null and made.get("code") == Code.KeptSessionNotFound:
		fields.erase("resume")
		fields["keep"] = true
		made = yield(_ask("CreateSessionRequest", "", fields), "completed")
	if made["type"] == "Error":
		return made
	session["id"] = made["session_id"]
	session["resume"] = made.get("resume")
	var kept = {}
	for agent in made.get("agents", []):
		kept[int(agent["kept"])] = agent.get("agent_id")
	for storage in session["storages"].values():
		made = yield(_ask("CreateEmbeddedStringStorageRequest", session["id"], storage), "completed")
		if made["type"] == "Error":
			return made
	for agent in session["agents"].values():
		if kept.get(agent["kept"]) != null:
			agent["id"] = kept[agent["kept"]]
			continue
		fields = agent["fields"].duplicate()
		fields.erase("kept")
		fields.erase("history")
		if kept.has(agent["kept"]):
			fields["kept"] = agent["kept"]
		elif agent["turns"].size() > 0:
			fields["history"] = {"version": 1, "turns": agent["turns"]}
		made = yield(_ask("CreateAgentRequest", session["id"], fields), "completed")
		if made["type"] == "Error":
			return made
		agent["id"] = made["agent_id"]
		agent["kept"] = _id_of(made.get("kept"))
	return null


# Sends a request of the client's own. `session_id`: the server's.
func _ask(type: String, session_id: String, fields: Dictionary) -> Request:
	var request = Request.new()
	request.id = _next_id
	_next_id += 1
	request.type = type
	request.fields = fields.duplicate()
	if session_id != "":
		request.fields["session_id"] = session_id
	return _post(request)


# Remembers the effect of a request that was served, and gives ids that stay valid.
func _note(request: Request, reply: Dictionary) -> void:
	var fields = request.fields
	if request.type == "CreateSessionRequest":
		var made = {"id": reply["session_id"], "fields": fields, "resume": reply.get("resume"), "broken": null, "storages": {}, "agents": {}}
		reply["session_id"] = _own_id(reply["session_id"])
		_sessions[reply["session_id"]] = made
		for agent in reply.get("agents", []):
			if agent.has("agent_id"):
				agent["agent_id"] = _note_agent(made, agent, {})
	var session = _sessions.get(request.session)
	if session == null:
		return
	match request.type:
		"DestroySessionRequest":
			_sessions.erase(request.session)
		"CreateEmbeddedStringStorageRequest":
			session["storages"][fields["name"]] = fields
		"DestroyEmbeddedStringStorageRequest":
			session["storages"].erase(fields["name"])
		"UpdateEmbeddedStringStorageRequest", "ForgetEmbeddedStringStorageRequest":
			if session["storages"].has(fields["name"]):
				_change(session["storages"][fields["name"]], fields)
		"CreateAgentRequest":
			reply["agent_id"] = _note_agent(session, reply, fields)
		"DestroyAgentRequest":
			session["agents"].erase(fields["agent_id"])
	if fields.get("histories", false):
		_forget_turns(session)


func _note_agent(session: Dictionary, made: Dictionary, fields: Dictionary) -> String:
	var own = _own_id(made["agent_id"])
	var turns = fields.get("history", {"turns": []})["turns"].duplicate()
	for memory in made.get("memories", []):
		for node in fields.get("graph", {"nodes": []})["nodes"]:
			if memory.has("secret") and node["id"] == memory["node"]:
				if not node.has("params"):
					node["params"] = {}
				node["params"]["secret"] = memory["secret"]
	session["agents"][own] = {"id": made["agent_id"], "fields": fields, "turns": turns, "kept": _id_of(made.get("kept"))}
	return own


func _own_id(id: String) -> String:
	return id if _connections == 1 else "%s~%d" % [id, _connections]


# Applies an update, or a forgetting, to the fields that make a storage.
func _change(storage: Dictionary, change: Dictionary) -> void:
	if storage.has("config_path"):
		return
	var records = {}
	for text in storage.get("strings", []):
		records[str(records.size())] = {"id": str(records.size()), "text": text}
	for record in storage.get("records", []):
		records[record["id"]] = record
	for id in Array(change.get("remove", [])) + Array(change.get("ids", [])):
		records.erase(id)
	for record in change.get("add", []) + change.get("replace", []):
		records.erase(record["id"])  # a replaced record goes to the end, as in the storage
		records[record["id"]] = record
	storage.erase("strings")
	storage["records"] = records.values()


func _remember_turn(request: Request, complete: Dictionary) -> void:
	var session = _sessions.get(request.session)
	var agent = null if session == null else session["agents"].get(request.fields.get("agent_id"))
	var status = complete.get("status")
	if agent == null or status == "failed" or (status == "cancelled" and complete.get("text") == "") or request.fields.get("dry_run", false):
		return
	var turn = {"text": request.fields["text"], "reply": complete["text"]}
	if complete.has("action"):
		turn["action"] = {"name": complete["action"]["name"], "arguments": complete["action"]["arguments"]}
	if request.fields.has("action_result"):
		turn["action_result"] = request.fields["action_result"]
	agent["turns"].append(turn)
	if agent["turns"].size() > MAX_TURNS:
		agent["turns"].pop_front()


# Turns were removed from histories: they must not come back with another connection.
func _forget_turns(session: Dictionary) -> void:
	for agent in session["agents"].values():
		var exported = yield(_ask("ExportAgentRequest", session["id"], {"agent_id": agent["id"]}), "completed")
		if exported["type"] != "Error":
			agent["turns"] = exported["history"]["turns"]
