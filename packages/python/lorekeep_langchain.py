"""A storage of a lorekeep server as a vector store of LangChain for Python, over the server's HTTP door."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore


class LorekeepVectorStore(VectorStore):
    """The server embeds texts. Adding and deleting need a writable storage."""

    def __init__(self, storage: str, url: str = "http://127.0.0.1:9103", api_key: str | None = None) -> None:
        self._records = f"{url}/v1/storages/{urllib.parse.quote(storage, safe='')}/records"
        self._search = f"{url}/v1/search"
        self._storage = storage
        self._key = api_key

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict] | None = None,
        *,
        ids: list[str] | None = None,
        **_: Any,
    ) -> list[str]:
        given = list(texts)
        chosen = [(ids[at] if ids else None) or str(uuid.uuid4()) for at in range(len(given))]
        add = [
            {"id": chosen[at], "text": text, "metadata": metadatas[at] if metadatas else {}}
            for at, text in enumerate(given)
        ]
        if add:
            self._post(self._records, {"add": add, "upsert": True})
        return chosen

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool | None:
        """Without ids: deletes all."""
        if ids is None:
            page = self._post(f"{self._records}/list", {"limit": 1000})
            ids = [record["id"] for record in page["records"]]
        found = [document.id for document in self.get_by_ids(list(dict.fromkeys(ids)))]
        if found:
            self._post(self._records, {"remove": found})
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        if not ids:
            return []
        reply = self._post(f"{self._records}/get", {"ids": list(ids)})
        return [self._document(record) for record in reply["records"]]

    def similarity_search(self, query: str, k: int = 4, **fields: Any) -> list[Document]:
        return [document for document, _ in self.similarity_search_with_score(query, k, **fields)]

    def similarity_search_with_score(self, query: str, k: int = 4, **fields: Any) -> list[tuple[Document, float]]:
        """`fields`: filter, mode and the other fields of a search."""
        reply = self._post(self._search, {**fields, "name": self._storage, "text": query, "top_k": k})
        return [(self._document(hit), hit["score"]) for hit in reply["hits"]]

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict] | None = None,
        *,
        ids: list[str] | None = None,
        **fields: Any,
    ) -> LorekeepVectorStore:
        store = cls(**fields)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @staticmethod
    def _document(record: dict) -> Document:
        return Document(id=record["id"], page_content=record["text"], metadata=record.get("metadata", {}))

    def _post(self, url: str, body: dict) -> dict:
        headers = {"content-type": "application/json"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]["message"]) from error
