# A client of the lorekeep server for Godot 3: a node that works in _process(), and never blocks. Use:
#
#	var client = preload("lorekeep.gd").new()
#	add_child(client)
#	client.open("127.0.0.1", 9100)
#	var reply = yield(client.create_session(), "completed")
#
# A reply is a Dictionary, as docs/reference/protocol.md describes it; of a refused request, one of the type "Error".
extends Node

# A server has greeted; with `reconnect`, everything is made again.
signal connected(hello)
# The connection is gone, and its sessions with it. open() may be called again.
signal lost(message)
# The connection is gone, and another one is tried.
signal reconnecting(message)

# A request that was sent.
class Request:
	extends Reference

	# Once: the reply, an Error of the server, or one with the code 0 when the connection is lost or time is over.
	signal completed(reply)
	# Of a turn, a stream of audio or a download: each frame as it comes.
	signal event(frame)
	# Once: the TurnComplete or SpeechClosed, or an Error with the code 0 when the connection is lost.
	signal ended(frame)

	var id = 0
	var reply = null
	var deadline = 0
	var type = ""
	var session = ""
	var fields = {}

	func is_completed() -> bool:
		return reply != null


const MAX_DEPTH = 128
# Of one agent, as many as the server imports.
const MAX_TURNS = 1000
const READ_BYTES = 1 << 18

# To be set before open().
var access_token = ""
# A server that sends longer frames is left.
var max_frame_bytes = 64 * 1024 * 1024
# For the connection and the greeting, between two parts of a frame, and for a reply (0: any time).
var greeting_ms = 10000
var stall_ms = 30000
var request_ms = 0
# Replaces a lost connection and makes its sessions, storages and agents again: the ids that you hold stay valid. What was under
# way completes with an Error of the code 0; what is asked meanwhile waits.
var reconnect = false
var reconnect_attempts = 10
var reconnect_min_ms = 100
var reconnect_max_ms = 5000

var _host = ""
var _port = 0
var _may_replace = false
var _peer = null
var _greeted = false
var _began = 0
var _last_bytes = 0
var _in = PoolByteArray()
var _out = PoolByteArray()
var _next_id = 1
var _requests = {}
var _turns = {}
var _streams = {}
# While a lost connection is replaced: when the next attempt begins, attempts so far, and requests that wait.
var _replacing = false
var _restoring = false
var _retry_at = 0
var _attempts = 0
var _waiting = []
# Connections so far. Ids of a later one get it as a suffix, for a server that has started again counts from 1 again.
var _connections = 0
var _sessions = {}
var _server = null
var _server_pid = 0
var _ready_file = ""
var _texts = RegEx.new()


func _init() -> void:
	# The connection lives on while the game pauses.
	pause_mode = PAUSE_MODE_PROCESS
	randomize()
	_texts.compile("\"[^\"\\\\]*(?:\\\\.[^\"\\\\]*)*\"")


# Begins to connect. Requests may be made at once.
func open(host: String = "127.0.0.1", port: int = 9100) -> void:
	close()
	_host = host
	_port = port
	_connect()


# Ends the connection, and with it its sessions, and attempts to replace it. Twice is fine.
func close() -> void:
	var was_open = not is_lost()
	_replacing = false
	_may_replace = false
	if _peer != null:
		_lose("the connection was closed")
	elif was_open:
		_give_up("the connection was closed")


# Whether there is no connection, and none is tried.
func is_lost() -> bool:
	return _peer == null and not _replacing


func _connect() -> void:
	_peer = StreamPeerTCP.new()
	_began = OS.get_ticks_msec()
	if _peer.connect_to_host(_host, _port) != OK:
		_lose("nothing answers at %s:%d" % [_host, _port])


func _process(_delta: float) -> void:
	poll()


