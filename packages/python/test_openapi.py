"""The client that openapi-python-client makes from /openapi.json."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("openapi_python_client")
URL = os.environ["LOREKEEP_URL"]


def made_client(folder: Path):
    """Makes the client in the folder, and returns its module of one operation."""
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--url", f"{URL}/openapi.json"]
    subprocess.run([*command, "--output-path", folder, "--meta", "none"], check=True, capture_output=True)
    sys.path.insert(0, str(folder.parent))
    return lambda name: importlib.import_module(f"{folder.name}.{name}")


def test_a_client_made_from_the_document_searches_and_names_errors(tmp_path: Path) -> None:
    module = made_client(tmp_path / "lorekeep_made")
    client = module("client").Client(base_url=URL)
    models = module("models")
    search = module("api.default.search").sync_detailed
    reply = search(client=client, body=models.SearchBody(text="Who services the telescope?", name="docs", top_k=1))
    assert reply.status_code == 200
    (hit,) = reply.parsed.hits
    assert hit.rank == 1
    record = module("api.default.get_record").sync_detailed("docs", hit.id, client=client)
    assert record.parsed.text == hit.text
    refused = search(client=client, body=models.SearchBody(text="x", name="dogs"))
    assert refused.status_code == 404
    assert refused.parsed.error.code == "storage_not_found"
    assert "docs" in refused.parsed.error.message
