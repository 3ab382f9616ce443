interface ProblemProps {
  text: string;
  action: string;
  /** Undefined: there is no button. */
  act: (() => void) | undefined;
}

/** What went wrong, and a button that tries it again. */
export function Problem({ text, action, act }: ProblemProps) {
  return (
    <p class="problem">
      <span class="bad" role="alert">
        {text}
      </span>
      {act !== undefined && (
        <button type="button" onClick={act}>
          {action}
        </button>
      )}
    </p>
  );
}
