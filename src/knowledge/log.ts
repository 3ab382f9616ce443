/** Log of the opening of a knowledge base. A pino logger is one. */
export interface KnowledgeLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export const noLog: KnowledgeLog = { info() {}, warn() {} };
