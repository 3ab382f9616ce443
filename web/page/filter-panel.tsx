import { useId } from 'preact/hooks';
import type { FieldFacts } from './api.js';
import { ComposedInput } from './composed-input.js';
import { controlOf, type Filters, narrowing, type Wanted } from './filters.js';

interface FilterPanelProps {
  fields: readonly FieldFacts[];
  filters: Filters;
  change(filters: Filters): void;
}

/** Controls made from the fields of the records. */
export function FilterPanel({ fields, filters, change }: FilterPanelProps) {
  const shown = fields.filter((field) => controlOf(field) !== undefined);
  if (shown.length === 0) return null;
  const active = narrowing(fields, filters);
  return (
    <details class="filters">
      <summary>Filters{active > 0 && ` (${active})`}</summary>
      <div class="controls">
        {shown.map((field) => (
          <Control
            key={field.name}
            field={field}
            wanted={filters[field.name] ?? {}}
            change={(wanted) => change({ ...filters, [field.name]: wanted })}
          />
        ))}
      </div>
      {active > 0 && (
        <button type="button" onClick={() => change({})}>
          Clear the filters
        </button>
      )}
    </details>
  );
}

/** Names of the fields that indexing a folder makes, for people. */
const titles: Readonly<Record<string, string>> = { mtime: 'changed' };

const titleOf = (name: string) => titles[name] ?? name;

interface ControlProps {
  field: FieldFacts;
  wanted: Wanted;
  change(wanted: Wanted): void;
}

function Control(props: ControlProps) {
  switch (controlOf(props.field)) {
    case 'boxes':
      return <Boxes {...props} />;
    case 'range':
      return <Range {...props} />;
    default:
      return <Prefix {...props} />;
  }
}

function Boxes({ field, wanted, change }: ControlProps) {
  const { any = [] } = wanted;
  const toggle = (value: string | boolean) =>
    change({ any: any.includes(value) ? any.filter((one) => one !== value) : [...any, value] });
  return (
    <fieldset>
      <legend>{titleOf(field.name)}</legend>
      {field.values.map(({ value, records }) => (
        <label class="box" key={String(value)}>
          <input type="checkbox" checked={any.includes(value)} onChange={() => toggle(value)} />
          <span>
            {value === '' ? '(empty)' : String(value)} <span class="dim">{records}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

const inputTypes = { date: 'date', 'date-time': 'date' } as const;

function Range({ field, wanted, change }: ControlProps) {
  const { name, format, least, greatest } = field;
  const type = format === undefined ? 'number' : inputTypes[format];
  const shown = (value: unknown) => (value === undefined ? undefined : String(value).slice(0, 10));
  const input = (key: 'least' | 'greatest', label: string, hint: unknown) => (
    <label>
      <span>
        {label} <span class="hidden">{titleOf(name)}</span>
      </span>
      <input
        type={type}
        step={field.type === 'int' ? undefined : 'any'}
        placeholder={shown(hint)}
        min={shown(least)}
        max={shown(greatest)}
        value={wanted[key] ?? ''}
        onInput={({ currentTarget: { value } }) => change({ ...wanted, [key]: value })}
      />
    </label>
  );
  return (
    <fieldset>
      <legend>{titleOf(name)}</legend>
      <div class="range">
        {input('least', 'From', least)}
        {input('greatest', 'To', greatest)}
      </div>
    </fieldset>
  );
}

function Prefix({ field: { name, values }, wanted, change }: ControlProps) {
  const list = useId();
  return (
    <fieldset>
      <legend>{titleOf(name)}</legend>
      <ComposedInput list={list} text={wanted.prefix ?? ''} setText={(prefix) => change({ prefix })}>
        <span>
          Begins with <span class="hidden">{titleOf(name)}</span>
        </span>
      </ComposedInput>
      <datalist id={list}>
        {values.map(({ value }) => (
          <option key={String(value)} value={String(value)} />
        ))}
      </datalist>
    </fieldset>
  );
}
