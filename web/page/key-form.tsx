import { KeyField } from '../parts/key-field.js';
import { hasKey, keepKey } from './api.js';

/** Asks for a key, which stays in this tab. */
export function KeyForm() {
  const enter = (key: string) => {
    keepKey(key);
    location.reload();
  };
  return (
    <main class="key">
      <h1>lorekeep</h1>
      {hasKey() && (
        <p class="bad" role="alert">
          The key is wrong, or the server was started again and has another one.
        </p>
      )}
      <p>
        {!hasKey() && 'This tab has no key. '}If <code>lorekeep open</code> runs in a terminal, press Enter
        there: it opens the page again. A server with keys of its own takes one here.
      </p>
      <KeyField label="Key" enter={enter} />
    </main>
  );
}
