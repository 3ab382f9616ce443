import { useEffect, useRef, useState } from 'preact/hooks';
import { fieldsInWords } from './words.js';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

interface Line {
  level: string;
  time: string;
  msg: string;
  rest: string;
}

function parse(text: string): Line {
  try {
    const { level = '', time = '', msg = '', ...rest } = JSON.parse(text);
    return { level, time, msg, rest: fieldsInWords(rest) };
  } catch {
    // A long line is cut.
    return { level: 'info', time: '', msg: text, rest: '' };
  }
}

export function Log({ lines }: { lines: readonly string[] }) {
  const [least, setLeast] = useState('info');
  const [words, setWords] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const shown = lines
    .filter((line) => words === '' || line.toLowerCase().includes(words.toLowerCase()))
    .map(parse)
    .filter(({ level }) => levels.indexOf(level) >= levels.indexOf(least));
  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    const fromEnd = current.scrollHeight - current.scrollTop - current.clientHeight;
    if (fromEnd < 200) current.scrollTop = current.scrollHeight;
  }, [lines]);
  return (
    <section aria-label="Log">
      <div class="tools">
        <label>
          Least level
          <select value={least} onChange={({ currentTarget }) => setLeast(currentTarget.value)}>
            {levels.slice(0, 5).map((level) => (
              <option key={level}>{level}</option>
            ))}
          </select>
        </label>
        <label>
          Contains
          <input value={words} onInput={({ currentTarget }) => setWords(currentTarget.value)} />
        </label>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <div class="panel log" ref={box} tabIndex={0} role="log" aria-label="Log lines">
        {shown.length === 0 && <p class="dim">None of the latest {lines.length} lines is shown.</p>}
        {shown.map(({ level, time, msg, rest }, index) => (
          <div key={`${index}`} class={levels.indexOf(level) >= 4 ? 'bad' : undefined}>
            <span class="dim">{time.slice(11, 23)}</span> {level} {msg} <span class="dim">{rest}</span>
          </div>
        ))}
      </div>
    </section>
  );
}
