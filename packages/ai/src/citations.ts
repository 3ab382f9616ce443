import type { MetadataExtractor } from '@ai-sdk/openai-compatible';
import type { JSONObject } from '@ai-sdk/provider';

interface Annotated {
  choices?: readonly { message?: Part; delta?: Part }[];
}

interface Part {
  annotations?: readonly { url_citation?: JSONObject }[];
}

const of = (part: Part | undefined): JSONObject[] =>
  (part?.annotations ?? []).flatMap(({ url_citation }) => (url_citation === undefined ? [] : [url_citation]));

const metadata = (citations: JSONObject[]) =>
  citations.length === 0 ? undefined : { lorekeep: { citations } };

/** Puts the citations of a reply into `providerMetadata.lorekeep.citations`: start_index, end_index, url and title. */
export const citations: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) =>
    metadata(((parsedBody as Annotated).choices ?? []).flatMap(({ message }) => of(message))),
  createStreamExtractor: () => {
    const found: JSONObject[] = [];
    return {
      processChunk: (chunk) => {
        for (const { delta } of (chunk as Annotated).choices ?? []) found.push(...of(delta));
      },
      buildMetadata: () => metadata(found),
    };
  },
};
