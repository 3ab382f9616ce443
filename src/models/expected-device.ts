import { modelHeader } from './model-header.js';
import type { CatalogEntry, ModelVariant } from './schema.js';

/** Embedding models with fewer parameters stay on the CPU unless their placement is `vram`. The engine's kWorthGpu. */
const worthGpu = 100_000_000;

/**
 * Returns the device that a variant goes to if it has room there: `CPU`, or `gpu`, the name of the GPU in use. Undefined if
 * the variant needs a GPU and there is none. `path`: of its file, if that is present
 */
export async function expectedDevice(
  type: CatalogEntry['model_type'],
  placement: ModelVariant['placement'],
  path: string | undefined,
  gpu: string | undefined,
): Promise<string | undefined> {
  if (type === 'vad' || type === 'reranker' || placement === 'ram') return 'CPU';
  if (gpu === undefined) return placement === 'vram' ? undefined : 'CPU';
  if (placement === 'vram' || type === 'llm' || type === 'stt') return gpu;
  const header = path === undefined ? undefined : await modelHeader(path).catch(() => undefined);
  return (header?.parameters ?? 0) >= worthGpu ? gpu : 'CPU';
}
