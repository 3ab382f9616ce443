// Talks with an agent of a lorekeep server, hands free: the microphone's sound goes to the server, which finds speech, writes it down,
// and gives it to the agent. Speech during a reply interrupts it.
import { connect } from '/client.js';

/** The highest rate that the server takes, in samples a second. */
const highestRate = 48_000;
/** Characters that a voice reads in a ms. Many voices do not tell how far they are. */
const readPerMs = 0.014;
const part = (id) => document.getElementById(id);
const talked = part('talked');

/** Ends the conversation; undefined before one has begun. */
let stop;

part('talk').addEventListener('click', async () => {
  if (stop !== undefined) return stop();
  part('talk').disabled = true;
  part('problem').textContent = '';
  part('state').textContent = 'starting';
  try {
    await talk(await (await fetch('/settings.json')).json());
  } catch (error) {
    part('problem').textContent =
      error.name === 'NotAllowedError' ? 'The microphone is not allowed.' : error.message;
  } finally {
    stop = undefined;
    part('talk').disabled = false;
    part('talk').textContent = 'Talk';
    part('state').textContent = '';
    part('level').value = 0;
  }
});

async function talk({ url, accessToken, graph, storages, terms }) {
  const client = await connect({ url, accessToken });
  try {
    const session = await client.createSession();
    for (const storage of storages) await session.createEmbeddedStringStorage(storage);
    const agent = await session.createAgent({ graph });
    const microphone = await openMicrophone();
    try {
      const { rate } = microphone;
      const speech = await session.openSpeech({ agentId: agent.id, rate, terms, partial: true });
      microphone.record((samples) => speech.write(samples).catch(() => {}));
      microphone.onEnd(() => {
        part('problem').textContent = 'The microphone is gone.';
        speech.finish().catch(() => {});
      });
      stop = () => {
        window.speechSynthesis?.cancel();
        return speech.close();
      };
      part('talk').disabled = false;
      part('talk').textContent = 'Stop';
      part('state').textContent = 'listening';
      const shown = new Conversation(session);
      for await (const event of speech) shown.show(event);
    } finally {
      microphone.close();
    }
  } finally {
    await client.close();
  }
}

/** @returns {rate, record(hear), onEnd(tell), close()} `hear` is called with each tenth of a second, `tell` when the microphone is gone */
async function openMicrophone() {
  // The browser takes the replies that it plays out of the microphone's sound.
  const audio = { echoCancellation: true, noiseSuppression: true, channelCount: 1 };
  const stream = await navigator.mediaDevices.getUserMedia({ audio });
  // Firefox records at the rate of the device alone.
  let context = new AudioContext();
  if (context.sampleRate > highestRate) {
    context.close();
    context = new AudioContext({ sampleRate: highestRate });
  }
  await context.audioWorklet.addModule('microphone.js');
  const recorder = new AudioWorkletNode(context, 'recorder');
  return {
    rate: context.sampleRate,
    record(hear) {
      recorder.port.onmessage = ({ data }) => {
        const squares = data.reduce((sum, sample) => sum + sample * sample, 0);
        part('level').value = Math.sqrt(squares / data.length);
        hear(data);
      };
      context.createMediaStreamSource(stream).connect(recorder);
    },
    onEnd(tell) {
      for (const track of stream.getTracks()) track.onended = tell;
    },
    close() {
      for (const track of stream.getTracks()) track.stop();
      context.close();
    },
  };
}

/** What was said and replied, in order. */
class Conversation {
  #session;
  #said;
  /** By turn: the element of the reply, when its reading began, and the number of its characters that were read aloud, if the voice tells. */
  #replies = new Map();

  constructor(session) {
    this.#session = session;
  }

  show(event) {
    switch (event.type) {
      case 'SpeechStarted':
        part('state').textContent = 'you speak';
        this.#interrupt();
        break;
      case 'SpeechEnded':
        part('state').textContent = 'listening';
        break;
      case 'SpeechText':
        this.#showText(event);
        break;
      case 'TurnStarted':
        this.#replies.set(event.turnId, { element: line('reply', '') });
        break;
      case 'TurnText':
        this.#replies.get(event.turnId).element.textContent += event.text;
        break;
      case 'TurnComplete':
        this.#complete(event);
        break;
      case 'SpeechClosed':
        if (event.error) part('problem').textContent = event.error.message;
        break;
    }
  }

  #showText({ text, final }) {
    if (text === '' && !this.#said) return;
    this.#said ??= line('said', '');
    this.#said.textContent = text;
    this.#said.classList.toggle('partial', !final);
    if (final) this.#said = undefined;
  }

  #complete({ turnId, text, status, error }) {
    const reply = this.#replies.get(turnId);
    if (status === 'cancelled') {
      reply.element.classList.add('interrupted');
      return;
    }
    if (status === 'failed') {
      part('problem').textContent = error.message;
      return;
    }
    reply.element.textContent = text || 'I do not know.';
    if (!part('aloud').checked || !window.speechSynthesis) return;
    const utterance = new SpeechSynthesisUtterance(reply.element.textContent);
    utterance.onstart = () => {
      reply.begun = performance.now();
    };
    utterance.onboundary = ({ charIndex }) => {
      reply.heard = charIndex;
    };
    utterance.onend = () => this.#replies.delete(turnId);
    speechSynthesis.speak(utterance);
  }

  /** The agent remembers no more of a reply than was heard. */
  #interrupt() {
    if (!window.speechSynthesis?.speaking) return;
    speechSynthesis.cancel();
    const [last] = [...this.#replies].slice(-1);
    if (last === undefined) return;
    const [turnId, { element, begun = performance.now(), heard }] = last;
    element.classList.add('interrupted');
    const characters = heard ?? Math.round((performance.now() - begun) * readPerMs);
    this.#session.replyHeard(turnId, characters).catch(() => {});
  }
}

function line(kind, text) {
  const element = document.createElement('p');
  element.className = kind;
  element.textContent = text;
  talked.append(element);
  return element;
}
