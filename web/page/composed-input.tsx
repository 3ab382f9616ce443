import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface ComposedInputProps {
  readonly text: string;
  /** Id of a datalist. */
  readonly list: string;
  setText(text: string): void;
  /** The label. */
  readonly children: ComponentChildren;
}

/** A labelled field whose text counts once an input method has finished it. */
export function ComposedInput({ text, list, setText, children }: ComposedInputProps) {
  const field = useRef<HTMLInputElement>(null);
  const set = useRef(setText);
  set.current = setText;
  useEffect(() => {
    const { current } = field;
    if (current !== null && current.value !== text) current.value = text;
  }, [text]);
  useEffect(() => {
    // Preact has no name for this event: an `onCompositionEnd` would never be called.
    const composed = () => set.current(field.current?.value ?? '');
    field.current?.addEventListener('compositionend', composed);
    return () => field.current?.removeEventListener('compositionend', composed);
  }, []);
  return (
    <label>
      {children}
      <input
        ref={field}
        list={list}
        onInput={({ currentTarget: { value }, isComposing }) => {
          if (!isComposing) setText(value);
        }}
      />
    </label>
  );
}
