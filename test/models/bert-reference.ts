/**
 * BERT, computed plainly in double precision: the slow twin of the runtime. Devlin, Chang, Lee, Toutanova: BERT (2018);
 * post-norm layers, GELU by its tanh approximation, scores over sqrt(head size).
 */
import type { Gguf } from '../helpers/gguf-reader.js';

type Rows = number[][];

export class BertReference {
  constructor(private readonly file: Gguf) {}

  /** The unit vector of a text of plain lower-case words. */
  embed(text: string, pooling: 'mean' | 'cls'): number[] {
    const ids = this.tokens(text);
    let x = ids.map((id, position) =>
      this.row('token_embd.weight', id).map(
        (value, i) =>
          value +
          (this.row('position_embd.weight', position)[i] as number) +
          (this.row('token_types.weight', 0)[i] as number),
      ),
    );
    x = this.norm('token_embd_norm', x);
    const layers = this.file.metadata.get('bert.block_count') as number;
    for (let layer = 0; layer < layers; layer++) x = this.layer(`blk.${layer}.`, x);
    const pooled =
      pooling === 'cls'
        ? (x[0] as number[])
        : (x[0] as number[]).map((_, i) => x.reduce((sum, row) => sum + (row[i] as number), 0) / x.length);
    const length = Math.hypot(...pooled);
    return pooled.map((value) => value / length);
  }

  /** [CLS], the longest pieces of each word in turn, [SEP]. */
  tokens(text: string): number[] {
    const pieces = this.file.metadata.get('tokenizer.ggml.tokens') as string[];
    const ids = new Map(pieces.map((piece, id) => [piece, id]));
    const special = (name: string) => this.file.metadata.get(`tokenizer.ggml.${name}_token_id`) as number;
    const words = text.split(' ').flatMap((word) => {
      const found: number[] = [];
      let rest = `\u2581${word}`;
      while (rest.length > 0) {
        let end = rest.length;
        while (end > 0 && !ids.has(rest.slice(0, end))) end--;
        if (end === 0) return [special('unknown')];
        found.push(ids.get(rest.slice(0, end)) as number);
        rest = rest.slice(end);
      }
      return found;
    });
    return [special('bos'), ...words, special('seperator')];
  }

  private layer(prefix: string, x: Rows): Rows {
    const heads = this.file.metadata.get('bert.attention.head_count') as number;
    const [q, k, v] = ['attn_q', 'attn_k', 'attn_v'].map((part) => this.linear(prefix + part, x)) as [
      Rows,
      Rows,
      Rows,
    ];
    const size = (q[0] as number[]).length / heads;
    const attended = q.map((query) => {
      const out: number[] = [];
      for (let head = 0; head < heads; head++) {
        const from = head * size;
        const scores = k.map((key) => {
          let sum = 0;
          for (let i = from; i < from + size; i++) sum += (query[i] as number) * (key[i] as number);
          return sum / Math.sqrt(size);
        });
        const weights = scores.map((score) => Math.exp(score - Math.max(...scores)));
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        for (let i = from; i < from + size; i++)
          out.push(
            weights.reduce((sum, weight, j) => sum + (weight / total) * ((v[j] as number[])[i] as number), 0),
          );
      }
      return out;
    });
    const middle = this.norm(
      `${prefix}attn_output_norm`,
      add(this.linear(`${prefix}attn_output`, attended), x),
    );
    const hidden = this.linear(`${prefix}ffn_up`, middle).map((row) => row.map(gelu));
    return this.norm(`${prefix}layer_output_norm`, add(this.linear(`${prefix}ffn_down`, hidden), middle));
  }

  private tensor(name: string) {
    const found = this.file.tensors.get(name);
    if (!found) throw new Error(`${name} is not in the file`);
    return found;
  }

  private row(name: string, index: number): number[] {
    const { width, data } = this.tensor(name);
    return Array.from(data.subarray(index * width, (index + 1) * width));
  }

  private linear(name: string, x: Rows): Rows {
    const { width, data } = this.tensor(`${name}.weight`);
    const bias = this.row(`${name}.bias`, 0);
    return x.map((row) =>
      bias.map((start, out) => {
        let sum = start;
        for (let i = 0; i < width; i++) sum += (data[out * width + i] as number) * (row[i] as number);
        return sum;
      }),
    );
  }

  private norm(name: string, x: Rows): Rows {
    const epsilon = this.file.metadata.get('bert.attention.layer_norm_epsilon') as number;
    const [weight, bias] = [this.row(`${name}.weight`, 0), this.row(`${name}.bias`, 0)];
    return x.map((row) => {
      const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
      const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
      return row.map(
        (value, i) =>
          ((value - mean) / Math.sqrt(variance + epsilon)) * (weight[i] as number) + (bias[i] as number),
      );
    });
  }
}

const add = (a: Rows, b: Rows): Rows =>
  a.map((row, i) => row.map((value, j) => value + ((b[i] as number[])[j] as number)));

const gelu = (x: number): number =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * x * (1 + 0.044715 * x * x)));
