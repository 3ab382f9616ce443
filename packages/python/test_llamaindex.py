"""LlamaIndex for Python over the API of OpenAI. `npm run test:clients -- python` runs this with LOREKEEP_PYTHON."""

import os

import pytest

llms = pytest.importorskip("llama_index.llms.openai_like")
embeddings = pytest.importorskip("llama_index.embeddings.openai_like")
core = pytest.importorskip("llama_index.core")

URL = os.environ["LOREKEEP_URL"]
MODEL = os.environ.get("LOREKEEP_CHAT_MODEL")
EMBEDDING = embeddings.OpenAILikeEmbedding(model_name="tiny", api_base=f"{URL}/v1", api_key="unused")
needs_model = pytest.mark.skipif(MODEL is None, reason="there is no language model")


def llm(model: str, max_tokens: int = 32, **given: object) -> llms.OpenAILike:
    given |= {"api_base": f"{URL}/v1", "api_key": "unused", "is_chat_model": True, "max_retries": 0}
    return llms.OpenAILike(model=model, max_tokens=max_tokens, **given)


def test_an_index_finds_by_the_embeddings_of_the_server() -> None:
    documents = [core.Document(text="bees dance in the hive"), core.Document(text="flour and water")]
    index = core.VectorStoreIndex.from_documents(documents, embed_model=EMBEDDING)
    (best,) = index.as_retriever(similarity_top_k=1).retrieve("bees")
    assert "hive" in best.text


@needs_model
def test_a_model_completes_chats_and_streams() -> None:
    own = llm(MODEL, temperature=0)
    assert own.complete("Say hello.").text
    message = core.llms.ChatMessage(role="user", content="Say hello.")
    whole = own.chat([message]).message.content
    assert "".join(piece.delta for piece in own.stream_chat([message])) == whole


@needs_model
def test_a_model_calls_a_tool() -> None:
    def weather(place: str) -> str:
        """Weather of a place."""
        return f"sunny in {place}"

    tool = core.tools.FunctionTool.from_defaults(fn=weather)
    # A call takes some 40 tokens, and a string of the model's choice may be long.
    own = llm(MODEL, max_tokens=256, is_function_calling_model=True, temperature=0)
    asked = own.chat_with_tools([tool], user_msg="Weather in Gozo?", tool_required=True, allow_parallel_tool_calls=False)
    (call,) = own.get_tool_calls_from_response(asked)
    assert call.tool_name == "weather"


def test_a_knowledge_base_answers_as_a_model() -> None:
    assert llm("docs").complete("Who services the telescope?").text
