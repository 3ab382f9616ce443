// The microphone as pieces of samples: an AudioWorklet, which runs on the browser's audio thread.

class Recorder extends AudioWorkletProcessor {
  #piece = new Float32Array(Math.round(sampleRate / 10));
  #length = 0;

  process([[channel]]) {
    for (const sample of channel ?? []) {
      this.#piece[this.#length++] = sample;
      if (this.#length === this.#piece.length) {
        this.port.postMessage(this.#piece.slice());
        this.#length = 0;
      }
    }
    return true;
  }
}

registerProcessor('recorder', Recorder);
