import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { LanguageModel, type LanguageModelOptions, type ModelFacts } from '../../lib/internal.js';
import { readFirst } from '../base/files/read-head.js';
import { modelHeader } from './model-header.js';
import type { MemoryNeed } from './model-memory.js';

/** Approximations, measured with BERT models of 6 to 24 layers: the vocabulary per token, and the buffers of a thread. */
const bytesPerToken = 300;
const bytesPerThread = 16 * 1024 * 1024;
/** More threads rarely compute at a time. */
const maxBuffers = 4;

/** Threads of a model; 0: all that the process may use. */
const buffers = (threads: number) => Math.min(maxBuffers, threads || availableParallelism()) * bytesPerThread;

/** Bytes of a weight in the encoder's runtimes: docs/internals/inference.md. llama.cpp computes with the weights of the file. */
const weightBytes = (runtime: string) =>
  runtime.endsWith('vnni') ? 1.125 : runtime.endsWith('bf16') ? 2 : 4;

/** On a GPU: weights, and buffers of a batch, roughly. The engine checks the same before it loads. */
const onGpu = (device: string, bytes: number): MemoryNeed => ({ [device]: bytes + bytes / 4 });

/**
 * Returns the maximum memory of an embedding model on a device, from the header of its file: the runtime is known after
 * the load.
 */
export async function embeddingNeed(path: string, threads: number, device = 'CPU'): Promise<MemoryNeed> {
  const { parameters = 0, bytes = 0, vocabulary = 0, architecture } = await modelHeader(path);
  if (device !== 'CPU') return onGpu(device, bytes);
  const weights = architecture === 'bert' ? Math.max(bytes, parameters * weightBytes('avx2')) : bytes;
  return { CPU: weights + vocabulary * bytesPerToken + buffers(threads) };
}

/** Returns the memory of a loaded embedding model. */
export function embeddingTaken(
  { device, runtime, parameters, sizeBytes }: ModelFacts,
  threads: number,
): MemoryNeed {
  if (device !== 'CPU') return onGpu(device, sizeBytes);
  const weights = runtime === 'llama.cpp' ? sizeBytes : parameters * weightBytes(runtime);
  return { CPU: weights + buffers(threads) };
}

/** Returns the memory that a reranker will need, from the header of its file. */
export async function rerankerNeed(path: string, threads: number): Promise<MemoryNeed> {
  const { bytes = 0, vocabulary = 0 } = await modelHeader(path);
  return { CPU: bytes + vocabulary * bytesPerToken + buffers(threads) };
}

/** Returns the memory that a language model will need on each device, planned by llama.cpp from the header of its file. */
export async function languageModelNeed(path: string, options: LanguageModelOptions): Promise<MemoryNeed> {
  const { devices } = await LanguageModel.estimate(path, options);
  return Object.fromEntries(
    devices.map(({ device, model, context, compute }) => [device, model + context + compute]),
  );
}

/** Buffers of a recogniser that grow with its width, measured with tiny.en, which is 384 wide. */
const bytesOfWidth = (70 * 1024 * 1024) / 384;
/** Places of its caches: 1500 frames and 448 tokens, rounded up. Keys and values have 16 bits. */
const bytesOfCaches = (1536 + 512) * 2 * 2;
/** The largest Whisper models. */
const largest = { width: 1280, layers: 32 };

/** Returns the shape of a Whisper model, from the header of its file: the width and the number of its decoder's layers. */
async function whisperShape(path: string): Promise<typeof largest> {
  const header = await readFirst(path, 48);
  if (header.length < 48) return { width: 0, layers: 0 };
  const number = (at: number, most: number) => Math.min(header.readUInt32LE(4 * at), most);
  return { width: number(7, largest.width), layers: number(9, largest.layers) };
}

/** Returns the memory that a recogniser of speech will need. */
export async function recogniserNeed(path: string): Promise<MemoryNeed> {
  const { size } = await stat(path);
  const { width, layers } = await whisperShape(path);
  return { CPU: size + width * (bytesOfWidth + layers * bytesOfCaches) };
}
