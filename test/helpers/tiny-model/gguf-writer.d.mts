/** How a tensor's numbers are stored: 4 bytes, 2 bytes, or blocks of 32 with a scale. Q4_0 only by blocks(). */
export type TensorType = 'F32' | 'F16' | 'Q4_0' | 'Q8_0';
/** A metadata value with the type that it has in the file. */
export type GgufValue =
  | {
      type: 'u32' | 'i32' | 'f32';
      value: number;
    }
  | {
      type: 'bool';
      value: boolean;
    }
  | {
      type: 'string';
      value: string;
    }
  | {
      type: 'i32[]' | 'f32[]';
      value: ArrayLike<number>;
    }
  | {
      type: 'string[]';
      value: readonly string[];
    };
/**
 * Writes GGUF version 3, the file format of llama.cpp: metadata, tensor table, tensors, all in the order of the calls,
 * so that the same calls give the same bytes. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export declare class GgufWriter {
  private readonly metadata;
  private readonly tensors;
  /** Sets a metadata key; setting it again replaces its value in place. */
  set(key: string, value: GgufValue): this;
  /** Adds a tensor. `shape` is fastest first, as llama.cpp prints it: a matrix of n rows of d numbers is [d, n]. */
  tensor(name: string, shape: readonly number[], type: TensorType, data: Float32Array): this;
  /**
   * Adds a tensor whose bytes are in the layout of `type` already; a number is ggml's own of a type. `bytes` may be
   * {length, parts()}: a tensor that is made while it is written.
   */
  blocks(
    name: string,
    shape: readonly number[],
    type: TensorType | number,
    bytes: Uint8Array | { readonly length: number; parts(): Iterable<Uint8Array> },
  ): this;
  toBuffer(): Buffer;
  /** Yields the file's bytes in order. */
  parts(): Iterable<Uint8Array>;
  /**
   * Writes the file under a temporary name and renames it, so that no reader ever sees a part of it. Resolves to its
   * size in bytes.
   */
  write(path: string): Promise<number>;
}

export declare function toHalf(value: number): number;
