import { type ErrorCode as LibraryCode, LorekeepError } from '../../lib/index.js';
import { type ErrorCode, serverError } from '../protocol/errors.js';

/** Where the parts of a search are in a request, and the code of what is wrong with its filter or its fusion. */
export interface SearchPlaces {
  readonly text: string;
  readonly filter: string;
  readonly rrf: string;
  readonly invalid: 1004 | 4003;
}

/** What the library finds wrong with a search, in terms of the request; anything else is given back as it is. */
export function searchError(error: unknown, places: SearchPlaces): unknown {
  if (!(error instanceof LorekeepError)) return error;
  const { field, reason, path, ...facts } = error.detail;
  const told = (code: ErrorCode, where: string, details: object) =>
    serverError(code, `${where}: ${reason}`, { ...details, path: where }, { cause: error });
  switch (field) {
    case 'text': {
      const code = textCodes[error.code];
      return code === undefined ? error : told(code, places.text, facts);
    }
    case 'filter':
      return told(
        places.invalid,
        places.filter,
        path === undefined ? facts : { ...facts, filter_path: path },
      );
    case 'rrf.weights':
      return told(places.invalid, `${places.rrf}.weights`, {});
    default:
      return error;
  }
}

const textCodes: Readonly<Partial<Record<LibraryCode, ErrorCode>>> = {
  TEXT_TOO_LONG: 5002,
  INVALID_ARGUMENT: 5004,
  MODEL_INVALID: 5005,
};

/** What the library finds wrong with the strings of a request; anything else is given back as it is. */
export function stringsError(error: unknown): unknown {
  if (!(error instanceof LorekeepError) || error.code === 'MODEL_INVALID') return error;
  const { field: path, reason, ...facts } = error.detail;
  if (facts.index === undefined) return error;
  return serverError(8003, `${path}: ${reason}`, { ...facts, path }, { cause: error });
}
