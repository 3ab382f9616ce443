"""The API of OpenAI with OpenAI's own client for Python. `npm run test:clients -- python` runs this with LOREKEEP_PYTHON."""

import json
import os

import pytest

openai = pytest.importorskip("openai")

URL = os.environ["LOREKEEP_URL"]
MODEL = os.environ.get("LOREKEEP_CHAT_MODEL")
CLIENT = openai.OpenAI(base_url=f"{URL}/v1", api_key="unused", max_retries=0)
needs_model = pytest.mark.skipif(MODEL is None, reason="there is no language model")

WEATHER = {
    "name": "weather",
    "description": "Weather of a place.",
    "parameters": {
        "type": "object",
        "properties": {"place": {"type": "string", "enum": ["Gozo", "Malta"]}},
        "required": ["place"],
        "additionalProperties": False,
    },
    "strict": True,
}


def ask(text: str) -> list[dict]:
    return [{"role": "user", "content": text}]


def test_models() -> None:
    assert "docs" in [model.id for model in CLIENT.models.list()]
    with pytest.raises(openai.NotFoundError, match='did you mean "docs"'):
        CLIENT.models.retrieve("dacs")


def test_embeddings_are_the_same_as_floats_and_as_base64() -> None:
    usual = CLIENT.embeddings.create(model="tiny", input=["bees dance", "copper"])
    floats = CLIENT.embeddings.create(model="tiny", input=["bees dance", "copper"], encoding_format="float")
    assert [len(one.embedding) for one in usual.data] == [256, 256]
    assert usual.data[1].embedding == pytest.approx(floats.data[1].embedding, abs=1e-6)
    assert CLIENT.embeddings.create(model="tiny", input="bees", dimensions=256).usage.prompt_tokens > 0
    with pytest.raises(openai.BadRequestError, match="dimensions: "):
        CLIENT.embeddings.create(model="tiny", input="bees", dimensions=3)
    with pytest.raises(openai.BadRequestError, match="ids of tokens"):
        CLIENT.embeddings.create(model="tiny", input=[[1, 2], [3]])


@needs_model
def test_chats_are_streamed_as_they_are_whole() -> None:
    given = {"model": MODEL, "messages": ask("Say hello."), "temperature": 0, "seed": 7, "max_tokens": 24}
    whole = CLIENT.chat.completions.create(**given, logprobs=True, top_logprobs=2)
    tokens = whole.choices[0].logprobs.content
    assert "".join(token.token for token in tokens).strip() == whole.choices[0].message.content.strip()
    stream = CLIENT.chat.completions.create(**given, stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    # A repeated prompt is read from the cache.
    usage = chunks[-1].usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (whole.usage.prompt_tokens, whole.usage.completion_tokens)


@needs_model
def test_formats_and_tools_obey_their_schemas() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Sky(pydantic.BaseModel):
        colour: str = pydantic.Field(pattern="^(blue|green)$")

    parsed = CLIENT.chat.completions.parse(model=MODEL, messages=ask("The sky?"), response_format=Sky, max_tokens=48)
    assert parsed.choices[0].message.parsed.colour in ("blue", "green")
    tools = [{"type": "function", "function": WEATHER}]
    for choice in (
        "required",
        {"type": "function", "function": {"name": "weather"}},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [tools[0]]}},
    ):
        completion = CLIENT.chat.completions.create(
            model=MODEL,
            messages=ask("Weather in Gozo?"),
            tools=tools,
            tool_choice=choice,
            parallel_tool_calls=False,
            max_tokens=64,
        )
        (call,) = completion.choices[0].message.tool_calls
        assert json.loads(call.function.arguments)["place"] in ("Gozo", "Malta")


@needs_model
def test_responses_are_events() -> None:
    tools = [{"type": "function", **WEATHER}]
    given = {"model": MODEL, "input": "Weather in Gozo?", "tools": tools, "max_output_tokens": 256, "store": False}
    with CLIENT.responses.stream(**given, tool_choice="required", parallel_tool_calls=False, temperature=0) as stream:
        types = [event.type for event in stream]
        response = stream.get_final_response()
    assert types[0] == "response.created"
    assert "response.function_call_arguments.done" in types
    call = next(item for item in response.output if item.type == "function_call")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
    asked = [*ask("Weather in Gozo?"), call, output]
    again = CLIENT.responses.create(model=MODEL, input=asked, max_output_tokens=16, temperature=0)
    assert again.output_text
    with pytest.raises(openai.BadRequestError, match="previous_response_id"):
        CLIENT.responses.create(model=MODEL, input="x", previous_response_id=response.id)


def test_errors_name_the_field() -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        CLIENT.chat.completions.create(model="docs", messages=ask("x"), n=2)
    assert refused.value.param == "n"
    with pytest.raises(openai.NotFoundError) as unknown:
        CLIENT.chat.completions.create(model="dacs", messages=ask("x"))
    assert unknown.value.code == "model_not_found"
