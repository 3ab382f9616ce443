"""LangChain's standard tests against a server. `npm run test:clients -- python` runs them with LOREKEEP_PYTHON."""

import os
from collections.abc import Generator

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_openai import OpenAIEmbeddings
from langchain_tests.integration_tests import EmbeddingsIntegrationTests, VectorStoreIntegrationTests
from lorekeep_langchain import LorekeepVectorStore

URL = os.environ["LOREKEEP_URL"]


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Generator[VectorStore, None, None]:
        store = LorekeepVectorStore("python", URL)
        store.delete()
        yield store
        store.delete()


class TestEmbeddings(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return OpenAIEmbeddings

    @property
    def embedding_model_params(self) -> dict:
        # The door takes texts, and not the ids of another model's tokens.
        return {"model": "tiny", "base_url": f"{URL}/v1", "api_key": "unused", "check_embedding_ctx_length": False}


def test_errors_have_the_words_of_the_server() -> None:
    with pytest.raises(ValueError, match='did you mean "docs"'):
        LorekeepVectorStore("dacs", URL).similarity_search("x")
