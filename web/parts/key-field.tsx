interface KeyFieldProps {
  label: string;
  enter(key: string): void;
}

/** A form that asks for a key. */
export function KeyField({ label, enter }: KeyFieldProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget as HTMLFormElement).get('key');
    if (typeof key === 'string' && key.trim() !== '') enter(key.trim());
  };
  return (
    <form class="key-field" onSubmit={submit}>
      <label>
        {label}
        <input name="key" type="password" autocomplete="off" required />
      </label>
      <button type="submit">Enter</button>
    </form>
  );
}
