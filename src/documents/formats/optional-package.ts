import { UnreadableDocument } from '../document.js';

/** The versions of optional parsers that lorekeep is tested with. */
export const optionalPackages = {
  '@mozilla/readability': '0.6.0',
  linkedom: '0.18.12',
  unpdf: '1.6.2',
} as const;

/**
 * Imports a parser that the user installs if needed.
 * @throws UnreadableDocument with the command that installs it
 */
export async function optionalPackage(name: keyof typeof optionalPackages): Promise<unknown> {
  try {
    return await import(name as string);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ERR_MODULE_NOT_FOUND'
        ? `needs the package ${name}: npm install ${name}@${optionalPackages[name]}`
        : `the package ${name} cannot be loaded: ${(cause as Error).message}`;
    throw new UnreadableDocument(reason, { cause, missing: name });
  }
}
