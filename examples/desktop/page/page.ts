/** What src/preload.cts gives to the page. */
interface AssistantOfPage {
  ask(text: string): Promise<void>;
  stop(): void;
  onPiece(hear: (piece: string) => void): void;
}
const { assistant } = globalThis as unknown as { readonly assistant: AssistantOfPage };

const said = document.querySelector('#said') as HTMLOListElement;
const field = document.querySelector('#text') as HTMLInputElement;
let reply: HTMLElement | undefined;

function show(text: string): HTMLElement {
  const line = document.createElement('li');
  line.textContent = text;
  said.append(line);
  line.scrollIntoView();
  return line;
}

assistant.onPiece((piece) => reply?.append(piece));
document.querySelector('#stop')?.addEventListener('click', () => assistant.stop());
document.querySelector('#form')?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const text = field.value.trim();
  if (text === '') return;
  field.value = '';
  show(`You: ${text}`);
  reply = show('');
  try {
    await assistant.ask(text);
  } catch (error) {
    reply.append(String(error));
  }
});

export {};
