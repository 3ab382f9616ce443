# What every client is proven to do, by the client for Godot: LOREKEEP_ARGS="PORT CUTTABLE_PORT NAME=PORT..." godot3-server -s scenarios.gd
extends SceneTree

const Lorekeep = preload("res://lorekeep.gd")
const TALKER = {"nodes": [{"id": "talker", "type": "generate"}]}

var weird = "öfter 日本語 🐝 \"quoted\" back\\slash\ttab" + char(0x2028) + char(11) + " İıſ"
var client = null
var events = []
var failed = false
# Scenarios that ran to their end: an error of a script ends its function, and nothing else.
var ends = 0
var expected_ends = 0


func _init() -> void:
	call_deferred("run")


func check(condition: bool, what) -> void:
	if not condition:
		print("not ok: ", what)
		failed = true


func passed(scenario: String) -> void:
	expected_ends += 1
	check(ends == expected_ends, scenario + " did not end")
	if not failed:
		print("ok ", scenario)


func connect_to(port: int) -> Node:
	var made = Lorekeep.new()
	root.add_child(made)
	made.open("127.0.0.1", port)
	return made


func run() -> void:
	var args = Array(OS.get_environment("LOREKEEP_ARGS").split(" "))
	client = connect_to(int(args[0]))
	var hello = yield(client, "connected")
	check(hello["server"] == "lorekeep", hello)
	for scenario in [
		"creates a session",
		"searches a storage of records",
		"streams a turn",
		"cancels a turn",
		"tells errors by code",
		"updates and forgets records",
		"sends and receives a large frame",
		"keeps text that is not ASCII",
		"keeps integers of 64 bits",
		"runs two turns at once",
		"throttles",
		"forgets what is confirmed",
	]:
		var made = yield(client.create_session(), "completed")
		yield(call(scenario.to_lower().replace(" ", "_"), made["session_id"]), "completed")
		passed(scenario)
	client.queue_free()
	yield(says_that_the_server_went_away(int(args[1])), "completed")
	passed("says that the server went away")
	yield(makes_everything_again(int(args[1])), "completed")
	passed("makes everything again on another connection")
	yield(starts_and_ends_a_server(), "completed")
	passed("starts and ends a server")
	for index in range(2, args.size()):
		var given = args[index].split("=")
		yield(hostile(given[0], int(given[1])), "completed")
		passed("hostile " + given[0])
	quit(1 if failed else 0)


func start(session: String, agent: String, text: String):
	return client.start_turn(session, {"agent_id": agent, "text": text})


func make_agent(session: String):
	return client.create_agent(session, {"graph": TALKER})


func make(session: String, records: Array, fields: Array):
	var storage = {"name": "docs", "records": records, "embedding_model": "tiny"}
	if fields.size() > 0:
		storage["fields"] = fields
	return client.create_embedded_string_storage(session, storage)


func hear(frame: Dictionary) -> void:
	events.append(frame)


func creates_a_session(session: String) -> void:
	var status = yield(client.status(), "completed")
	check(status["sessions"] >= 1, status)
	var ended = yield(client.destroy_session(session), "completed")
	check(ended["type"] == "Ack", ended)
	ends += 1


func searches_a_storage_of_records(session: String) -> void:
	var bees = {"id": "b", "text": "Honey bees dance in the hive", "metadata": {"year": 1999}}
	var ice = {"id": "g", "text": "Glaciers grind valleys", "metadata": {"year": 2005}}
	yield(make(session, [bees, ice], [{"name": "year", "type": "int", "optional": true}]), "completed")
	var search = {"name": "docs", "text": "bees", "mode": "lexical", "top_k": 1}
	var found = yield(client.search(session, search), "completed")
	check(found["hits"].size() == 1 and found["hits"][0]["id"] == "b" and found["hits"][0]["metadata"]["year"] == 1999, found)
	var later = {"name": "docs", "text": "bees", "threshold": 1.5, "filter": {">": [{"knowledge": "year"}, 2000]}}
	found = yield(client.search(session, later), "completed")
	check(found["hits"].size() == 1 and found["hits"][0]["id"] == "g" and fmod(found["hits"][0]["distance"], 1) > 0, found)
	ends += 1


