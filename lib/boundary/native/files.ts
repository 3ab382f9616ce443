/** The header of a GGUF file. */
export interface NativeModelDescription {
  tensors: number;
  /** Numbers in all tensors. */
  parameters?: number;
  /** Size of the file, or of all parts of a split model. */
  bytes?: number;
  /** Files of a split model; absent for a single file. */
  parts?: number;
  name?: string;
  architecture?: string;
  license?: string;
  contextLength?: number;
  embeddingLength?: number;
  blockCount?: number;
  /** Absent if the model was not made for embeddings. */
  poolingType?: number;
  tokenizer?: string;
  /** How the tokenizer splits a text first. */
  preTokenizer?: string;
  /** Why texts may have other tokens than the model was trained with. */
  tokenizerNote?: string;
  /** What the chat template uses that is not supported, or why it cannot be read. */
  templateNote?: string;
  /** Tokens. */
  vocabulary?: number;
  /** `general.file_type`: llama.cpp's number of the quantisation. */
  fileType?: number;
  /** Why the header rules out each type of model, without the path; absent where it does not. Weights are not read. */
  refusals: { embedding?: string; llm?: string; reranker?: string };
}

export interface FileSection {
  /** Number of the section within its kind of file; see docs/internals/file-formats.md. */
  id: number;
  /** Empty for a section unknown to this version of lorekeep. */
  name: string;
  /** Bytes from the start of the file. */
  offset: number;
  bytes: number;
  checksum: 'right' | 'wrong' | 'unchecked';
}

/** A file's description of itself. Properties that do not apply to its kind, or could not be read, are absent. */
export interface FileInspection {
  kind: 'index' | 'text index' | 'embeddings' | 'hnswlib index' | 'unknown';
  /** Size of the file in bytes. */
  bytes: number;
  /** Version of the format. */
  version?: number;
  /** Fingerprint of the data that the file was made from: 16 hexadecimal digits. */
  fingerprint?: string;
  /** Why lorekeep cannot use this file: another version, or damage. */
  refusal?: string;
  /** Rows of vectors, or indexed texts. */
  rows?: number;
  /** Numbers per vector. */
  dimension?: number;
  vectorType?: 'f32' | 'f16' | 'i8';
  /** Links per node on the upper levels of the graph. */
  m?: number;
  efConstruction?: number;
  tokenizer?: string;
  /** Number of distinct words. */
  terms?: number;
  /** Number of words in all texts. */
  tokens?: number;
  /** Size of the records file whose records the index carries. */
  recordsFileBytes?: number;
  /** XXH3-64 of the records file's content, 16 hexadecimal digits. */
  recordsFileChecksum?: string;
  /** Records.fingerprint of the records. */
  textsFingerprint?: string;
  /** Empty if the file has no sections or a damaged section table. */
  sections: FileSection[];
}

/** See native/core/files/beneath.h. */
export interface NativeBeneathRequest {
  root: string;
  folder: string;
  path: string;
  wanted: 'file' | 'folder' | 'place';
  makeFolders: boolean;
  closed: readonly string[];
  logs: string;
  /** Folders that the root may be neither nor be in. */
  sealed: readonly string[];
}

export interface NativeBeneathResult {
  reached: 'opened' | 'outside' | 'no folder' | 'absent' | 'closed' | 'forbidden' | 'unmade';
  /** Real path of the enclosing folder; `path` is the opened file, relative to it. */
  folder: string;
  name: string;
  /** The caller must close it; -1 unless `reached` is "opened". */
  descriptor: number;
}
