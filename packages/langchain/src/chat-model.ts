import type { MessageContent } from '@langchain/core/messages';
import { ChatOpenAICompletions, type ChatOpenAIFields } from '@langchain/openai';
import { Server, type ServerFields } from './server.js';

export interface ChatLorekeepFields
  extends Omit<ChatOpenAIFields, 'model' | 'apiKey' | 'configuration'>,
    ServerFields {
  /** A language model of the catalog, or an agent or knowledge base that the server shows. */
  model: string;
  /** Class of the scheduler. Default: visible for streams, else buffered. */
  schedulerClass?: 'interactive_visible' | 'interactive_buffered' | 'background';
}

const charactersPerToken = 4;

const textOf = (part: object) => ('text' in part && typeof part.text === 'string' ? part.text : '');

/** Replies of a server's models, agents and knowledge bases: streams, tools, structured output and citations. */
export class ChatLorekeep extends ChatOpenAICompletions {
  static override lc_name(): string {
    return 'ChatLorekeep';
  }

  constructor({ url, apiKey, schedulerClass, ...fields }: ChatLorekeepFields) {
    const server = new Server({
      ...(url !== undefined && { url }),
      ...(apiKey !== undefined && { apiKey }),
    });
    super({
      ...fields,
      apiKey: server.apiKey ?? 'unused',
      configuration: {
        baseURL: `${server.url}/v1`,
        ...(schedulerClass !== undefined && { defaultHeaders: { 'x-lorekeep-class': schedulerClass } }),
      },
    });
  }

  /**
   * Returns an estimate: a token for four characters. LangChain would fetch the tokens of a model of OpenAI from the network;
   * `usage_metadata` of a reply has the server's own count.
   */
  override async getNumTokens(content: MessageContent): Promise<number> {
    const texts = typeof content === 'string' ? [content] : content.map(textOf);
    return texts.reduce((sum, text) => sum + Math.ceil(text.length / charactersPerToken), 0);
  }

  /** As other models do, it names the model in `response_metadata.model`. */
  override async _generate(...given: Parameters<ChatOpenAICompletions['_generate']>) {
    const result = await super._generate(...given);
    for (const { message } of result.generations)
      message.response_metadata = { ...message.response_metadata, model: this.model };
    return result;
  }

  override _llmType(): string {
    return 'lorekeep';
  }
}