func streams_a_turn(session: String) -> void:
	var agent = yield(make_agent(session), "completed")
	events = []
	var turn = start(session, agent["agent_id"], "hello")
	turn.connect("event", self, "hear")
	var started = yield(turn, "completed")
	check(started["type"] == "TurnStarted", started)
	var complete = yield(turn, "ended")
	var text = ""
	for event in events:
		if event["type"] == "TurnText":
			text += event["text"]
	check(complete["status"] == "completed" and complete["text"] == "one two three" and text == "one two three", complete)
	ends += 1


func cancels_a_turn(session: String) -> void:
	var agent = yield(make_agent(session), "completed")
	var turn = start(session, agent["agent_id"], "hang")
	var started = yield(turn, "completed")
	yield(turn, "event")
	var cancelled = yield(client.cancel_turn(session, {"turn_id": started["turn_id"]}), "completed")
	check(cancelled["type"] == "Ack", cancelled)
	# The end may have come before the Ack.
	turn = start(session, agent["agent_id"], "hang")
	started = yield(turn, "completed")
	client.cancel_turn(session, {"turn_id": started["turn_id"]})
	var complete = yield(turn, "ended")
	check(complete["status"] == "cancelled", complete)
	ends += 1


func tells_errors_by_code(session: String) -> void:
	var unknown = yield(client.search(session, {"name": "nothing", "text": "x"}), "completed")
	check(unknown["type"] == "Error" and unknown["code"] == Lorekeep.Code.StorageNotFound, unknown)
	check(Lorekeep.REMEDIES[int(unknown["code"])] != "", unknown)
	var field = yield(client.search(session, {"name": "nothing", "text": "x", "top_k": 0}), "completed")
	check(field["code"] == Lorekeep.Code.InvalidField and field["details"]["path"] == "top_k", field)
	var pong = yield(client.ping(), "completed")
	check(pong["type"] == "Pong", pong)
	ends += 1


func updates_and_forgets_records(session: String) -> void:
	var storage = {"name": "docs", "strings": ["a bee", "a glacier"], "embedding_model": "tiny"}
	yield(client.create_embedded_string_storage(session, storage), "completed")
	var update = {"name": "docs", "add": [{"id": "x", "text": "a loaf"}], "remove": ["0"]}
	var changed = yield(client.update_records(session, update), "completed")
	check(changed["added"] == 1 and changed["removed"] == 1 and changed["record_count"] == 2, changed)
	update.erase("remove")
	var refused = yield(client.update_records(session, update), "completed")
	check(refused["code"] == 8007, refused)
	var forgotten = yield(client.forget_records(session, {"name": "docs", "ids": ["x"]}), "completed")
	check(forgotten["forgotten"] == 1, forgotten)
	var got = yield(client.get_records(session, {"name": "docs", "ids": ["1", "x"]}), "completed")
	check(got["records"].size() == 1 and got["missing"] == ["x"], got)
	ends += 1


func sends_and_receives_a_large_frame(session: String) -> void:
	var records = []
	for index in range(16):
		records.append({"id": str(index), "text": "bees", "metadata": {"blob": ("%dé" % index).repeat(100000)}})
	yield(make(session, records, [{"name": "blob", "type": "string", "optional": true, "filterable": false}]), "completed")
	var listed = yield(client.list_records(session, {"name": "docs"}), "completed")
	check(listed["records"].size() == 16, listed.keys())
	for record in listed["records"]:
		check(record["metadata"]["blob"] == records[int(record["id"])]["metadata"]["blob"], record["id"])
	ends += 1


