export interface StreamedEvent {
  readonly name: string;
  readonly data: string;
}

/** Reads server-sent events, whatever pieces they come in. `onFailure`: throws another error for one of the connection. */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
  onFailure: (error: unknown) => never,
): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(onFailure);
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        yield eventOf(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function eventOf(lines: string): StreamedEvent {
  let name = 'message';
  const data: string[] = [];
  for (const line of lines.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('data: ')) data.push(line.slice(6));
  }
  return { name, data: data.join('\n') };
}
