"""The client that openapi-python-client makes from /openapi.json."""

import importlib
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from types import ModuleType

import pytest

pytest.importorskip("openapi_python_client")
URL = os.environ["LOREKEEP_URL"]
CHAT_MODEL = os.environ.get("LOREKEEP_CHAT_MODEL")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ModuleType]:
    """Makes the client, and returns a function that imports its modules by name."""
    folder = tmp_path_factory.mktemp("openapi") / "lorekeep_made"
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--url", f"{URL}/openapi.json"]
    subprocess.run([*command, "--output-path", folder, "--meta", "none"], check=True, capture_output=True)
    sys.path.insert(0, str(folder.parent))
    return lambda name: importlib.import_module(f"{folder.name}.{name}")


@pytest.fixture
def call(made: Callable[[str], ModuleType]) -> Callable:
    """Makes a request to an operation."""
    client = made("client").Client(base_url=URL)
    return lambda name, *parts, **fields: made(f"api.default.{name}").sync_detailed(*parts, client=client, **fields)


def test_a_client_made_from_the_document_searches_and_names_errors(made, call) -> None:
    models = made("models")
    reply = call("search", body=models.SearchBody(text="Who services the telescope?", name="docs", top_k=1))
    assert reply.status_code == 200
    (hit,) = reply.parsed.hits
    assert hit.rank == 1
    assert call("get_record", "docs", hit.id).parsed.text == hit.text
    refused = call("search", body=models.SearchBody(text="x", name="dogs"))
    assert refused.status_code == 404
    assert refused.parsed.error.code == "storage_not_found"
    assert refused.parsed.error.lorekeep.code == 8005
    assert "docs" in refused.parsed.error.message


def test_every_operation_of_the_document_is_in_the_client(made) -> None:
    with urllib.request.urlopen(f"{URL}/openapi.json") as reply:
        paths = json.load(reply)["paths"]
    operations = [one["operationId"] for methods in paths.values() for one in methods.values()]
    assert len(operations) > 15
    for operation in operations:
        assert callable(made(f"api.default.{operation}").sync_detailed)


def test_it_changes_records(made, call) -> None:
    models = made("models")
    body = models.PutRecordBody(text="The ferry leaves on Tuesdays.")
    put = call("put_record", "docs", "ferry/gozo", body=body)
    assert (put.status_code, put.parsed.added) == (200, 1)
    found = call("get_record", "docs", "ferry/gozo").parsed
    assert (found.id, found.text) == ("ferry/gozo", "The ferry leaves on Tuesdays.")
    got = call("get_records", "docs", body=models.GetRecordsBody(ids=["ferry/gozo", "none"])).parsed
    assert ([record.id for record in got.records], got.missing) == (["ferry/gozo"], ["none"])
    late = call("remove_record", "docs", "ferry/gozo", if_version=put.parsed.version - 1)
    assert (late.status_code, late.parsed.error.code) == (409, "version_mismatch")
    assert call("remove_record", "docs", "ferry/gozo", if_version=put.parsed.version).parsed.removed == 1
    listed = call("list_records", "docs", limit=1, offset=1).parsed
    assert (len(listed.records), listed.total) == (1, call("get_storage", "docs").parsed.records)


def test_it_embeds_and_lists_models(made, call) -> None:
    body = made("models").CreateEmbeddingsBody(model="tiny", input_=["bees dance", "copper"])
    reply = call("create_embeddings", body=body).parsed
    assert [len(each.embedding) for each in reply.data] == [256, 256]
    assert {"docs", "tiny"} <= {model.id for model in call("list_models").parsed.data}


@pytest.mark.skipif(CHAT_MODEL is None, reason="no language model")
def test_it_chats(made, call) -> None:
    models = made("models")
    body = {"model": CHAT_MODEL, "messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 8}
    given = models.CreateChatCompletionBody.from_dict(body)
    background = models.CreateChatCompletionXLorekeepClass.BACKGROUND
    reply = call("create_chat_completion", body=given, x_lorekeep_class=background).parsed
    assert len(reply.choices[0].message.content) > 0
    assert reply.usage.completion_tokens > 0
    answered = call("create_response", body=models.CreateResponseBody.from_dict({"model": CHAT_MODEL, "input": "Hi."}))
    assert answered.parsed.output[0].content[0].text