func keeps_text_that_is_not_ascii(session: String) -> void:
	yield(make(session, [{"id": weird, "text": weird}], []), "completed")
	var found = yield(client.search(session, {"name": "docs", "text": "öfter", "mode": "lexical"}), "completed")
	check(found["hits"][0]["id"] == weird and found["hits"][0]["text"] == weird, found)
	var agent = yield(make_agent(session), "completed")
	var complete = yield(start(session, agent["agent_id"], "echo " + weird), "ended")
	check(complete["text"] == weird, complete)
	ends += 1


func keeps_integers_of_64_bits(session: String) -> void:
	var values = [9223372036854775807, 9223372036854775806, -9223372036854775807, 9007199254740993]
	var records = []
	for value in values:
		records.append({"id": str(value), "text": "bees", "metadata": {"n": value}})
	yield(make(session, records, [{"name": "n", "type": "int", "optional": true}]), "completed")
	for value in values:
		var search = {"name": "docs", "text": "bees", "filter": {"==": [{"knowledge": "n"}, value]}}
		var found = yield(client.search(session, search), "completed")
		check(found["hits"].size() == 1 and found["hits"][0]["id"] == str(value) and found["hits"][0]["metadata"]["n"] == str(value), found)
	ends += 1


func runs_two_turns_at_once(session: String) -> void:
	var slow = yield(make_agent(session), "completed")
	var quick = yield(make_agent(session), "completed")
	events = []
	var hanging = start(session, slow["agent_id"], "hang")
	hanging.connect("ended", self, "hear")
	var started = yield(hanging, "completed")
	var complete = yield(start(session, quick["agent_id"], "hello"), "ended")
	check(complete["text"] == "one two three" and events == [], complete)
	client.cancel_turn(session, {"turn_id": started["turn_id"]})
	complete = yield(hanging, "ended")
	check(complete["status"] == "cancelled", complete)
	ends += 1


func throttles(_session: String) -> void:
	for level in [0.5, 0]:
		yield(client.report_throttle({"level": level}), "completed")
		var status = yield(client.status(), "completed")
		check(status["throttle"] == level, status)
	ends += 1


func forgets_what_is_confirmed(session: String) -> void:
	var nodes = [
		{"id": "talker", "type": "generate", "params": {"memory": "keep"}},
		{"id": "keep", "type": "remember", "params": {"storage": "memory", "embedding_model": "tiny", "condition": " "}},
	]
	var agent = yield(client.create_agent(session, {"graph": {"nodes": nodes}}), "completed")
	yield(client.update_records(session, {"name": "memory", "add": [{"id": "bees", "text": "Bees dance."}]}), "completed")
	var turn = start(session, agent["agent_id"], "forget Bees dance")
	var asked = yield(turn, "event")
	while asked["type"] != "TurnForget":
		asked = yield(turn, "event")
	client.confirm_forget(session, {"forget_id": asked["forget_id"], "confirm": true, "ids": ["bees"]})
	var complete = yield(turn, "ended")
	check(complete["memory"][0]["forget"] == "confirmed" and complete["memory"][0]["forgotten"] == ["bees"], complete)
	ends += 1