# Sends and receives what it can without waiting, and emits signals. _process() calls it.
func poll() -> void:
	_look_at_server()
	var now = OS.get_ticks_msec()
	if _peer == null and _replacing and now >= _retry_at:
		_connect()
	if _peer == null:
		return
	var status = _peer.get_status()
	if status == StreamPeerTCP.STATUS_CONNECTED:
		_receive_all()
		if _peer != null and _greeted:
			_flush()
	elif status != StreamPeerTCP.STATUS_CONNECTING:
		_lose("the connection failed")
	if _peer != null and not _greeted and now - _began > greeting_ms:
		_lose("the server did not greet in time")
	elif _peer != null and _in.size() > 0 and now - _last_bytes > stall_ms:
		_lose("the rest of a frame did not come in time")
	for request in _requests.values():
		if request.deadline > 0 and now > request.deadline:
			_requests.erase(request.id)
			_complete(request, _error("no reply came in time"))


# Sends samples of a stream, within its credit. `sequence`: 0, then 1 more for each. Those of a stream that has ended, perhaps with an
# earlier connection, are dropped.
func send_audio(stream: int, sequence: int, samples: PoolByteArray) -> void:
	if not _streams.has(stream):
		return
	var payload = PoolByteArray()
	for word in [1, stream, sequence]:
		payload.append_array(_big_endian(word))
	payload.append_array(samples)
	_enqueue(2, payload)


func _send(type: String, session_id: String, fields: Dictionary) -> Request:
	var request = Request.new()
	request.type = type
	request.session = session_id
	request.fields = fields.duplicate(true) if reconnect else fields
	if request_ms > 0:
		request.deadline = OS.get_ticks_msec() + request_ms
	request.id = _next_id
	_next_id += 1
	if is_lost():
		# Not now: the caller does not listen yet.
		call_deferred("_complete", request, _error("there is no connection"))
	elif _replacing:
		_waiting.append(request)
	else:
		_post(request)
	return request


func _post(request: Request) -> Request:
	var frame = request.fields.duplicate()
	var session = _sessions.get(request.session)
	if session != null and session["broken"] != null:
		call_deferred("_complete", request, session["broken"])
		return request
	frame["type"] = request.type
	frame["id"] = request.id
	if request.session != "":
		frame["session_id"] = request.session if session == null else session["id"]
	if session != null and session["agents"].has(frame.get("agent_id")):
		frame["agent_id"] = session["agents"][frame["agent_id"]]["id"]
	if request.type == "CreateSessionRequest" and access_token != "" and not frame.has("access_token"):
		frame["access_token"] = access_token
	_requests[request.id] = request
	_enqueue(1, _write(frame).to_utf8())
	return request


func _enqueue(kind: int, payload: PoolByteArray) -> void:
	_out.append(kind)
	_out.append_array(_big_endian(payload.size()))
	_out.append_array(payload)


func _big_endian(word: int) -> PoolByteArray:
	return PoolByteArray([(word >> 24) & 255, (word >> 16) & 255, (word >> 8) & 255, word & 255])


# Nothing is sent before the greeting: the other end may be no lorekeep server.
func _flush() -> void:
	if _out.size() == 0:
		return
	var sent = _peer.put_partial_data(_out)
	if sent[0] != OK:
		_lose("the connection failed while a request was sent")
	elif sent[1] == _out.size():
		_out = PoolByteArray()
	elif sent[1] > 0:
		_out = _out.subarray(sent[1], _out.size() - 1)


func _receive_all() -> void:
	var available = _peer.get_available_bytes()
	if available <= 0:
		# Only a read tells that the server has closed the connection.
		var probe = _peer.get_partial_data(1)
		if probe[0] != OK:
			_lose("the server closed the connection")
			return
		if probe[1].size() == 0:
			return
		_in.append_array(probe[1])
	else:
		var got = _peer.get_partial_data(int(min(available, READ_BYTES)))
		if got[0] != OK:
			_lose("the connection failed")
			return
		_in.append_array(got[1])
	_last_bytes = OS.get_ticks_msec()
	_cut_frames()


