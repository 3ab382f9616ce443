import { useEffect, useRef, useState } from 'preact/hooks';

/** Returns the tab that the address names after its #, else the first one. */
export function useHashTab<Tab extends string>(tabs: readonly Tab[]): Tab {
  const named = () => {
    const name = location.hash.slice(1).toLowerCase();
    return tabs.find((tab) => tab.toLowerCase() === name) ?? (tabs[0] as Tab);
  };
  const [tab, setTab] = useState(named);
  useEffect(() => {
    const change = () => setTab(named);
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return tab;
}

export function openTab(name: string): void {
  location.hash = name.toLowerCase();
}

interface TabsProps<Tab extends string> {
  tabs: readonly Tab[];
  tab: Tab;
  label: string;
}

/** The tabs of a page, whose panel has the id `panel`. Left and right arrows move between them. */
export function Tabs<Tab extends string>({ tabs, tab, label }: TabsProps<Tab>) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A narrow screen does not show all tabs at once.
    list.current
      ?.querySelector('[aria-selected="true"]')
      ?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [tab]);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] as Tab;
    openTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} tabIndex={-1} onKeyDown={move} ref={list}>
      {tabs.map((name) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === tab}
          aria-controls="panel"
          tabIndex={name === tab ? 0 : -1}
          data-name={name}
          onClick={() => openTab(name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