func makes_everything_again(port: int) -> void:
	client = Lorekeep.new()
	client.reconnect = true
	client.reconnect_min_ms = 10
	root.add_child(client)
	events = []
	client.connect("reconnecting", self, "hear_state", ["reconnecting"])
	client.connect("connected", self, "hear_state", ["connected"])
	client.open("127.0.0.1", port)
	var dropped = yield(client.create_session(), "completed")
	yield(client.destroy_session(dropped["session_id"]), "completed")
	var session = yield(client.create_session(), "completed")["session_id"]
	yield(client.create_embedded_string_storage(session, {"name": "docs", "strings": ["a bee", "a glacier"], "embedding_model": "tiny"}), "completed")
	yield(client.update_records(session, {"name": "docs", "add": [{"id": "x", "text": "a loaf"}]}), "completed")
	yield(client.forget_records(session, {"name": "docs", "ids": ["0"]}), "completed")
	var agent = yield(make_agent(session), "completed")["agent_id"]
	var other = yield(make_agent(session), "completed")["agent_id"]
	var complete = yield(start(session, agent, "hello"), "ended")
	check(complete["status"] == "completed", complete)
	for _round in range(2):
		var turn = start(session, other, "hang")
		yield(turn, "event")
		print("DROP")
		var ended = yield(turn, "ended")
		check(ended["type"] == "Error" and ended["code"] == 0 and not client.is_lost(), ended)
		complete = yield(start(session, agent, "recall"), "ended")
	check(complete["text"] == "hello|recall|recall", complete)
	var listed = yield(client.list_records(session, {"name": "docs"}), "completed")
	var texts = []
	for record in listed["records"]:
		texts.append(record["id"] + record["text"])
	check(texts == ["1a glacier", "xa loaf"], listed)
	check(events == ["connected", "reconnecting", "connected", "reconnecting", "connected"], events)
	# A session of a later connection is told from one of the first with the same id.
	var made = yield(client.create_session(), "completed")
	check(made["session_id"].ends_with("~3"), made)
	made = yield(client.destroy_session(made["session_id"]), "completed")
	check(made["type"] == "Ack", made)
	client.close()
	check(client.is_lost(), "it is closed")
	client.queue_free()
	ends += 1


# Signals of connections, with and without an argument.
func hear_state(_argument, state: String) -> void:
	events.append(state)


func starts_and_ends_a_server() -> void:
	client = Lorekeep.new()
	root.add_child(client)
	var options = {
		"program": OS.get_environment("CHILD_NODE"),
		"arguments": [OS.get_environment("CHILD_PROGRAM")],
		"config": OS.get_environment("CHILD_CONFIG"),
		"data_dir": OS.get_environment("CHILD_DATA"),
		"start_ms": 300000,
	}
	var started = yield(client.start_server(options), "completed")
	check(started.has("port") and client.is_server_running(), started)
	var made = yield(client.create_session(), "completed")
	check(made["type"] == "CreateSessionResponse", made)
	client.stop_server()
	yield(client, "lost")
	# A program is no config; the second does not exist.
	for wrong in [OS.get_environment("CHILD_PROGRAM"), "absent.json"]:
		options["config"] = wrong
		var failed = yield(client.start_server(options), "completed")
		check(failed["type"] == "Error" and failed["code"] == 0 and wrong in failed["message"], failed)
		check(not client.is_server_running(), failed)
	client.queue_free()
	ends += 1


func says_that_the_server_went_away(port: int) -> void:
	client = connect_to(port)
	var made = yield(client.create_session(), "completed")
	var agent = yield(make_agent(made["session_id"]), "completed")
	var turn = start(made["session_id"], agent["agent_id"], "hang")
	yield(turn, "event")
	print("DROP")
	var ended = yield(turn, "ended")
	check(ended["type"] == "Error" and ended["code"] == 0 and client.is_lost(), ended)
	var refused = yield(client.ping(), "completed")
	check(refused["type"] == "Error" and refused["code"] == 0, refused)
	client.open("127.0.0.1", port)
	made = yield(client.create_session(), "completed")
	check(made["type"] == "CreateSessionResponse", made)
	client.queue_free()
	ends += 1


func hostile(name: String, port: int) -> void:
	var other = Lorekeep.new()
	other.greeting_ms = 300 if name == "silent" else 20000
	other.stall_ms = 200 if name == "stall" else 20000
	other.request_ms = 300 if name == "mute" else 20000
	root.add_child(other)
	other.open("127.0.0.1", port)
	var reply = yield(other.ping(), "completed")
	check(reply["type"] == ("Pong" if name == "drip" else "Error"), [name, reply])
	check(other.is_lost() != (name in ["drip", "mute"]), [name, reply])
	other.queue_free()
	ends += 1