func _cut_frames() -> void:
	var at = 0
	while _peer != null and _in.size() - at >= 5:
		var length = (_in[at + 1] << 24) | (_in[at + 2] << 16) | (_in[at + 3] << 8) | _in[at + 4]
		if _in[at] != 1:
			_lose("the server sent bytes that are no frame")
			return
		if length > max_frame_bytes:
			_lose("the server sent a frame of %d bytes" % length)
			return
		if _in.size() - at - 5 < length:
			break
		var frame = null
		if length > 0:
			frame = _parse(_in.subarray(at + 5, at + 4 + length))
		at += 5 + length
		if typeof(frame) != TYPE_DICTIONARY or not _hear(frame):
			_lose("the server sent a frame that breaks the protocol")
			return
	if _peer != null and at > 0:
		_in = _in.subarray(at, _in.size() - 1) if at < _in.size() else PoolByteArray()


# False: the frame breaks the protocol.
func _hear(frame: Dictionary) -> bool:
	var type = frame.get("type")
	var reply_to = frame.get("reply_to")
	if typeof(type) != TYPE_STRING:
		return false
	if not _greeted:
		if type != "Hello" or frame.get("protocol") != PROTOCOL or frame.get("server") != "lorekeep":
			return false
		_greeted = true
		_connections += 1
		_may_replace = reconnect
		if _replacing:
			_make_again(frame)
		else:
			emit_signal("connected", frame)
	elif type == "Error" and not (typeof(frame.get("code")) == TYPE_REAL and typeof(frame.get("message")) == TYPE_STRING):
		return false
	elif type == "Error" and reply_to == null:
		_lose("the server ended the connection: " + frame["message"])
	elif type in ["TurnText", "TurnForget", "TurnComplete"]:
		_tell(_turns, frame.get("turn_id"), frame, type == "TurnComplete")
	elif type == "PullProgress":
		_tell(_requests, _id_of(frame.get("request_id")), frame, false)
	elif frame.has("stream") and type != "OpenSpeechResponse":
		var stream = int(frame["stream"])
		if type == "TurnStarted" and _streams.has(stream):
			_turns[frame.get("turn_id")] = _streams[stream]
			_streams[stream].fields["text"] = frame.get("text", "")
		_tell(_streams, stream, frame, type == "SpeechClosed")
	else:
		var request = _requests.get(_id_of(reply_to))
		if request != null:
			_answer(request, frame)
	return true


func _id_of(given) -> int:
	return int(given) if typeof(given) == TYPE_REAL else 0


func _tell(listeners: Dictionary, key, frame: Dictionary, is_last: bool) -> void:
	var request = listeners.get(key)
	if request == null:
		return
	if is_last:
		listeners.erase(key)
	if frame["type"] == "TurnComplete":
		_remember_turn(request, frame)
	request.emit_signal("event", frame)
	if is_last:
		request.emit_signal("ended", frame)


func _answer(request: Request, frame: Dictionary) -> void:
	_requests.erase(request.id)
	# The first event may be the next frame.
	if frame["type"] == "TurnStarted":
		_turns[frame.get("turn_id")] = request
	if frame["type"] == "OpenSpeechResponse":
		_streams[_id_of(frame.get("stream"))] = request
	if reconnect and not _restoring and frame["type"] != "Error":
		_note(request, frame)
	_complete(request, frame)


func _complete(request: Request, frame: Dictionary) -> void:
	request.reply = frame
	request.emit_signal("completed", frame)


func _error(message: String) -> Dictionary:
	return {"type": "Error", "code": 0.0, "name": "ConnectionLost", "message": message, "details": {}}


func _lose(message: String) -> void:
	if _peer == null:
		return
	_peer.disconnect_from_host()
	_peer = null
	_greeted = false
	_in = PoolByteArray()
	_out = PoolByteArray()
	var requests = _requests.values()
	var started = {}
	for request in _turns.values() + _streams.values():
		started[request] = true
	_requests = {}
	_turns = {}
	_streams = {}
	# First: who hears of the loss and asks again waits for the next connection.
	if _may_replace:
		_try_again(message)
	else:
		_replacing = false
	for request in requests:
		_complete(request, _error(message))
	for request in started:
		request.emit_signal("ended", _error(message))
	if not _replacing:
		_give_up(message)
